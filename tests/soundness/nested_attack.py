"""Attack on queries with nested aggregates: random queries of the class over random changes, every answer of the driver compared.

The judge is DuckDB without its optimizer over the same Delta tables; for a share of the answers the text is read slowly as well, so that
the judge is judged. ``python -m tests.soundness.nested_attack 400`` tries that many warehouses, ``--triples 50000`` as many as have so many
(query, version, answer) triples, ``--warehouse 17`` one again; the return code is 1 when there was a difference, which is then printed with
the smallest script that has it.

Rules of nested aggregates that should have mutants, one wrong version of each, all of which this attack has to find:

- Comparisons. ``<`` taken for ``<=`` and the other way round: where the correlation takes the row's own key into the sum, where the
  threshold is met exactly, and where sides are swapped (``q < v`` read as ``v < q``). ``=`` and ``<>`` of the two sides by prefix order.
- NULL. A sum, average or extreme of no rows as 0, so that a comparison with it is true or false in place of unknown; COUNT of no rows as
  NULL; NOT, OR and COALESCE over an unknown comparison. A NULL key of the correlation as one that is below or above all others; a NULL
  value counted by COUNT(a) and AVG; ``<=>`` as ``=``.
- Partition. Equalities of the correlation forgotten, so that all partitions share one prefix; a partition that has no rows any more still
  there; equality of an expression (``i.g = o.g + 1``) taken for that of the column.
- Order. Keys of equal value as one key too few, or the aggregate as key where two levels have the same sum (rows without volume);
  expressions on either side (``2 * i.x <= o.x + 3``) evaluated on one side alone; a factor below zero (``-i.x < o.x``) that does not turn
  the order; two inequalities of which one is dropped; a bound beyond the last or before the first key.
- Monotony. Contributions below zero in sums that are searched as if they only grew; what is searched again once the last negative row has
  left; deletions that leave a key with a sum of 0 and rows, or with rows and no values.
- Aggregates. AVG as a sum of averages; COUNT(DISTINCT) and SUM(DISTINCT) that lose a value with the first of its copies; MIN and MAX after
  their row has left; a group that leaves at sum 0 in place of at no rows; MIN and MAX of an emptied table.
- Levels. A filter of the second level applied to the first; a name of the outermost block taken for one of the block between; the inner
  sum of the version before the change beside the outer rows of the version after it, and the other way round.
- Products. Counts of the other side forgotten (``SUM(o.x - p.x)`` without the number of partners); a side that is empty; groups by a key
  of one side alone.
- Changes. Rows that come and leave in one batch; a change of the inner table alone; one of the table that only the constant side reads; an
  update that moves a row to another key.
- Constants. The factor of another text of the same template; rounding of ``0.1 * SUM(a)`` through a double.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from imp_driver.answer.nested import followed
from imp_driver.answer.nested.followed import FollowedMerge
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.report import SketchReport
from tests.soundness.judged_path import JudgedPath
from tests.soundness.nested_data import Append, Ask, Delete, Script, Settle, Step, Update, script_of, table_of
from tests.soundness.reading import bag, read
from tests.soundness.shrinking import shrunk

ENOUGH, FEW_BYTES = 1 << 30, 300
"""Of memory for groups: all of any warehouse here, and those of a few rows."""
_READ_EACH = 12
"""One answer in so many is read slowly as well."""


@dataclass(slots=True)
class NestedTally:
    """What was tried.

    ``known`` answers have a value that is neither NULL nor 0, ``followed`` ones came from states that were there before,
    ``captured`` ones from states that were made for them, those ``in_buckets`` from groups that are too many; ``by_form`` and
    ``by_feature`` count where answers came from, ``reasons`` why they did not come from states.
    """

    triples: int = 0
    known: int = 0
    read: int = 0
    in_buckets: int = 0
    followed: int = 0
    captured: int = 0
    merges: int = 0
    served_by: Counter[ServedBy] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    by_form: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    by_feature: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    differences: list[str] = field(default_factory=list)
    found_in: int | None = None

    def count(self, asked: Ask, report: SketchReport) -> None:
        """Count one answer."""
        self.triples += 1
        self.served_by[report.served_by] += 1
        is_followed = report.served_by is ServedBy.STATE and report.decision in (Decision.FRESH, Decision.MAINTAINED)
        self.followed += is_followed
        every = (report, *report.also)
        self.in_buckets += report.served_by is ServedBy.STATE and any("buckets" in each.detail for each in every)
        self.captured += report.served_by is ServedBy.STATE and not is_followed
        came = "followed" if is_followed else "captured" if report.served_by is ServedBy.STATE else report.served_by.name.lower()
        self.by_form[asked.form][came] += 1
        for feature in asked.features:
            self.by_feature[feature][came] += 1
        if report.served_by is not ServedBy.STATE:
            grounds = report.not_answered
            self.reasons[report.reason.name if grounds is None else f"{grounds.reason.name} {grounds.detail}".strip()] += 1


class _Replay:
    """One warehouse in which a script is followed."""

    def __init__(self, path: JudgedPath, seed: str, tally: NestedTally) -> None:
        self._path = path
        self._chance = random.Random(seed)
        self._tally = tally

    def take(self, step: Step) -> str | None:
        """Take a step; return what is different, if anything is."""
        match step:
            case Append():
                self._path.append(step.table, table_of(step.rows))
            case Delete():
                self._path.delete(step.table, step.condition)
            case Update():
                self._path.update(step.table, {step.column: step.value}, step.condition)
            case Settle():
                self._path.settle()
            case Ask():
                return self._ask(step)
        return None

    def _ask(self, asked: Ask) -> str | None:
        expected = bag(self._path.judged(asked.text))
        if self._chance.randrange(_READ_EACH) == 0:
            self._tally.read += 1
            slowly = bag(read(asked.text, {name: _readable(self._path.judged_rows(name)) for name in ("r", "s")}))
            if slowly != expected:
                return f"the judge itself says {_shown(expected)}, read slowly it is {_shown(slowly)}"
        try:
            rows, report = self._path.ask(asked.text)
        except Exception as error:  # Whatever it is, the query as it is written has rows.
            return f"expected {_shown(expected)}\n  raised {type(error).__name__}: {error}"
        self._tally.count(asked, report)
        self._tally.known += any(value for row in rows for value in row)
        if bag(rows) != expected:
            came = f"{report.served_by.name}, {report.decision.name} {report.detail}"
            return f"expected {_shown(expected)}\n  found {_shown(bag(rows))} by {came}"
        if Reason.INTERNAL in (report.reason, report.not_answered and report.not_answered.reason):
            return f"{report}"
        return None


def _readable(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: Fraction(value) if name == "m" and value is not None else value for name, value in row.items()} for row in rows]


def _shown(rows: Counter[tuple[Any, ...]]) -> str:
    return str(sorted(rows.elements(), key=repr))


def _follows(seed: str) -> bool:
    """Say of every other warehouse that merges of few groups are followed there, as those of many are."""
    return random.Random(seed).random() < 0.5


@contextmanager
def _followed_merges(*, follows: bool) -> Iterator[None]:
    before = followed.LEAST_GROUPS
    if follows:
        followed.LEAST_GROUPS = 0
    try:
        yield
    finally:
        followed.LEAST_GROUPS = before


def difference(script: Script, tally: NestedTally, seed: str = "", *, follows: bool = False, memory: int = ENOUGH) -> str | None:
    """Follow a script; return the first difference.

    Args:
        follows: merges of few groups are followed too.
        memory: bytes; more groups are kept in buckets.
    """
    with _followed_merges(follows=follows), tempfile.TemporaryDirectory() as folder, closing(JudgedPath(Path(folder), memory)) as path:
        # What the script does not make is there all the same, without rows.
        for table in ("r", "s"):
            path.append(table, table_of([]))
        replay = _Replay(path, seed, tally)
        for step in script:
            found = replay.take(step)
            if found is not None:
                text = step.text if isinstance(step, Ask) else str(step)
                return f"{text}\n  {found}\n  r: {path.judged('SELECT * FROM r')}\n  s: {path.judged('SELECT * FROM s')}"
        tally.merges += sum(isinstance(each, FollowedMerge) and each.is_followed for each in path.relations.merges.values())
    return None


def attack_nested(
    seed: int,
    numbers: Sequence[int],
    tally: NestedTally,
    triples: int | None = None,
    *,
    shrinks: bool = True,
    memory: int = ENOUGH,
) -> None:
    """Attack the warehouses of these numbers until there is a difference, or until there are so many triples."""
    for number in numbers:
        if triples is not None and tally.triples >= triples:
            return
        script, name = script_of(seed, number), f"{seed} {number}"
        found = difference(script, tally, name, follows=_follows(name), memory=memory)
        if found is not None:
            tally.found_in = number
            tally.differences.append(f"warehouse {number}: {found}")
            if shrinks:
                tally.differences.append(smallest(script, name, memory))
            return


def smallest(script: Script, seed: str, memory: int) -> str:
    """Return the smallest script that goes wrong, with what is different then."""

    def told(smaller: Script) -> str | None:
        return difference(smaller, NestedTally(), seed, follows=_follows(seed), memory=memory)

    found = shrunk(script, lambda smaller: told(smaller) is not None)
    steps = "\n    ".join(map(str, found))
    return f"the smallest script with a difference:\n    {steps}\n  {told(found)}"


def summary(tally: NestedTally) -> str:
    """Return what was tried as a few lines."""
    lines = [
        f"{tally.triples} triples, {tally.known} with a value, {tally.read} read slowly",
        f"{tally.followed} from states that were there, {tally.captured} from new ones; {tally.merges} merges were followed",
        f"served by: { ({each.name: count for each, count in tally.served_by.most_common()}) }",
        *(f"form {name}: {dict(counts.most_common())}" for name, counts in sorted(tally.by_form.items())),
        *(f"with {name}: {dict(counts.most_common())}" for name, counts in sorted(tally.by_feature.items())),
        *(f"not from states, {count} times: {reason}" for reason, count in tally.reasons.most_common()),
    ]
    return "\n".join(lines)


def main() -> int:
    """Attack as the command line says; return 1 when a difference was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness.nested_attack", description="Attack queries with nested aggregates.")
    parser.add_argument("warehouses", type=int, nargs="?", default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--warehouse", type=int, help="try this one alone")
    parser.add_argument("--memory", type=int, default=ENOUGH, help=f"bytes; with {FEW_BYTES} most groups are kept in buckets")
    parser.add_argument("--triples", type=int, help="stop after so many, however many warehouses that takes")
    given = parser.parse_args()
    numbers = range(given.warehouses if given.triples is None else sys.maxsize)
    tally = NestedTally()
    attack_nested(given.seed, numbers if given.warehouse is None else [given.warehouse], tally, given.triples, memory=given.memory)
    print(summary(tally), *tally.differences, sep="\n")
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
