"""A query whose triples come and go: what is maintained is compared at some points of the way with engines that begin anew.

Half of the triples are there at first, the others come one by one, all leave one by one, and then all come at once. Where all are there,
the suite's own result decides too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from imp_driver.sparql.terms import Term
from tests.soundness.sparql.judges import Judge, Oxigraph, Rdflib
from tests.soundness.sparql.known import JUDGE_ERRS
from tests.soundness.sparql.results import result, written
from tests.soundness.sparql.solutions import Solutions, are_same
from tests.soundness.sparql.suite import Case, Kind
from tests.soundness.sparql.triples import Quad, quads

MOST_STEPS = 40
"""Steps in which the triples that are not there at first come, and in which all leave; more triples take part in a step together."""
COMPARED = 3
"""Points on the way up and on the way down."""

MakeJudge = Callable[[str, Sequence[Quad]], Judge]
JUDGES: tuple[MakeJudge, ...] = (Oxigraph, Rdflib)


@dataclass(frozen=True, slots=True)
class Point:
    """A step to there, what triples there are then, and whether solutions are compared."""

    name: str
    changes: tuple[tuple[Quad, int], ...]
    present: tuple[Quad, ...]
    is_compared: bool
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """``expected`` by whom, at which point; ``found`` is what is maintained, or how it failed."""

    point: str
    by: str
    found: Solutions | str
    expected: Solutions


def way(all_quads: Sequence[Quad], chance: Random) -> Iterator[Point]:
    """Return the points of the way."""
    order = chance.sample(all_quads, len(all_quads))
    half = len(order) // 2
    yield Point("half", tuple((quad, 1) for quad in order[:half]), tuple(order[:half]), True, half == len(order))
    yield from _one_by_one("more", order[:half], order[half:], 1)
    order = chance.sample(all_quads, len(all_quads))
    yield from _one_by_one("less", order, order, -1)
    yield Point("again", tuple((quad, 1) for quad in order), tuple(order), True, True)


def _one_by_one(name: str, present: Sequence[Quad], moving: Sequence[Quad], sign: int) -> Iterator[Point]:
    there = dict.fromkeys(present)
    size = max(-(-len(moving) // MOST_STEPS), 1)
    steps = [moving[begin : begin + size] for begin in range(0, len(moving), size)]
    compared = {round(len(steps) * place / COMPARED) for place in range(1, COMPARED + 1)}
    for number, step in enumerate(steps, start=1):
        for quad in step:
            there = {**there, quad: None} if sign > 0 else {each: None for each in there if each != quad}
        is_whole = sign > 0 and number == len(steps)
        yield Point(f"{name} {number}", tuple((quad, sign) for quad in step), tuple(there), number in compared, is_whole)


def differences(case: Case, maintained: Callable[[str], Judge], chance: Random, *, has_all_judges: bool = True) -> Iterator[Difference]:
    """Follow a case along its way and return where what is maintained is not what it should be.

    A judge that does not tell what the suite expects where all triples are there is not asked elsewhere.

    Args:
        maintained: what is judged, without triples yet.
        has_all_judges: whether all judges that are trusted are asked, instead of the first.
    """
    expected, every = result(case.result), quads(case.loaded)
    judges = list(islice(_trusted(case, every, expected), len(JUDGES) if has_all_judges else 1))
    subject, blanks = maintained(case.text), _blanks(every)
    for point in way(every, chance):
        for quad, sign in point.changes:
            subject.change(quad, sign)
        found = _told(subject, case)
        if isinstance(found, str) or (point.is_whole and not _agree(found, expected, case, ())):
            yield Difference(point.name, "suite", found, expected)
        if isinstance(found, str):
            return
        for judge in judges if point.is_compared and not point.is_whole else ():
            other = _told(judge(case.text, point.present), case)
            if isinstance(other, Solutions) and not _agree(found, other, case, blanks):
                yield Difference(point.name, _name(judge), found, other)


def trusted(case: Case) -> list[str]:
    """Return the names of the judges that are asked about a case."""
    return [_name(judge) for judge in _trusted(case, quads(case.loaded), result(case.result))]


def _trusted(case: Case, every: Sequence[Quad], expected: Solutions) -> Iterator[MakeJudge]:
    for judge in JUDGES:
        if (case.name, _name(judge)) not in JUDGE_ERRS and _is_right(judge, case, every, expected):
            yield judge


def _is_right(judge: MakeJudge, case: Case, every: Sequence[Quad], expected: Solutions) -> bool:
    found = _told(judge(case.text, every), case)
    return isinstance(found, Solutions) and _agree(found, expected, case, ())


def errs(case: Case, name: str, maintained: Callable[[str], Judge], chance: Random) -> bool:
    """Return whether a judge is right over all triples of a case, and says otherwise than what is maintained over some of them."""
    judge = next(judge for judge in JUDGES if _name(judge) == name)
    every = quads(case.loaded)
    if not _is_right(judge, case, every, result(case.result)):
        return False
    subject = maintained(case.text)
    for point in way(every, chance):
        for quad, sign in point.changes:
            subject.change(quad, sign)
        found, other = _told(subject, case), _told(judge(case.text, point.present), case) if point.is_compared else None
        if isinstance(found, Solutions) and isinstance(other, Solutions) and not _agree(found, other, case, _blanks(every)):
            return True
    return False


def _blanks(every: Sequence[Quad]) -> list[Term]:
    return [each for quad in every for each in quad if each is not None and each.startswith("_:")]


def _told(judge: Judge, case: Case) -> Solutions | str:
    try:
        found = judge.solutions()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return written(found) if case.kind is Kind.CSV else found


def _agree(found: Solutions, expected: Solutions, case: Case, fixed: Sequence[Term]) -> bool:
    return are_same(found, expected, fixed, ordered_by=case.ordered_by, is_lax=case.is_lax)


def _name(judge: MakeJudge) -> str:
    return getattr(judge, "__name__", "")
