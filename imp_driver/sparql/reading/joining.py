"""Joins that leave out what adds nothing, and which variables every solution binds."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from imp_driver.sparql.algebra import (
    Bgp,
    Call,
    Closure,
    Constant,
    Distinct,
    EachNamed,
    Expression,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Place,
    Project,
    Read,
    Slice,
    Triple,
    Union,
    Values,
    Variable,
    variables,
)


def joined(left: Pattern, right: Pattern) -> Pattern:
    """Return the join, without a side that is one empty solution; two basic graph patterns of one place become one."""
    match left, right:
        case Bgp((), place), _ if _is_needless(place, right):
            return right
        case _, Bgp((), place) if _is_needless(place, left):
            return left
        case Bgp(first, place), Bgp(second, other) if place == other:
            return Bgp((*first, *second), place)
    return Join(left, right)


def _is_needless(place: Place, other: Pattern) -> bool:
    # Over each of several graphs, the empty pattern has one solution for each, with its name.
    return not isinstance(place, EachNamed) or place.variable in bound(other)


def matched(triples: Iterable[Triple], others: Iterable[Pattern], place: Place) -> Pattern:
    """Return the join of triples with other patterns, all of one place."""
    start: Pattern = Bgp(tuple(triples), place)
    return reduce(joined, others, start)


def conjunction(conditions: Iterable[Expression]) -> Expression | None:
    """Return the conditions as one, None where there are none."""
    found = list(conditions)
    return reduce(lambda left, right: Call("&&", (left, right)), found) if found else None


def filtered(pattern: Pattern, conditions: Iterable[Expression]) -> Pattern:
    condition = conjunction(conditions)
    return pattern if condition is None else Filter(pattern, condition)


def visible(pattern: Pattern) -> tuple[Variable, ...]:
    """Return the variables in scope (section 18.2.1)."""
    return tuple(variable for variable in variables(pattern) if not variable.is_hidden)


def bound(pattern: Pattern) -> frozenset[Variable]:
    """Return the variables that each solution of a pattern surely binds."""
    match pattern:
        case Bgp() | Closure():
            graph = [pattern.place.variable] if isinstance(pattern.place, EachNamed) else []
            return frozenset([*variables(pattern), *graph])
        case Join(left, right):
            return bound(left) | bound(right)
        case Union(left, right):
            return bound(left) & bound(right)
        case LeftJoin(left, _) | Minus(left, _):
            return bound(left)
        case Values(names, rows):
            return frozenset(name for place, name in enumerate(names) if all(row[place] is not None for row in rows))
        case Group(inner, keys, _):
            return _known(keys, bound(inner))
        case Project(inner, names):
            return bound(inner) & frozenset(names)
        case Extend(inner, variable, expression):
            return bound(inner) | _known([(variable, expression)], bound(inner))
        case Filter(inner, _) | Distinct(inner) | OrderBy(inner, _) | Slice(inner):
            return bound(inner)


def _known(named: Iterable[tuple[Variable, Expression]], found: frozenset[Variable]) -> frozenset[Variable]:
    return frozenset(
        name
        for name, expression in named
        if isinstance(expression, Constant) or (isinstance(expression, Read) and expression.variable in found)
    )
