"""Arithmetic of columns with exactly Spark's values (IMP paper section 5.2.2), or none.

Anything whose value could depend on settings, rounding or overflow raises NotEvaluable; the caller then lets Spark compute it.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.dates import days_later
from imp_driver.dataflow.expression.decimals import Whole, as_decimal, combined, decimals_of, unscaled
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.values.codes import BooleanArray, Codec
from imp_driver.values.decimal_types import MOST_DIGITS
from imp_driver.values.expressions import Constant
from imp_driver.values.function_types import arithmetic_type

__all__ = ["NotEvaluable", "arithmetic", "is_exact", "repeated", "to_double"]

EXACT_LIMIT = 2**53
_SIGN_DIGITS = 34
_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}
_FLOATING = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


def is_exact(data_type: pa.DataType) -> bool:
    """Say whether the type is an integer or a decimal."""
    return bool(pa.types.is_signed_integer(data_type) or pa.types.is_decimal128(data_type))


def repeated(constant: Constant, count: int) -> pa.Array:
    """Return a constant column. Raises NotEvaluable for constants without an exact Arrow type."""
    value, data_type = constant.value, constant.kind
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise NotEvaluable("an integer constant exceeds 64 bits")
        data_type = data_type or (pa.int32() if -(2**31) <= value < 2**31 else pa.int64())
    elif isinstance(value, Decimal) and data_type is None:
        if not value.is_finite():
            raise NotEvaluable("a decimal constant is not finite")
        value = value.quantize(Decimal(1)) if value == value.to_integral_value() and abs(value) < 10**28 else value
    try:
        return pa.repeat(pa.scalar(value, type=data_type), count)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise NotEvaluable("a constant has no exact Arrow form") from error


def to_double(array: pa.Array) -> pa.Array:
    """Convert a number as Spark casts to DOUBLE: rounded to nearest."""
    if not pa.types.is_decimal(array.type):
        return array.cast(pa.float64(), safe=False)
    codes, nulls = Codec(array.type).encode(array)
    power = 10**array.type.scale
    if array.type.scale <= 22 and not np.any(np.abs(codes) > EXACT_LIMIT):
        # Both operands are exact doubles, so the division rounds once, correctly.
        return pa.array(codes.astype(np.float64) / float(power), mask=nulls)
    # Python divides whole numbers of any length with one rounding.
    return pa.array(np.array([code / power for code in codes.tolist()], dtype=np.float64), mask=nulls)


def arithmetic(operator: str, left: pa.Array, right: pa.Array) -> pa.Array:
    """Return ``left operator right`` for ``+ - * / %`` in Spark's result type. Raises NotEvaluable."""
    kind = arithmetic_type(operator, left.type, right.type)
    if kind is not None and (pa.types.is_null(left.type) or pa.types.is_null(right.type)):
        return pa.nulls(len(left), kind)
    if kind is None:
        if operator != "/" and left.type == right.type and pa.types.is_float32(left.type):
            return _floating(operator, left, right)
        raise NotEvaluable(f"{operator} of {left.type} and {right.type} needs a cast of Spark's, or one by settings")
    try:
        if pa.types.is_date32(kind):
            return _day_moved(operator, left, right)
        if pa.types.is_integer(kind):
            return _integers(operator, left, right, kind)
        if pa.types.is_decimal(kind):
            return _decimals(operator, as_decimal(left), as_decimal(right), kind)
    except pa.ArrowInvalid as error:
        raise NotEvaluable("arithmetic overflows") from error
    if any(pa.types.is_float32(each.type) for each in (left, right)):
        raise NotEvaluable("arithmetic that mixes FLOAT with another type depends on settings")
    return _floating(operator, to_double(left), to_double(right))


def _day_moved(operator: str, left: pa.Array, right: pa.Array) -> pa.Array:
    if operator == "-":
        return days_later(left, pc.negate_checked(right.cast(pa.int64())))
    return days_later(left, right) if pa.types.is_date32(left.type) else days_later(right, left)


def _integers(operator: str, left: pa.Array, right: pa.Array, kind: pa.DataType) -> pa.Array:
    left, right = left.cast(kind), right.cast(kind)
    if operator != "%":
        return _CHECKED[operator](left, right)
    _refuse_zero(left, right)
    # The least number and -1 leave 0, which NumPy counts with as well; the sign is that of the dividend.
    values = np.fmod(left.fill_null(0).to_numpy(zero_copy_only=False), right.fill_null(1).to_numpy(zero_copy_only=False))
    return pa.array(values, kind, mask=pc.or_(left.is_null(), right.is_null()).to_numpy(zero_copy_only=False))


def _decimals(operator: str, left: pa.Array, right: pa.Array, kind: pa.Decimal128Type) -> pa.Array:
    a, b = left.type, right.type
    digits = a.precision + b.precision if operator == "*" else max(a.precision - a.scale, b.precision - b.scale) + max(a.scale, b.scale)
    if operator in _CHECKED and digits < MOST_DIGITS:
        return _CHECKED[operator](left, right)
    return combined(operator, left, right, kind)


def _floating(operator: str, left: pa.Array, right: pa.Array) -> pa.Array:
    if operator in _FLOATING:
        return _FLOATING[operator](left, right)
    _refuse_zero(left, right)
    if operator == "/":
        return pc.divide(left, right)
    with np.errstate(invalid="ignore"):
        values = np.fmod(left.fill_null(0.0).to_numpy(zero_copy_only=False), right.fill_null(1.0).to_numpy(zero_copy_only=False))
    return pa.array(values, left.type, mask=pc.or_(left.is_null(), right.is_null()).to_numpy(zero_copy_only=False))


def _refuse_zero(dividend: pa.Array, divisor: pa.Array) -> None:
    """A zero divisor is NULL or an error, by a setting; of NULL it is NULL in any case."""
    if pc.any(pc.and_(pc.equal(divisor, 0), dividend.is_valid())).as_py():
        raise NotEvaluable("a division by zero depends on settings")


def negated(array: pa.Array) -> pa.Array:
    """Return the negative of numbers. Raises NotEvaluable: the least integer has none."""
    if pa.types.is_decimal(array.type):
        values, nulls = _kept_digits(array)
        return decimals_of(-values, nulls, array.type)
    try:
        return (pc.negate_checked if pa.types.is_integer(array.type) else pc.negate)(array)
    except pa.ArrowInvalid as error:
        raise NotEvaluable("the negative of an integer overflows") from error


def absolute(array: pa.Array) -> pa.Array:
    """Return magnitudes. Raises NotEvaluable: that of the least integer has no integer of its type."""
    if pa.types.is_decimal(array.type):
        values, nulls = _kept_digits(array)
        return decimals_of(abs(values), nulls, array.type)
    try:
        return pc.abs_checked(array)
    except pa.ArrowInvalid as error:
        raise NotEvaluable("the magnitude of an integer overflows") from error


def _kept_digits(array: pa.Array) -> tuple[Whole, BooleanArray]:
    """Spark rounds to 34 digits where it changes a sign, whatever the type has."""
    values, nulls = unscaled(array)
    if np.any(abs(values) >= 10**_SIGN_DIGITS):
        raise NotEvaluable("the sign of a decimal of more than 34 digits")
    return values, nulls
