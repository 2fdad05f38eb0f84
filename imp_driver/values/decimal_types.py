"""Spark's types for the results of decimal arithmetic.

Source: DecimalType.adjustPrecisionScale and resultDecimalType of Add, Subtract, Multiply, Divide and Remainder, with precision loss allowed
(spark.sql.decimalOperations.allowPrecisionLoss, which the analysis assumes).
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from imp_driver.values.widening import INTEGER_DIGITS

MOST_DIGITS = 38
_KEPT_SCALE = 6
"""Places of a quotient, and those that are never given up for digits before the point."""
PLAIN_SCALE = 6
"""Decimals of more places are written with an exponent, by a setting."""


def adjusted(precision: int, scale: int) -> pa.Decimal128Type:
    """Return the type of a result of so many digits: beyond 38 it gives up places behind the point, but not the first six."""
    if precision <= MOST_DIGITS:
        return pa.decimal128(precision, scale)
    integral = precision - scale
    return pa.decimal128(MOST_DIGITS, max(MOST_DIGITS - integral, min(scale, _KEPT_SCALE)))


def result_type(operator: str, left: pa.Decimal128Type, right: pa.Decimal128Type) -> pa.Decimal128Type:
    """Return the type of ``left operator right`` for ``+ - * / %``."""
    scale = max(left.scale, right.scale)
    integral = (left.precision - left.scale, right.precision - right.scale)
    match operator:
        case "*":
            return adjusted(left.precision + right.precision + 1, left.scale + right.scale)
        case "/":
            places = max(_KEPT_SCALE, left.scale + right.precision + 1)
            return adjusted(integral[0] + right.scale + places, places)
        case "%":
            return adjusted(min(integral) + scale, scale)
        case _:
            return adjusted(max(integral) + scale + 1, scale)


def summed_type(kind: pa.Decimal128Type) -> pa.Decimal128Type:
    """Return the type of a sum of decimals. Source: Sum.resultType."""
    return pa.decimal128(min(kind.precision + 10, MOST_DIGITS), kind.scale)


def averaged_type(kind: pa.Decimal128Type) -> pa.Decimal128Type | None:
    """Return the type of an average of decimals; None for longer ones, which would have to give digits away."""
    return pa.decimal128(kind.precision + 4, kind.scale + 4) if kind.precision + 4 <= MOST_DIGITS else None


def compared_type(left: pa.Decimal128Type, right: pa.Decimal128Type) -> pa.Decimal128Type:
    """Return the type in which two decimals are compared: beyond 38 digits, those before the point stay."""
    scale = max(left.scale, right.scale)
    precision = max(left.precision - left.scale, right.precision - right.scale) + scale
    if precision <= MOST_DIGITS:
        return pa.decimal128(precision, scale)
    return pa.decimal128(MOST_DIGITS, max(0, scale - (precision - MOST_DIGITS)))


def type_of_digits(value: Decimal) -> pa.Decimal128Type | None:
    """Return the type of a literal: the digits that it is written with, None beyond 38 of them."""
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return None
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, 1)
    return pa.decimal128(precision, scale) if precision <= MOST_DIGITS else None


def of_integer(bits: int) -> pa.Decimal128Type:
    """Return the decimal that an integer of so many bits is taken for."""
    return pa.decimal128(INTEGER_DIGITS[bits], 0)
