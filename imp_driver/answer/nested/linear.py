"""Expressions that are a number times one value, where Spark computes that without rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.nested.exact_columns import NotDescribed
from imp_driver.plan.constants import constant
from imp_driver.values.decimal_types import MOST_DIGITS, result_type, type_of_digits

_DIGITS_OF_LONGS = 20


@dataclass(frozen=True, slots=True)
class Linear:
    """``factor`` times the value of ``name``, or the number alone; ``kind`` is Spark's type of it."""

    factor: Fraction
    name: str | None
    kind: pa.DataType
    is_zero_when_empty: bool = False


def linear(expression: exp.Expr, types: Mapping[str, pa.DataType | None]) -> Linear:
    """Read an expression over values of these types. Raises NotDescribed."""
    node = expression.unnest()
    if isinstance(node, exp.Column):
        kind = types.get(node.name)
        if kind is None or not (pa.types.is_signed_integer(kind) or pa.types.is_decimal(kind)):
            raise NotDescribed("a value of another type, or of the row itself")
        return Linear(Fraction(1), node.name, kind)
    if isinstance(node, exp.Coalesce) and len(node.expressions) == 1:
        found, other = linear(node.this, types), constant(node.expressions[0])
        if other is None or other.value != 0 or isinstance(other.value, (bool, float)) or found.name is None:
            raise NotDescribed("COALESCE with another value than 0")
        return Linear(found.factor, found.name, found.kind, True)
    if isinstance(node, exp.Mul):
        return _product(linear(node.this, types), linear(node.expression, types))
    number = constant(node)
    value = None if number is None else number.value
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise NotDescribed("more than a number times a value")
    kind = type_of_digits(Decimal(value))
    if kind is None:
        raise NotDescribed("a number of too many digits")
    return Linear(Fraction(value), None, kind if isinstance(value, Decimal) else pa.int64())


def _product(one: Linear, other: Linear) -> Linear:
    if one.name is not None and other.name is not None:
        raise NotDescribed("a product of values")
    number, value = (one, other) if one.name is None else (other, one)
    kinds = (_decimal(number, is_number=True), _decimal(value, is_number=value.name is None))
    if not (pa.types.is_decimal(number.kind) or pa.types.is_decimal(value.kind)):
        raise NotDescribed("a product of integers, which may leave 64 bits")
    if sum(each.precision for each in kinds) + 1 > MOST_DIGITS:
        raise NotDescribed("a product that Spark rounds")
    return Linear(number.factor * value.factor, value.name, result_type("*", *kinds), value.is_zero_when_empty)


def _decimal(side: Linear, *, is_number: bool) -> pa.Decimal128Type:
    """Return the decimal type in which an operand meets a decimal: an integer that is written is one of its digits."""
    if pa.types.is_decimal(side.kind):
        return side.kind
    if is_number:
        found = type_of_digits(Decimal(int(side.factor)))
        assert found is not None
        return found
    return pa.decimal128(_DIGITS_OF_LONGS, 0)
