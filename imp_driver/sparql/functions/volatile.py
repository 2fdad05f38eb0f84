"""Which expressions have another value each time: no state of theirs can be maintained."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from imp_driver.sparql.algebra import Aggregate, Call, Constant, Expression, Pattern
from imp_driver.sparql.functions.dates import now

VOLATILE: Final = frozenset({"BNODE", "UUID", "STRUUID", "RAND", "NOW"})


def is_volatile(part: Expression | Aggregate | Pattern) -> bool:
    """Return whether anything in an expression calls one of VOLATILE, in the patterns of EXISTS too; of a pattern, in all of it."""
    return _calls(part)


def at_one_moment(pattern: Pattern) -> Pattern:
    """Return a pattern with this moment in the places of all NOW(): one query has one (section 17.4.5.1)."""
    found: Pattern = _at(pattern, Constant(now())) if _calls(pattern) else pattern
    return found


def _at(part: Any, moment: Constant) -> Any:
    if isinstance(part, Call) and part.name == "NOW":
        return moment
    if isinstance(part, tuple):
        return tuple([_at(each, moment) for each in part])
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{each.name: _at(getattr(part, each.name), moment) for each in fields(part)})
    return part


def _calls(part: object) -> bool:
    if isinstance(part, Call) and part.name in VOLATILE:
        return True
    if isinstance(part, tuple):
        return any(map(_calls, part))
    return is_dataclass(part) and any(_calls(getattr(part, field.name)) for field in fields(part))
