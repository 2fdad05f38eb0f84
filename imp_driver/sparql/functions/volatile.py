"""Which expressions have another value each time: no state of theirs can be maintained."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Final

from imp_driver.sparql.algebra import Aggregate, Call, Expression, Pattern

VOLATILE: Final = frozenset({"BNODE", "UUID", "STRUUID", "RAND", "NOW"})


def is_volatile(part: Expression | Aggregate | Pattern) -> bool:
    """Return whether anything in an expression calls one of VOLATILE, in the patterns of EXISTS too; of a pattern, in all of it."""
    return _calls(part)


def _calls(part: object) -> bool:
    if isinstance(part, Call) and part.name in VOLATILE:
        return True
    if isinstance(part, tuple):
        return any(map(_calls, part))
    return is_dataclass(part) and any(_calls(getattr(part, field.name)) for field in fields(part))
