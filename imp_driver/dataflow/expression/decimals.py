"""Decimals as whole numbers without limit: results rounded once, half away from zero, into the type that Spark gives them.

Spark keeps 39 digits of a product or quotient before it rounds to the result's places, which decides each half as the exact value does.
Source: Decimal and DecimalExpression of Spark 4.2 (SPARK-45786).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.values.codes import BooleanArray, Codec
from imp_driver.values.decimal_types import of_integer

Whole = npt.NDArray[Any]
"""Python integers; int64 where no step of a computation can leave 64 bits."""
_MOST_NARROW = 2**60
"""Bound of what is computed in 64 bits; a quotient is rounded by way of twice its dividend and more."""


def as_decimal(array: pa.Array) -> pa.Array:
    """Return an integer or decimal array as decimal."""
    return array if pa.types.is_decimal(array.type) else array.cast(of_integer(array.type.bit_width))


def unscaled(array: pa.Array) -> tuple[Whole, BooleanArray]:
    """Return the values of an integer or decimal array without their points, and where it is NULL."""
    codes, nulls = Codec(array.type).encode(array)
    return codes.astype(object), nulls


def _narrowed(array: pa.Array, most: int) -> tuple[Whole, BooleanArray]:
    """Return as ``unscaled``, in 64 bits where no value times ``most`` leaves these."""
    codes, nulls = Codec(array.type).encode(array)
    return codes if codes.dtype == np.int64 and _largest(codes) * most < _MOST_NARROW else codes.astype(object), nulls


def _largest(values: Whole) -> int:
    """Return the largest absolute value, at least 1, so that a power of ten beside zeros counts."""
    return max(int(values.max()), -int(values.min()), 1) if len(values) else 1


def decimals_of(values: Whole, nulls: BooleanArray, kind: pa.Decimal128Type) -> pa.Array:
    """Return decimals of unscaled values. Raises NotEvaluable where one has more digits than the type: NULL or an error, by a setting."""
    values = np.where(nulls, 0, values)
    if len(values) and max(abs(values.min()), abs(values.max())) >= 10**kind.precision:
        raise NotEvaluable(f"a value exceeds the digits of {kind}")
    return Codec(kind).decode(values if values.dtype == np.int64 else values.astype(Codec(kind).dtype), nulls)


def rounded_quotient(dividend: Whole, divisor: Whole | int) -> Whole:
    """Return quotients rounded to the nearest, halves away from zero."""
    size: Any = abs(divisor)
    magnitude = (2 * abs(dividend) + size) // (2 * size)
    found: Whole = np.where((dividend < 0) != (divisor < 0), -magnitude, magnitude)
    return found


def rescaled(values: Whole, scale: int, target: int) -> Whole:
    """Return unscaled values with another number of places, rounded where it is smaller."""
    return values * 10 ** (target - scale) if target >= scale else rounded_quotient(values, 10 ** (scale - target))


def with_type(array: pa.Array, kind: pa.Decimal128Type) -> pa.Array:
    """Return an integer or decimal array in another decimal type. Raises NotEvaluable where a value does not fit it."""
    if array.type == kind:
        return array
    scale = array.type.scale if pa.types.is_decimal(array.type) else 0
    values, nulls = _narrowed(array, 10 ** abs(kind.scale - scale))
    return decimals_of(rescaled(values, scale, kind.scale), nulls, kind)


def combined(operator: str, left: pa.Array, right: pa.Array, kind: pa.Decimal128Type) -> pa.Array:
    """Return ``left operator right`` of two decimal arrays for ``+ - * / %``. Raises NotEvaluable for a zero divisor and overflow."""
    (a, no_a), (b, no_b) = _operands(operator, left, right, kind)
    nulls = no_a | no_b
    if operator in "/%":
        b = _divisors(b, nulls)
    scale = max(left.type.scale, right.type.scale)
    match operator:
        case "*":
            found = rescaled(a * b, left.type.scale + right.type.scale, kind.scale)
        case "/":
            shift = kind.scale + right.type.scale - left.type.scale
            found = rounded_quotient(a * 10 ** max(shift, 0), b * 10 ** max(-shift, 0))
        case _:
            a, b = a * 10 ** (scale - left.type.scale), b * 10 ** (scale - right.type.scale)
            found = rescaled(_summed(operator, a, b), scale, kind.scale)
    return decimals_of(found, nulls, kind)


def _operands(
    operator: str, left: pa.Array, right: pa.Array, kind: pa.Decimal128Type
) -> tuple[tuple[Whole, BooleanArray], tuple[Whole, BooleanArray]]:
    """Return both operands unscaled; in 64 bits where a product or sum and its rounding stay within these."""
    if operator == "*":
        (a, no_a), (b, no_b) = _narrowed(left, 1), _narrowed(right, 1)
        most = _largest(a) * _largest(b) * 10 ** abs(kind.scale - left.type.scale - right.type.scale)
    elif operator in "+-":
        scale = max(left.type.scale, right.type.scale)
        more = 2 * 10 ** abs(kind.scale - scale)
        (a, no_a), (b, no_b) = (_narrowed(each, more * 10 ** (scale - each.type.scale)) for each in (left, right))
        most = 0
    else:
        return unscaled(left), unscaled(right)
    if a.dtype == b.dtype == np.int64 and most < _MOST_NARROW:
        return (a, no_a), (b, no_b)
    return (a.astype(object), no_a), (b.astype(object), no_b)


def _summed(operator: str, left: Whole, right: Whole) -> Whole:
    if operator == "%":
        return remainders(left, right)
    found: Whole = left + right if operator == "+" else left - right
    return found


def remainders(left: Whole, right: Whole) -> Whole:
    """Return remainders with the sign of the dividend."""
    found = abs(left) % abs(right)
    return np.where(left < 0, -found, found)


def _divisors(values: Whole, nulls: BooleanArray) -> Whole:
    if np.any((values == 0) & ~nulls):
        raise NotEvaluable("a division by zero depends on settings")
    return np.where(nulls, 1, values)
