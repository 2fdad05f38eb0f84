"""Which expressions have another value each time: no state of theirs can be maintained."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from imp_driver.sparql.algebra import Aggregate, Call, Constant, Expression, Pattern
from imp_driver.sparql.functions.dates import now
from imp_driver.sparql.parts import every, rebuilt

PartT = TypeVar("PartT")

_NOW: Final = Call("NOW")
VOLATILE: Final = frozenset({"BNODE", "UUID", "STRUUID", "RAND", "NOW"})


def is_volatile(part: Expression | Aggregate | Pattern) -> bool:
    """Return whether anything in an expression calls one of VOLATILE, in the patterns of EXISTS too; of a pattern, in all of it."""
    return any(isinstance(each, Call) and each.name in VOLATILE for each in every(part))


def at_one_moment(part: PartT) -> PartT:
    """Return a query or a part of one with the time of now for each NOW: it is the same all over a query (section 17.4.5.1)."""
    found: PartT = _with(part, Constant(now()))
    return found


def _with(part: Any, moment: Constant) -> Any:
    return moment if part == _NOW else rebuilt(part, lambda each: _with(each, moment))
