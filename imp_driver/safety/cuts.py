"""Which occurrences a group key cuts: every one that carries a column equal to the key in all rows below the groups (rules 1.7, 1.8).

Only candidates are found here; the calculus decides whether cutting them together is safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.types import arrow_type
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
from imp_driver.safety.derive import derive
from imp_driver.safety.levels import closure
from imp_driver.safety.rules.copartition import equated
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import Verdict, judge

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


def find_cuts(block: Block, index: int) -> tuple[tuple[Cut, ...], Verdict] | None:
    """Return the cuts of a group key with their proof: as many occurrences together as is safe.

    The verdict is that of the last try when no cut is safe; None when the key is no plain column of a table.
    """
    name = plain_identifier(block.query.keys[index])
    if name is None:
        return None
    rows = Filter(block.query.source, block.query.where)
    found = None
    for cuts in _tries(
        _of_one_type(carriers(rows, frozenset({name}))), _of_one_type(carriers(rows, frozenset({name}), with_partners=False))
    ):
        verdict = judge(block.top, Setting(_assignment(cuts), may_pin=False))
        if verdict.is_safe:
            return cuts, verdict
        found = cuts, verdict
    return found


def _tries(every: tuple[Cut, ...], own: tuple[Cut, ...]) -> Iterator[tuple[Cut, ...]]:
    if every:
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


def _assignment(cuts: tuple[Cut, ...]) -> Assignment:
    return Assignment({cut.scan.occurrence: cut.attribute.identifier for cut in cuts}, {cut.scan.occurrence: 0 for cut in cuts})
