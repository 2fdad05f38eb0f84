"""Whether EXISTS may be a join: substituting the solution's values everywhere must be the same as comparing them at the end.

It is for triples, joins, unions and filters. It is not where the pattern binds a variable in a place in which it may have another value,
or none: at the right side of OPTIONAL and MINUS, below groups and LIMIT. Source: sections 17.4.1.4 and 18.6.
"""

from __future__ import annotations

from collections.abc import Iterable

from imp_driver.errors import NotSupportedError
from imp_driver.sparql.algebra import (
    Bgp,
    Closure,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Slice,
    Union,
    Values,
    Variable,
    variables,
)


def check_substitution(pattern: Pattern, outer: Iterable[Variable]) -> None:
    """Raise NotSupportedError where a variable of the solution stands in such a place."""
    for variable in set(outer):
        if not _is_joined(pattern, variable):
            raise NotSupportedError(
                f"EXISTS over a pattern in which ?{variable.name} of the solution stands inside OPTIONAL, MINUS, a group or a LIMIT "
                "has no SQL of Spark; the driver answers the query in process."
            )


def _is_joined(pattern: Pattern, variable: Variable) -> bool:
    if variable not in _anywhere(pattern):
        return True
    match pattern:
        case Bgp() | Closure() | Values():
            return True
        case Join(left, right) | Union(left, right):
            return _is_joined(left, variable) and _is_joined(right, variable)
        case LeftJoin(left, right):
            # Bound on the left, it has the same value on the right in every row.
            return _is_joined(left, variable) and (variable not in _anywhere(right) or _binds(left, variable))
        case Minus(left, right):
            others = set(variables(left)) & set(variables(right)) - {variable}
            is_same = _binds(left, variable) and any(_binds(left, each) and _binds(right, each) for each in others)
            return _is_joined(left, variable) and (variable not in _anywhere(right) or is_same)
        case Filter(inner) | Distinct(inner) | OrderBy(inner):
            return _is_joined(inner, variable)
        case Extend(inner, name, _):
            return name != variable and _is_joined(inner, variable)
        case Project(inner, names):
            # What a subquery does not select is another variable of the same name.
            return variable not in names or _is_joined(inner, variable)
        case Group() | Slice():
            return variable not in variables(pattern)


def _anywhere(pattern: Pattern) -> set[Variable]:
    found = set(variables(pattern))
    return found | _anywhere(pattern.right) if isinstance(pattern, Minus) else found


def _binds(pattern: Pattern, variable: Variable) -> bool:
    """Say whether each solution binds a variable."""
    match pattern:
        case Bgp() | Closure():
            return variable in variables(pattern)
        case Join(left, right):
            return _binds(left, variable) or _binds(right, variable)
        case Union(left, right):
            return _binds(left, variable) and _binds(right, variable)
        case LeftJoin(left, _) | Minus(left, _):
            return _binds(left, variable)
        case Filter(inner) | Distinct(inner) | OrderBy(inner) | Slice(inner) | Project(inner) | Extend(inner):
            return variable in variables(pattern) and _binds(inner, variable)
        case Values(names, rows):
            return variable in names and all(row[names.index(variable)] is not None for row in rows)
        case Group():
            return False
