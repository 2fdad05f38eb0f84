"""Expressions over rows or groups, free of parser and engine types, so that operators evaluate them without either.

Conditions follow SQL's three-valued logic. Constants hold Python values of exact types: int, Decimal, float, str, bool, date,
datetime (naive = TIMESTAMP_NTZ, aware = TIMESTAMP) or None for NULL.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

Value: TypeAlias = int | Decimal | float | str | bool | datetime.date | datetime.datetime | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the base table, by its exact name in the table's schema."""

    name: str


@dataclass(frozen=True, slots=True)
class KeyReference:
    """The i-th group key of the block (0-based)."""

    index: int


@dataclass(frozen=True, slots=True)
class AggregateReference:
    """The i-th aggregate of the block (0-based)."""

    index: int


@dataclass(frozen=True, slots=True)
class Constant:
    value: Value


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``operator`` is one of ``+ - *``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison:
    """``operator`` is one of ``= <> < <= > >= <=>`` (the last is NULL-safe equality)."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expression


@dataclass(frozen=True, slots=True)
class IsNull:
    operand: Expression


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that cannot be evaluated in process; as a condition it may be true, false or NULL. ``text`` is for people."""

    text: str


Expression: TypeAlias = Column | KeyReference | AggregateReference | Constant | Arithmetic | Comparison | And | Or | Not | IsNull | Opaque
