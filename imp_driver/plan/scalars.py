"""Scalar subqueries as what can be maintained: one that reads no row around it is a constant, one that does is joined as groups.

The first is computed before the rows that are compared with it, at the same versions, and stands in their conditions like any value that a
caller gives. The second is ``SELECT e FROM s WHERE k = outer`` of an aggregation: for each row the one group of ``s`` by ``k`` that has its
key, or none, for which the aggregates are what they are of no rows (Galindo-Legaria and Joshi 2001; Spark rewrites it alike).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from imp_driver.plan.attributes import by_identifier, column_named, identifiers, reference, substituted
from imp_driver.plan.below import unfold
from imp_driver.plan.conjunctive import equality
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.groupings import is_of_groups
from imp_driver.plan.nodes import Aggregate, Attribute, Filter, Join, JoinKind, Plan, Project, Scalar, children
from imp_driver.plan.rebuild import with_expressions, with_inputs
from imp_driver.values.types import arrow_type

_NULL_OF_NO_ROWS = (exp.Sum, exp.Avg, exp.Min, exp.Max)
_ZERO_OF_NO_ROWS = (exp.Count, exp.CountIf)


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A subquery whose one value is that of a marker."""

    marker: str
    subquery: Plan


def with_constants(plan: Plan) -> tuple[Plan, tuple[Constant, ...]]:
    """Return a plan in which scalar subqueries below groups are constants, and these."""
    found = tuple(_constants(plan, is_grouped=False))
    markers = {each.value.identifier: exp.Placeholder(this=each.value.identifier) for each in found}

    def change(node: Plan) -> Plan:
        if isinstance(node, Scalar) and node.value.identifier in markers:
            return change(node.child)
        changed = with_inputs(node, tuple(map(change, children(node))))
        return with_expressions(changed, lambda expression: substituted(expression, markers))

    return (change(plan) if found else plan), tuple(Constant(each.value.identifier, each.subquery) for each in found)


def _constants(plan: Plan, *, is_grouped: bool) -> Iterator[Scalar]:
    """Yield the subqueries that are constants; those inside one of them are its own."""
    is_grouped |= isinstance(plan, Aggregate) and not is_of_groups(plan.child)
    inputs = children(plan)
    if is_grouped and isinstance(plan, Scalar) and not plan.correlated and not free_identifiers(plan.subquery):
        yield plan
        inputs = (plan.child,)
    for child in inputs:
        yield from _constants(child, is_grouped=is_grouped)


def joined(plan: Scalar) -> Plan | None:
    """Return the rows with the value of their group; None for a subquery of another form."""
    subquery = plan.subquery
    if not isinstance(subquery, Project) or not isinstance(subquery.child, Aggregate) or subquery.child.keys:
        return None
    aggregate = subquery.child
    below = unfold(aggregate.child)
    outside = free_identifiers(subquery)
    own = tuple(each for each in below.where if not identifiers(each) & outside)
    known = by_identifier((*below.source.output, *plan.correlated))
    pairs = [_pair(each, outside, known) for each in below.where if identifiers(each) & outside]
    functions = below.over_source(aggregate.functions)
    of_no_rows = _of_no_rows(aggregate)
    is_free = free_identifiers(below.source) or any(identifiers(each) & outside for each in (*functions, *subquery.expressions))
    if None in pairs or of_no_rows is None or is_free:
        return None
    keys = {inner: replace(known[inner], identifier=f"group_{inner}") for inner, _ in filter(None, pairs)}
    # NULL equals no row around it, and its group could not be looked up.
    child = Filter(below.source, (*own, *(is_there(column_named(each)) for each in keys)))
    groups = Aggregate(child, tuple(keys.values()), tuple(map(column_named, keys)), aggregate.function_attributes, functions)
    equal = tuple(exp.EQ(this=reference(keys[inner]), expression=outer) for inner, outer in filter(None, pairs))
    joined = Join(JoinKind.LEFT, plan.child, groups, equal)
    values = (*map(reference, plan.child.output), substituted(subquery.expressions[0], of_no_rows))
    return Project(joined, plan.output, values)


def is_one_row(plan: Plan) -> bool:
    """Say whether a plan always has one row: aggregates without keys."""
    return is_one_row(plan.child) if isinstance(plan, Project) else isinstance(plan, Aggregate) and not plan.key_attributes


def is_there(key: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.Paren(this=key), expression=exp.Null()))


def _pair(conjunct: exp.Expr, outside: frozenset[str], known: Mapping[str, Attribute]) -> tuple[str, exp.Expr] | None:
    """Return the column and the outer one that a condition equates.

    None where one value may equal those of several groups, as 1 does '1' and '01'.
    """
    both = equality(conjunct)
    if both is None:
        return None
    inner, outer = both if both[1] in outside else both[::-1]
    if inner in outside or outer not in outside or inner not in known or outer not in known:
        return None
    return (inner, column_named(outer)) if are_alike(known[inner], known[outer]) else None


def are_alike(one: Attribute, other: Attribute) -> bool:
    """Say whether a value of one column equals no two of the other."""
    kinds = [arrow_type(each.type_name or "") for each in (one, other)]
    return kinds[0] is not None and (kinds[0] == kinds[1] or all(kind is not None and pa.types.is_integer(kind) for kind in kinds))


def _of_no_rows(aggregate: Aggregate) -> dict[str, exp.Expr] | None:
    """Return the aggregates that are 0 and not NULL for a row without a group; None where one of them is neither."""
    found: dict[str, exp.Expr] = {}
    for attribute, function in zip(aggregate.function_attributes, aggregate.functions, strict=True):
        inner = function.this if isinstance(function, exp.Filter) else function
        if isinstance(inner, _ZERO_OF_NO_ROWS):
            found[attribute.identifier] = exp.Coalesce(this=reference(attribute), expressions=[exp.Literal.number(0)])
        elif not isinstance(inner, _NULL_OF_NO_ROWS):
            return None
    return found
