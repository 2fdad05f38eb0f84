"""When an EXISTS is a semijoin: the pattern is followed by itself, and what has solutions is found by compatibility.

By definition the values of a solution stand in the places of the pattern's variables. That is the same as being compatible with a solution
of the pattern where these variables are read by triple patterns, and by conditions alone for which each solution of what they filter binds
them. A condition at the top of the pattern may read any, since it can be asked of both solutions together.

Sources: SPARQL 1.1, section 18.6; the counting algorithm for SPARQL, section 1, which has semijoins and Diff in the place of such filters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from imp_driver.dataflow.mappings.expressions import conjunction, conjuncts, existences
from imp_driver.dataflow.mappings.scopes import mentioned, reached
from imp_driver.sparql.algebra import (
    Bgp,
    Closure,
    Distinct,
    Expression,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Project,
    Union,
    Values,
    Variable,
)
from imp_driver.sparql.certain import certain

_Variables = frozenset[Variable]


@dataclass(frozen=True, slots=True)
class Correlation:
    """A pattern by itself, and the condition over its solutions and those around it."""

    pattern: Pattern
    condition: Expression | None


def correlation(pattern: Pattern, outer: Iterable[Variable]) -> Correlation | None:
    """Return an EXISTS of a pattern as a semijoin with solutions over ``outer``; None where it is none."""
    given, conditions = frozenset(outer), list[Expression]()
    while isinstance(pattern, Filter):
        conditions += conjuncts(pattern.condition)
        pattern = pattern.pattern
    if not _is_plain(pattern, given):
        return None
    known = certain(pattern)
    inner, both = list[Expression](), list[Expression]()
    for condition in conditions:
        if frozenset(reached(condition)) & given <= known:
            inner.append(condition)
        elif any(existences(condition)):
            return None
        else:
            both.append(condition)
    found = Filter(pattern, conjunction(inner)) if inner else pattern
    return Correlation(found, conjunction(both) if both else None)


def _is_plain(pattern: Pattern, given: _Variables) -> bool:
    """Say whether giving variables values in a pattern leaves just those of its solutions that are compatible with these."""
    match pattern:
        case Bgp() | Values():
            return True
        case Closure():
            # From a given term zero steps lead to itself, in no matter which graph.
            return not pattern.has_zero or not given & frozenset(mentioned((pattern.subject, pattern.object)))
        case Join(left, right) | Union(left, right):
            return _is_plain(left, given) and _is_plain(right, given)
        case LeftJoin(left, right, condition):
            return _is_plain(left, given) and frozenset(reached((right, condition))) & given <= certain(left)
        case Minus(left, right):
            return _is_plain(left, given) and not frozenset(reached(right)) & given
        case Filter(inner, condition):
            return _is_plain(inner, given) and frozenset(reached(condition)) & given <= certain(inner)
        case Extend(inner, variable, expression):
            return _is_plain(inner, given) and variable not in given and frozenset(reached(expression)) & given <= certain(inner)
        case Project(inner, names):
            return _is_plain(inner, given & frozenset(names))
        case Distinct(inner):
            return _is_plain(inner, given)
        case _:
            return not frozenset(reached(pattern)) & given
