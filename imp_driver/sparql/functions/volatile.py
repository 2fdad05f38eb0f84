"""Which expressions have another value each time: no state of theirs can be maintained."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar

from imp_driver.sparql.algebra import Aggregate, Call, Constant, Expression, Pattern
from imp_driver.sparql.functions.dates import now

PartT = TypeVar("PartT")

_NOW: Final = Call("NOW")
VOLATILE: Final = frozenset({"BNODE", "UUID", "STRUUID", "RAND", "NOW"})


def is_volatile(part: Expression | Aggregate | Pattern) -> bool:
    """Return whether anything in an expression calls one of VOLATILE, in the patterns of EXISTS too; of a pattern, in all of it."""
    return _calls(part)


def at_one_moment(part: PartT) -> PartT:
    """Return a query or a part of one with the time of now for each NOW: it is the same all over a query (section 17.4.5.1)."""
    found: PartT = _with(part, Constant(now()))
    return found


def _with(part: Any, moment: Constant) -> Any:
    if part == _NOW:
        return moment
    if isinstance(part, tuple):
        return tuple(_with(each, moment) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    values = {field.name: _with(getattr(part, field.name), moment) for field in fields(part)}
    return replace(part, **values)


def _calls(part: object) -> bool:
    if isinstance(part, Call) and part.name in VOLATILE:
        return True
    if isinstance(part, tuple):
        return any(map(_calls, part))
    return is_dataclass(part) and any(_calls(getattr(part, field.name)) for field in fields(part))
