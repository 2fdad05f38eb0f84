"""Groups of rows that look for partners among first ones of other groups: grouped first, then joined.

``SELECT day, p, sum(x) FROM t JOIN (SELECT p FROM t GROUP BY p ORDER BY sum(x) DESC LIMIT 9) USING (p) GROUP BY day, p`` is how tools
ask for the lines of a chart. What a LIMIT takes is not followed change by change; groups on both sides of the join are. All rows of a
group find the same partner, or none, where they are grouped by what they are joined by (Galindo-Legaria and Joshi 2001).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from imp_driver.plan.attributes import by_identifier, identifiers, plain_identifier, reference, substituted
from imp_driver.plan.below import unfold
from imp_driver.plan.conjunctive import equality, inner_inputs
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.groupings import is_of_groups
from imp_driver.plan.nodes import (
    Aggregate,
    Attribute,
    Filter,
    Join,
    JoinKind,
    Plan,
    Project,
    Scalar,
    SemiJoin,
    SetOperation,
    Sort,
    TopK,
    Window,
    children,
    every,
)
from imp_driver.plan.rebuild import with_inputs
from imp_driver.plan.scalars import are_alike

_NOT_FOLLOWED = (TopK, Window, Scalar, SetOperation)


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """``rows`` that look for partners by ``conditions``; as a join, or as ``semi`` says."""

    rows: Plan
    partners: Plan
    conditions: tuple[exp.Expr, ...]
    semi: SemiJoin | None = None

    def above(self, groups: Plan, values: Mapping[str, exp.Expr]) -> Plan:
        """Join groups in the place of the rows, whose columns are these values."""
        conditions = tuple(substituted(each, values) for each in self.conditions)
        if self.semi is not None:
            return replace(self.semi, left=groups, conjuncts=conditions)
        return Filter(Join(JoinKind.INNER, groups, self.partners, ()), conditions)


def with_early_groups(plan: Plan) -> Plan:
    """Return a plan in which rows are grouped before they are joined with groups that only a whole query has."""
    plan = with_inputs(plan, tuple(map(with_early_groups, children(plan))))
    return (_early(plan) or plan) if isinstance(plan, Aggregate) and plan.keys else plan


def _early(plan: Aggregate) -> Plan | None:
    """Return the groups, joined after they were made; None where nothing is to be gained, or their rows have different partners."""
    below = unfold(plan.child)
    keys, functions = below.over_source(plan.keys), below.over_source(plan.functions)
    pair = _pair(below.source, below.where)
    if pair is None:
        return None
    own = by_identifier(pair.rows.output)
    passed = {name for key in keys if (name := plain_identifier(key)) is not None and name not in own}
    added = _joined_by(pair, keys)
    if added is None or not all(identifiers(each) <= own.keys() for each in functions):
        return None
    if not all(identifiers(key) <= own.keys() or plain_identifier(key) in passed for key in keys):
        return None
    named = dict(zip(plan.key_attributes, keys, strict=True))
    grouped = {_early_one(attribute): key for attribute, key in named.items() if plain_identifier(key) not in passed}
    grouped |= {_early_one(own[name]): reference(own[name]) for name in added}
    made = tuple(map(_early_one, plan.function_attributes))
    groups = Aggregate(pair.rows, tuple(grouped), tuple(grouped.values()), made, functions)
    values = {name: reference(attribute) for attribute, key in grouped.items() if (name := plain_identifier(key)) is not None}
    above = pair.above(_early(groups) or groups, values)
    outputs = [key.copy() if plain_identifier(key) in passed else reference(_early_one(attribute)) for attribute, key in named.items()]
    return Project(above, plan.output, (*outputs, *map(reference, made)))


def _early_one(attribute: Attribute) -> Attribute:
    return replace(attribute, identifier=f"early_{attribute.identifier}")


def _pair(source: Plan, where: tuple[exp.Expr, ...]) -> _Pair | None:
    """Return the rows and the partners of a join, where changes of these are not followed through it."""
    if isinstance(source, SemiJoin):
        rows = Filter(source.left, where) if where else source.left
        return _Pair(rows, source.right, source.conjuncts, source) if _is_whole(source.right) else None
    inputs = inner_inputs(source)
    partners = next(filter(_is_whole, inputs), None)
    others = [each for each in inputs if each is not partners]
    if partners is None or not others:
        return None
    names = by_identifier(partners.output).keys()
    between = tuple(each for each in where if identifiers(each) & names)
    own = tuple(each for each in where if not identifiers(each) & names)
    rows = reduce(lambda left, right: Join(JoinKind.INNER, left, right, ()), others)
    return _Pair(Filter(rows, own) if own else rows, partners, between)


def _is_whole(plan: Plan) -> bool:
    """Say whether a plan has groups that are known once all of them are, and reads no row beside it."""
    return is_of_groups(plan) and any(isinstance(each, _NOT_FOLLOWED) for each in every(plan)) and not free_identifiers(plan)


def _joined_by(pair: _Pair, keys: Sequence[exp.Expr]) -> tuple[str, ...] | None:
    """Return the columns that rows are to be grouped by beside their keys, where all of a group have one partner or none, else None."""
    own, partners = by_identifier(pair.rows.output), by_identifier(pair.partners.output)
    plain = {name for key in keys if (name := plain_identifier(key)) is not None}
    added: tuple[str, ...] = ()
    if pair.semi is None:
        both = [each if each[0] in own else each[::-1] for each in filter(None, map(equality, pair.conditions))]
        equal = {other: one for one, other in both if one in own and other in partners and are_alike(partners[other], own[one])}
        unique = _unique(pair.partners)
        if not unique or not unique <= equal.keys() or not all(equal[each] in plain or each in plain for each in unique):
            return None
        added = tuple(dict.fromkeys(equal[each] for each in sorted(unique) if equal[each] not in plain))
    read = frozenset[str]().union(*map(identifiers, pair.conditions)) & own.keys()
    return added if read <= {*plain, *added} else None


def _unique(plan: Plan) -> frozenset[str]:
    """Return columns of which no two rows have the same values; none where that is not known."""
    match plan:
        case Aggregate():
            return frozenset(attribute.identifier for attribute in plan.key_attributes)
        case Project():
            passed = {plain_identifier(node): attribute.identifier for attribute, node in zip(plan.output, plan.expressions, strict=True)}
            below = _unique(plan.child)
            return frozenset(passed[each] for each in below) if below <= passed.keys() else frozenset()
        case TopK() | Sort() | Filter() | Window() | Scalar():
            return _unique(plan.child)
        case _:
            return frozenset()
