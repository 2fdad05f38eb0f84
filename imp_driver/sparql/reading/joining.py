"""Joins that leave out what adds nothing, and which variables every solution binds."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from imp_driver.sparql.algebra import (
    Bgp,
    Call,
    EachNamed,
    Expression,
    Filter,
    Join,
    Pattern,
    Place,
    Triple,
    Variable,
    variables,
)
from imp_driver.sparql.certain import certain


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
    return not isinstance(place, EachNamed) or place.variable in certain(other)


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
