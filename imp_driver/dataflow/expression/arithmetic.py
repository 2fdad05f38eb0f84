"""Arithmetic of columns with exactly Spark's values (IMP paper section 5.2.2), or none.

Anything whose value could depend on settings, rounding or overflow raises NotEvaluable; the caller then lets Spark compute it.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.values.codes import Codec
from imp_driver.values.expressions import Value
from imp_driver.values.widening import INTEGER_DIGITS

EXACT_LIMIT = 2**53
_MAXIMUM_DIGITS = 38
_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}
_FLOATING = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


class NotEvaluable(Exception):
    """This expression cannot be computed in process exactly as Spark computes it."""


def is_exact(data_type: pa.DataType) -> bool:
    """Say whether the type is an integer or a decimal."""
    return bool(pa.types.is_signed_integer(data_type) or pa.types.is_decimal128(data_type))


def repeated(value: Value, count: int) -> pa.Array:
    """Return a constant column. Raises NotEvaluable for constants without an exact Arrow type."""
    data_type = None
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise NotEvaluable("an integer constant exceeds 64 bits")
        data_type = pa.int32() if -(2**31) <= value < 2**31 else pa.int64()
    elif isinstance(value, Decimal):
        if not value.is_finite():
            raise NotEvaluable("a decimal constant is not finite")
        value = value.quantize(Decimal(1)) if value == value.to_integral_value() and abs(value) < 10**28 else value
    try:
        return pa.repeat(pa.scalar(value, type=data_type), count)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise NotEvaluable("a constant has no exact Arrow form") from error


def to_double(array: pa.Array) -> pa.Array:
    """Convert a number as Spark casts to DOUBLE: rounded to nearest. Raises NotEvaluable for decimals beyond 2**53."""
    if not pa.types.is_decimal(array.type):
        return array.cast(pa.float64(), safe=False)
    if array.type.scale > 22:
        raise NotEvaluable("a decimal of so many places is not converted to double in process")
    codes, nulls = Codec(array.type).encode(array)
    if np.any(np.abs(codes) > EXACT_LIMIT):
        raise NotEvaluable("a decimal beyond 2**53 is not converted to double in process")
    # Both operands are exact doubles, so the division rounds once, correctly.
    return pa.array(codes.astype(np.float64) / 10.0**array.type.scale, mask=nulls)


def arithmetic(operator: str, left: pa.Array, right: pa.Array) -> pa.Array:
    """Return ``left operator right`` in Spark's result type. Raises NotEvaluable."""
    if pa.types.is_null(left.type) or pa.types.is_null(right.type):
        return pa.nulls(len(left), right.type if pa.types.is_null(left.type) else left.type)
    kinds = (left.type, right.type)
    if operator == "/":
        return _quotient(left, right)
    try:
        if all(pa.types.is_signed_integer(kind) for kind in kinds):
            wider = max(kinds, key=lambda kind: kind.bit_width)
            return _CHECKED[operator](left.cast(wider), right.cast(wider))
        if all(is_exact(kind) for kind in kinds):
            return _decimal_arithmetic(operator, as_decimal(left), as_decimal(right))
    except pa.ArrowInvalid as error:
        raise NotEvaluable("arithmetic overflows") from error
    if not all(is_exact(kind) or pa.types.is_floating(kind) for kind in kinds):
        raise NotEvaluable(f"arithmetic over {left.type} and {right.type} needs a cast of Spark's")
    if any(pa.types.is_float32(kind) for kind in kinds) and left.type != right.type:
        raise NotEvaluable("arithmetic that mixes FLOAT with another type depends on settings")
    if left.type != right.type:
        left, right = to_double(left), to_double(right)
    return _FLOATING[operator](left, right)


def _quotient(left: pa.Array, right: pa.Array) -> pa.Array:
    """Divide doubles and integers, which become doubles; a zero divisor is NULL or an error, by a setting."""
    if any(pa.types.is_decimal(each.type) or pa.types.is_float32(each.type) for each in (left, right)):
        raise NotEvaluable("a quotient of decimals is rounded, one of FLOAT widened")
    if not all(is_exact(each.type) or pa.types.is_floating(each.type) for each in (left, right)):
        raise NotEvaluable(f"a quotient of {left.type} and {right.type} needs a cast of Spark's")
    divisor = to_double(right)
    if pc.any(pc.equal(divisor, 0.0)).as_py():
        raise NotEvaluable("a division by zero depends on settings")
    return pc.divide(to_double(left), divisor)


def as_decimal(array: pa.Array) -> pa.Array:
    """Return an integer or decimal array as decimal."""
    if pa.types.is_decimal(array.type):
        return array
    return array.cast(pa.decimal128(INTEGER_DIGITS[array.type.bit_width], 0))


def _decimal_arithmetic(operator: str, left: pa.Array, right: pa.Array) -> pa.Array:
    a, b = left.type, right.type
    if operator == "*":
        precision = a.precision + b.precision + 1
    else:
        precision = max(a.precision - a.scale, b.precision - b.scale) + max(a.scale, b.scale) + 1
    if precision > _MAXIMUM_DIGITS:
        raise NotEvaluable("a decimal result may exceed 38 digits")
    return _CHECKED[operator](left, right)
