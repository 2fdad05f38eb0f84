"""Expressions over rows or groups, free of parser and engine types, so that operators evaluate them without either.

Conditions follow SQL's three-valued logic. Constants hold Python values of exact types: int, Decimal, float, str, bool, date,
datetime (naive = TIMESTAMP_NTZ, aware = TIMESTAMP) or None for NULL.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa

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
    """``kind`` is Spark's type of it.

    Without one an integer is of 32 bits where these are enough, else of 64, and a decimal's type is not certain (that of a bound value).
    One that is computed is no literal, whose digits would count beside a decimal.
    """

    value: Value
    kind: pa.DataType | None = None
    is_computed: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``operator`` is one of ``+ - * /``; a quotient is a decimal where an operand is one and none is a double, else a double."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison:
    """``operator`` is one of ``= <> < <= > >= <=>`` (the last is NULL-safe equality)."""

    operator: str
    left: Expression
    right: Expression


MIRRORED: Mapping[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Comparisons by order as they are with their sides exchanged."""


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
class Like:
    """Text that matches a pattern of ``%`` and ``_``, without escapes."""

    operand: Expression
    pattern: str


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch (condition, value) whose condition is TRUE, else ``default``, else NULL."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first value that is not NULL."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class DatePart:
    """``part`` of a date or a timestamp without zone, an integer of 32 bits.

    One of year, quarter, month, day, dayofweek (Sunday is 1), weekday (Monday is 0), dayofyear, weekofyear, hour, minute, second.
    """

    part: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Function:
    """A function of its operands and of constant ``arguments``; its names and types are those of ``values/function_types.py``."""

    name: str
    operands: tuple[Expression, ...]
    arguments: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """A value brought to another type."""

    operand: Expression
    kind: pa.DataType


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that cannot be evaluated in process; as a condition it may be true, false or NULL. ``text`` is for people."""

    text: str


Expression: TypeAlias = (
    Column
    | KeyReference
    | AggregateReference
    | Constant
    | Arithmetic
    | Comparison
    | And
    | Or
    | Not
    | IsNull
    | Like
    | Case
    | Coalesce
    | DatePart
    | Function
    | Cast
    | Opaque
)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return what an expression is made of."""
    match expression:
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case And(operands) | Or(operands) | Coalesce(operands) | Function(_, operands, _):
            return operands
        case Not(operand) | IsNull(operand) | Like(operand, _) | DatePart(_, operand) | Cast(operand, _):
            return (operand,)
        case Case(branches, default):
            return (*(each for branch in branches for each in branch), *(() if default is None else (default,)))
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of."""
    yield expression
    for part in parts_of(expression):
        yield from walk(part)


def with_parts(expression: Expression, parts: Sequence[Expression]) -> Expression:
    """Return the expression made of other parts, given in the order of ``parts_of``."""
    match expression:
        case Arithmetic(operator, _, _):
            return Arithmetic(operator, parts[0], parts[1])
        case Comparison(operator, _, _):
            return Comparison(operator, parts[0], parts[1])
        case And() | Or() | Coalesce():
            return type(expression)(tuple(parts))
        case Not() | IsNull():
            return type(expression)(parts[0])
        case Like(_, pattern):
            return Like(parts[0], pattern)
        case DatePart(part, _):
            return DatePart(part, parts[0])
        case Function(name, _, arguments):
            return Function(name, tuple(parts), arguments)
        case Cast(_, kind):
            return Cast(parts[0], kind)
        case Case(branches, default):
            pairs = tuple((parts[2 * place], parts[2 * place + 1]) for place in range(len(branches)))
            return Case(pairs, None if default is None else parts[-1])
        case _:
            return expression
