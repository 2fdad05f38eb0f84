"""Which variables every solution of a pattern binds."""

from __future__ import annotations

from collections.abc import Iterable

from imp_driver.sparql.algebra import (
    Bgp,
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
    Project,
    Read,
    Slice,
    Union,
    Values,
    Variable,
    variables,
)


def certain(pattern: Pattern) -> frozenset[Variable]:
    """Return the variables that each solution of a pattern surely binds."""
    match pattern:
        case Bgp() | Closure():
            graph = [pattern.place.variable] if isinstance(pattern.place, EachNamed) else []
            return frozenset([*variables(pattern), *graph])
        case Join(left, right):
            return certain(left) | certain(right)
        case Union(left, right):
            return certain(left) & certain(right)
        case LeftJoin(left, _) | Minus(left, _):
            return certain(left)
        case Values(names, rows):
            return frozenset(name for place, name in enumerate(names) if all(row[place] is not None for row in rows))
        case Group(inner, keys, _):
            return _known(keys, certain(inner))
        case Project(inner, names):
            return certain(inner) & frozenset(names)
        case Extend(inner, variable, expression):
            return certain(inner) | _known([(variable, expression)], certain(inner))
        case Filter(inner, _) | Distinct(inner) | OrderBy(inner, _) | Slice(inner):
            return certain(inner)


def _known(named: Iterable[tuple[Variable, Expression]], found: frozenset[Variable]) -> frozenset[Variable]:
    return frozenset(
        name
        for name, expression in named
        if isinstance(expression, Constant) or (isinstance(expression, Read) and expression.variable in found)
    )
