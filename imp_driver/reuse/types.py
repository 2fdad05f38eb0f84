"""What is certain of the type of an expression, for comparing it with constants (sketch-reuse rules 2.3, 2.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from sqlglot import exp


class Family(Enum):
    """Types whose values share one total order and one way to meet a constant."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    STRING = "string"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"
    BOOLEAN = "boolean"


MAXIMUM_DIGITS = 38
"""Digits of Spark's widest DECIMAL; a comparison that needs more of them is rounded first."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type. Exact numbers have ``whole`` digits before the point and ``scale`` after it; ``bits`` is the width of an integer."""

    family: Family
    whole: int = 0
    scale: int = 0
    bits: int = 0

    @property
    def is_discrete(self) -> bool:
        """No value lies between two neighbours."""
        return self.family in (Family.INTEGER, Family.DATE)

    @property
    def is_exact_number(self) -> bool:
        return self.family in (Family.INTEGER, Family.DECIMAL)

    @property
    def fits(self) -> bool:
        return self.whole + self.scale <= MAXIMUM_DIGITS


_DIGITS_OF_BITS = {8: 3, 16: 5, 32: 10, 64: 20}
"""What Spark takes for the digits of an integer when it becomes a DECIMAL."""

_INTEGERS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_OTHERS = {family.value: family for family in Family if family not in (Family.INTEGER, Family.DECIMAL)}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def integer_type(bits: int) -> ValueType:
    return ValueType(Family.INTEGER, _DIGITS_OF_BITS[bits], 0, bits)


def integer_range(kind: ValueType) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type."""
    return -(2 ** (kind.bits - 1)), 2 ** (kind.bits - 1) - 1


def value_type(type_name: str | None) -> ValueType | None:
    """Return the type of a Delta type name; None for types whose comparisons are left to Spark (FLOAT, CHAR, collated strings)."""
    if type_name is None:
        return None
    if type_name in _INTEGERS:
        return integer_type(_INTEGERS[type_name])
    match = _DECIMAL.fullmatch(type_name)
    if match:
        precision, scale = int(match.group(1)), int(match.group(2))
        return ValueType(Family.DECIMAL, precision - scale, scale) if scale <= precision <= MAXIMUM_DIGITS else None
    return ValueType(_OTHERS[type_name]) if type_name in _OTHERS else None


def type_of(expression: exp.Expr, types: Mapping[str, str | None]) -> ValueType | None:
    """Return the type of an attribute, or of sums, differences and products of integers; None where it is not certain."""
    match expression:
        case exp.Paren():
            return type_of(expression.this, types)
        case exp.Column():
            return value_type(types.get(expression.name))
        case exp.Literal() if not expression.is_string and str(expression.this).isdigit():
            return literal_integer_type(int(str(expression.this)))
        case exp.Neg():
            return _integers(type_of(expression.this, types))
        case exp.Add() | exp.Sub() | exp.Mul():
            return _integers(type_of(expression.left, types), type_of(expression.right, types))
        case _:
            return None


def literal_integer_type(value: int) -> ValueType | None:
    """Return the type that Spark gives a bare integer: INT, BIGINT, else a DECIMAL, of which nothing is claimed here."""
    bits = next((bits for bits in (32, 64) if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)), None)
    return None if bits is None else integer_type(bits)


def _integers(*operands: ValueType | None) -> ValueType | None:
    widths = [operand.bits for operand in operands if operand is not None and operand.family is Family.INTEGER]
    return integer_type(max(widths)) if len(widths) == len(operands) else None
