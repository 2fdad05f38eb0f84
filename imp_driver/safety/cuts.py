"""Which occurrences a group key cuts: every one that carries a column equal to the key in all rows below the groups (rules 1.7, 1.8).

Only candidates are found here; the calculus decides whether cutting them together is safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from imp_driver.plan.attributes import by_identifier, plain_identifier
from imp_driver.plan.blocks import Block
from imp_driver.plan.nodes import (
    Aggregate,
    Attribute,
    Filter,
    Join,
    Plan,
    Project,
    Scalar,
    Scan,
    SemiJoin,
    SetOperation,
    UnionAll,
    children,
)
from imp_driver.reasons import Reason
from imp_driver.safety.derive import derive
from imp_driver.safety.levels import Refusal, closure
from imp_driver.safety.rules.copartition import equated
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import Verdict, judge
from imp_driver.values.refusal import Refused
from imp_driver.values.types import arrow_type

_UNCUT = Setting(Assignment({}))


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """One occurrence cut on one column."""

    scan: Scan
    attribute: Attribute


def can_be_cut(cut: Cut) -> bool:
    """Booleans have two values only; types without an Arrow form here have no order that both sides share."""
    kind = arrow_type(cut.attribute.type_name or "")
    return kind is not None and not pa.types.is_boolean(kind)


@dataclass(frozen=True, slots=True, eq=False)
class KeyCuts:
    """Occurrences that are cut together to the fragments in which the keys of the passing groups lie, with the proof (``find_cuts``).

    What is proven for the provenance of the answer holds for these fragments where they hold it. They do where each cut column equals the
    key in all rows below the groups. A partner's column does so in the rows that found a partner alone: the others, which form the group
    of NULL, come from any fragment of it. Such a cut needs groups that are proven to be whole by their key.

    ``is_equal``: each cut column equals the key in all rows, so that the fragments hold the provenance of the answer.
    """

    cuts: tuple[Cut, ...]
    verdict: Verdict
    is_equal: bool


def find_cuts(block: Block, index: int) -> KeyCuts:
    """Return the cuts of a group key with their proof: as many occurrences together as is safe.

    Raises:
        Refused: the key is no plain column of a table that can be cut, or no cut is safe; the reason is that of the last try.
    """
    name = plain_identifier(block.query.keys[index])
    if name is None:
        raise Refused(Reason.NO_PLAIN_GROUP_KEY)
    rows = Filter(block.query.source, block.query.where)
    every = _of_one_type(carriers(rows, frozenset({name})))
    own = _of_one_type(carriers(rows, frozenset({name}), with_partners=False))
    if not every or not can_be_cut(every[0]):
        raise Refused(Reason.NO_PLAIN_GROUP_KEY)
    for cuts in _tries(every, own):
        verdict = judge(block.top, Setting(assignment_of(cuts), may_pin=False))
        is_equal = _places(cuts) <= _places(own)
        if verdict.is_safe and (is_equal or verdict.has_whole_groups(index)):
            return KeyCuts(cuts, verdict, is_equal)
    raise refused_by(verdict)


def _places(cuts: Iterable[Cut]) -> set[tuple[int, str]]:
    return {(cut.scan.occurrence, cut.attribute.identifier) for cut in cuts}


def refused_by(verdict: Verdict) -> Refused:
    """Return the refusal of a cut, or of one that would need the provenance of the whole answer."""
    if verdict.is_safe:
        return Refused(Reason.NOT_SAFE, "grouped by a column that is NULL where a join finds no partner; those rows may come from anywhere")
    reason = Reason.ORDER_NOT_TOTAL if verdict.refusal is Refusal.ORDER_NOT_TOTAL else Reason.NOT_SAFE
    return Refused(reason, verdict.step.derived.note)


def _tries(every: tuple[Cut, ...], own: tuple[Cut, ...]) -> Iterator[tuple[Cut, ...]]:
    yield every
    if 0 < len(own) < len(every):
        yield own
    if len(own) > 1:
        yield from ((cut,) for cut in own)


def _of_one_type(cuts: Iterable[Cut]) -> tuple[Cut, ...]:
    """Leave out columns of another type than the first: one list of ranges could not serve both."""
    found: dict[int, Cut] = {}
    type_name = None
    for cut in cuts:
        type_name = type_name or cut.attribute.type_name
        if cut.attribute.type_name == type_name is not None:
            found.setdefault(cut.scan.occurrence, cut)
    return tuple(found.values())


def carriers(plan: Plan, wanted: frozenset[str], *, with_partners: bool = True) -> Iterator[Cut]:
    """Yield the columns of tables that equal one of the wanted output attributes.

    ``with_partners`` adds those which only the rows that find a partner equal: of the optional side of a join, of a subquery in EXISTS.
    """
    wanted = closure(wanted, derive(plan, _UNCUT).derived.equal)
    match plan:
        case Scan():
            yield from (Cut(plan, attribute) for attribute in plan.output if attribute.identifier in wanted)
            return
        case Project():
            inputs = [(plan.child, _behind(plan.output, plan.expressions, wanted))]
        case Aggregate():
            inputs = [(plan.child, _behind(plan.key_attributes, plan.keys, wanted))]
        case UnionAll() | SetOperation():
            places = [place for place, attribute in enumerate(plan.output) if attribute.identifier in wanted]
            inputs = [(child, frozenset(child.output[place].identifier for place in places)) for child in children(plan)]
        case SemiJoin() | Join():
            partners = _equated(plan.conjuncts, by_identifier((*plan.left.output, *plan.right.output)), wanted)
            inputs = [(plan.left, wanted), (plan.right, wanted | partners if with_partners else wanted)]
        case Scalar():
            inputs = [(plan.child, wanted)]
        case _:
            inputs = [(child, wanted) for child in children(plan)]
    for child, names in inputs:
        own = names & by_identifier(child.output).keys()
        if own:
            yield from carriers(child, own, with_partners=with_partners)


def _behind(attributes: Sequence[Attribute], expressions: Sequence[exp.Expr], wanted: frozenset[str]) -> frozenset[str]:
    """Return the attributes that wanted ones are merely another name of."""
    names = (plain_identifier(each) for attribute, each in zip(attributes, expressions, strict=True) if attribute.identifier in wanted)
    return frozenset(name for name in names if name is not None)


def _equated(conjuncts: Iterable[exp.Expr], types: Mapping[str, Attribute], wanted: frozenset[str]) -> frozenset[str]:
    pairs = [pair for each in conjuncts if (pair := equated(each, types)) is not None]
    return frozenset(name for pair in pairs if pair & wanted for name in pair)


def assignment_of(cuts: tuple[Cut, ...]) -> Assignment:
    """Return the assignment of occurrences that are cut by one common set of fragments."""
    return Assignment({cut.scan.occurrence: cut.attribute.identifier for cut in cuts}, {cut.scan.occurrence: 0 for cut in cuts})
