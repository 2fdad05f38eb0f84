"""Conservative values of one expression over many groups: each lies in [lower, upper], or is NULL, as the flags allow.

Invariant: whatever value Spark computes for a group, in any order of summation, is inside. Bounds of numbers, booleans (0/1), dates (days)
and timestamps (microseconds) are float64, rounded outward where not representable; a NaN bound means Spark's NaN, the greatest number.
Bounds of strings are UTF-8 bytes. Decimals are held as unscaled integers, so that their comparison is exact up to 2**53.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.values.codes import TOP_STRING, BooleanArray, CodeArray, FloatArray, floats_of, is_string
from imp_driver.values.expressions import Value
from imp_driver.values.widening import INTEGER_DIGITS, least_bits

EXACT_LIMIT = 2.0**53
"""Below this magnitude every whole number is a double of its own."""
_SINGLE_LIMIT = 2.0**24
_MAXIMUM_DIGITS = 38
# Spark never reduces the scale of a too wide decimal result below this.
_KEPT_SCALE = 6


class Family(Enum):
    """Types that Spark compares with one another without a cast that could change the outcome."""

    NULL = "untyped NULL"
    NUMBER = "numbers"
    STRING = "strings"
    BOOLEAN = "booleans"
    DATE = "dates"
    TIMESTAMP = "timestamps"
    TIMESTAMP_NTZ = "timestamps without time zone"
    UNKNOWN = "anything"


@dataclass(frozen=True, slots=True)
class NumberForm:
    """Spark's type of a number that is no float.

    Attributes:
        integral: digits before the point in the type, the most it may be where the type is not certain.
        scale: power of ten by which bounds are multiplied.
        bits: width of an integer type; 0 for decimals.
    """

    integral: int
    scale: int
    bits: int


@dataclass(frozen=True, slots=True)
class Interval:
    """``form`` is None for floats and for families other than numbers; ``single`` marks float32, whose arithmetic rounds earlier."""

    family: Family
    lower: npt.NDArray[Any]
    upper: npt.NDArray[Any]
    may_be_null: BooleanArray
    may_be_value: BooleanArray
    form: NumberForm | None = None
    single: bool = False


def outward(values: FloatArray, inexact: BooleanArray | bool = True) -> tuple[FloatArray, FloatArray]:
    """Return neighbours below and above, equal to the value where it is exact."""
    if not np.any(inexact):
        return values, values
    with np.errstate(all="ignore"):
        lower = np.where(inexact, np.nextafter(values, -np.inf), values)
        upper = np.where(inexact, np.nextafter(values, np.inf), values)
    return lower, upper


def unknown(size: int) -> Interval:
    """Return values of which nothing is known."""
    possible = np.ones(size, dtype=bool)
    return Interval(Family.UNKNOWN, np.full(size, -np.inf), np.full(size, np.nan), possible, possible)


def widened(interval: Interval, where: BooleanArray) -> Interval:
    """Return the interval with anything of its family possible at ``where``."""
    if not where.any():
        return interval
    bottom, top = (b"", TOP_STRING) if interval.family is Family.STRING else (-np.inf, np.nan)
    lower, upper = interval.lower.copy(), interval.upper.copy()
    lower[where], upper[where] = bottom, top
    return replace(interval, lower=lower, upper=upper, may_be_null=interval.may_be_null | where, may_be_value=interval.may_be_value | where)


def form_of(data_type: pa.DataType) -> NumberForm | None:
    """Return the form of an Arrow type, None for floats and what is no number."""
    if pa.types.is_integer(data_type):
        return NumberForm(INTEGER_DIGITS[data_type.bit_width], 0, data_type.bit_width)
    if pa.types.is_decimal(data_type):
        return NumberForm(data_type.precision - data_type.scale, data_type.scale, 0)
    return None


def family_of(data_type: pa.DataType) -> Family:
    """Return the family of an Arrow type."""
    types = pa.types
    if types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type):
        return Family.NUMBER
    if is_string(data_type):
        return Family.STRING
    if types.is_boolean(data_type):
        return Family.BOOLEAN
    if types.is_date32(data_type):
        return Family.DATE
    if types.is_timestamp(data_type):
        return Family.TIMESTAMP_NTZ if data_type.tz is None else Family.TIMESTAMP
    return Family.UNKNOWN


def from_codes(data_type: pa.DataType, codes: CodeArray, nulls: BooleanArray) -> Interval:
    """Return the exact values behind codes of ``data_type``; codes at NULLs are ignored."""
    family = family_of(data_type)
    single = bool(pa.types.is_float32(data_type))
    if family is Family.STRING:
        return Interval(family, codes, codes, nulls, ~nulls)
    if pa.types.is_floating(data_type):
        values = floats_of(codes.astype(np.int64, copy=False))
        return Interval(family, values, values, nulls, ~nulls, single=single)
    values = codes.astype(np.float64)
    lower, upper = outward(values, np.abs(values) >= EXACT_LIMIT)
    return Interval(family, lower, upper, nulls, ~nulls, form=form_of(data_type))


def _point(family: Family, bound: Any, form: NumberForm | None = None, *, exact: bool = True) -> Interval:
    if family is Family.STRING:
        lower = np.empty(1, dtype=object)
        lower[0] = bound
        upper = lower
    else:
        lower, upper = outward(np.array([bound], dtype=np.float64), not exact)
    return Interval(family, lower, upper, np.zeros(1, dtype=bool), np.ones(1, dtype=bool), form=form)


def constant(value: Value) -> Interval:
    """Return a constant as an interval of one entry, which broadcasts."""
    if value is None:
        return Interval(Family.NULL, np.zeros(1), np.zeros(1), np.ones(1, dtype=bool), np.zeros(1, dtype=bool))
    if isinstance(value, bool):
        return _point(Family.BOOLEAN, float(value))
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        # A literal may be TINYINT to BIGINT; the narrower width overflows first, the wider has more digits: each is the careful choice.
        return _point(Family.NUMBER, float(value), NumberForm(20, 0, least_bits(value)), exact=abs(value) <= EXACT_LIMIT)
    if isinstance(value, (int, Decimal)):
        return _decimal_constant(Decimal(value))
    if isinstance(value, float):
        return _point(Family.NUMBER, value + 0.0)
    if isinstance(value, str):
        return _point(Family.STRING, value.encode("utf-8", "surrogatepass"))
    if isinstance(value, datetime.datetime):
        naive = value.tzinfo is None
        epoch = datetime.datetime(1970, 1, 1, tzinfo=None if naive else datetime.UTC)
        microseconds = (value - epoch) // datetime.timedelta(microseconds=1)
        family = Family.TIMESTAMP_NTZ if naive else Family.TIMESTAMP
        return _point(family, float(microseconds), exact=abs(microseconds) <= EXACT_LIMIT)
    return _point(Family.DATE, float((value - datetime.date(1970, 1, 1)).days))


def _decimal_constant(value: Decimal) -> Interval:
    if not value.is_finite():
        return unknown(1)
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits))) if digits else 0
    scale = -int(exponent)
    while unscaled and scale > 0 and unscaled % 10 == 0:
        unscaled, scale = unscaled // 10, scale - 1
    if scale < 0:
        unscaled, scale = unscaled * 10**-scale, 0
    if unscaled == 0:
        scale = 0
    if scale > _MAXIMUM_DIGITS or unscaled >= 10**_MAXIMUM_DIGITS:
        return unknown(1)
    # A bound parameter is decimal(38, 18) whatever its value, hence 20 digits before the point.
    form = NumberForm(max(20, len(str(unscaled)) - scale), scale, 0)
    return _point(Family.NUMBER, float(-unscaled if sign else unscaled), form, exact=unscaled <= EXACT_LIMIT)


def scaled(interval: Interval, factor_digits: int) -> tuple[FloatArray, FloatArray]:
    """Return the bounds times 10**factor_digits, rounded outward."""
    if factor_digits == 0:
        return interval.lower, interval.upper
    factor = 10.0 ** abs(factor_digits)
    with np.errstate(all="ignore"):
        if factor_digits < 0:
            return outward(interval.lower / factor)[0], outward(interval.upper / factor)[1]
        lower, upper = interval.lower * factor, interval.upper * factor
    # 10.0**k is itself rounded for k > 22; one neighbour for that and one for the product.
    for _ in range(1 if factor_digits <= 22 else 3):
        lower = outward(lower, (np.abs(lower) >= EXACT_LIMIT) | (factor_digits > 22))[0]
        upper = outward(upper, (np.abs(upper) >= EXACT_LIMIT) | (factor_digits > 22))[1]
    return lower, upper


def aligned(left: Interval, right: Interval) -> tuple[Interval, Interval, int]:
    """Bring two numbers to one scale; return them and the scale (0 when either is a float)."""
    left_scale = left.form.scale if left.form else 0
    right_scale = right.form.scale if right.form else 0
    scale = max(left_scale, right_scale) if left.form and right.form else 0
    if left_scale != scale:
        lower, upper = scaled(left, scale - left_scale)
        left = replace(left, lower=lower, upper=upper)
    if right_scale != scale:
        lower, upper = scaled(right, scale - right_scale)
        right = replace(right, lower=lower, upper=upper)
    return left, right, scale


def comparable(left: Interval, right: Interval) -> bool:
    """Say whether Spark compares the two by their values: same family, and a common type that holds the digits in use."""
    if left.family is not right.family or left.family is Family.UNKNOWN:
        return False
    if left.form is None or right.form is None:
        # Integers against FLOAT are compared as FLOAT or as DOUBLE, depending on ANSI mode.
        return not (_rounds_to_single(left, right) or _rounds_to_single(right, left))
    return _MAXIMUM_DIGITS - max(left.form.integral, right.form.integral) >= max(left.form.scale, right.form.scale)


def _rounds_to_single(whole: Interval, floating: Interval) -> bool:
    if whole.form is None or not whole.form.bits or not floating.single:
        return False
    present = whole.may_be_value
    return bool(np.any(present & ~((whole.lower >= -_SINGLE_LIMIT) & (whole.upper <= _SINGLE_LIMIT))))


def arithmetic(operator: str, left: Interval, right: Interval) -> Interval:
    """Return ``left operator right`` for + - * /, unknown on any risk of overflow and for NaN or infinite operands."""
    (size,) = np.broadcast_shapes(left.may_be_null.shape, right.may_be_null.shape)
    if left.family is Family.NULL or right.family is Family.NULL:
        return replace(constant(None), may_be_null=np.ones(size, dtype=bool), may_be_value=np.zeros(size, dtype=bool))
    if left.family is not Family.NUMBER or right.family is not Family.NUMBER or left.single or right.single:
        return unknown(size)
    if operator == "/":
        return _quotient(left, right, size)
    if operator == "*":
        scale = left.form.scale + right.form.scale if left.form and right.form else 0
        if not (left.form and right.form):
            left, right, _ = aligned(left, right)
    else:
        left, right, scale = aligned(left, right)
    form = _result_form(operator, left.form, right.form, scale) if left.form and right.form else None
    lower, upper = _bounds(operator, left, right, is_integer=form is not None)
    if form is not None and form.bits == 0 and scale > _KEPT_SCALE:
        slack = 10.0 ** (scale - _KEPT_SCALE)
        lower, upper = outward(lower - slack)[0], outward(upper + slack)[1]
    limit = _limit(form)
    with np.errstate(invalid="ignore"):
        risky = ~((np.abs(lower) < limit) & (np.abs(upper) < limit))
    null = np.broadcast_to(left.may_be_null | right.may_be_null, (size,))
    value = np.broadcast_to(left.may_be_value & right.may_be_value, (size,))
    result = Interval(Family.NUMBER, np.broadcast_to(lower, (size,)), np.broadcast_to(upper, (size,)), null, value, form=form)
    return widened(result, value & np.broadcast_to(risky, (size,)))


def _quotient(left: Interval, right: Interval, size: int) -> Interval:
    """Divide doubles and integers; decimals are rounded by rules of their own, and a divisor that may be 0 says nothing."""
    if any(each.form is not None and not each.form.bits for each in (left, right)):
        return unknown(size)
    with np.errstate(all="ignore"):
        quotients = [a / b for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
        # Rounding to nearest keeps the order, and it is what Spark does.
        lower, upper = np.minimum.reduce(quotients), np.maximum.reduce(quotients)
        risky = ~(np.isfinite(lower) & np.isfinite(upper) & ((right.lower > 0) | (right.upper < 0)))
    null = np.broadcast_to(left.may_be_null | right.may_be_null, (size,))
    value = np.broadcast_to(left.may_be_value & right.may_be_value, (size,))
    result = Interval(Family.NUMBER, np.broadcast_to(lower, (size,)), np.broadcast_to(upper, (size,)), null, value)
    return widened(result, value & np.broadcast_to(risky, (size,)))


def _result_form(operator: str, left: NumberForm, right: NumberForm, scale: int) -> NumberForm:
    if left.bits and right.bits:
        bits = max(left.bits, right.bits)
        return NumberForm(INTEGER_DIGITS[bits], 0, bits)
    integral = left.integral + right.integral + 1 if operator == "*" else max(left.integral, right.integral) + 1
    return NumberForm(min(integral, _MAXIMUM_DIGITS - min(scale, _KEPT_SCALE)), scale, 0)


def _limit(form: NumberForm | None) -> float:
    """Return the magnitude from which on a result may overflow."""
    if form is None:
        return float(np.finfo(np.float64).max)
    if form.bits:
        return 2.0 ** (form.bits - 1)
    # A constant may have brought more scale than its digits show, and Spark then gives up digits before the point.
    return 10.0 ** (min(form.integral, _MAXIMUM_DIGITS - _KEPT_SCALE) + form.scale) * (1 - 1e-9)


def _bounds(operator: str, left: Interval, right: Interval, *, is_integer: bool) -> tuple[FloatArray, FloatArray]:
    with np.errstate(all="ignore"):
        if operator == "+":
            lower, upper = left.lower + right.lower, left.upper + right.upper
        elif operator == "-":
            lower, upper = left.lower - right.upper, left.upper - right.lower
        elif operator == "*":
            products = [a * b for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
            lower, upper = np.minimum.reduce(products), np.maximum.reduce(products)
        else:
            raise ValueError(f"arithmetic operator must be one of + - * /, not {operator!r}")
    exact = np.abs(lower) < EXACT_LIMIT if is_integer else np.zeros(1, dtype=bool)
    exact_upper = np.abs(upper) < EXACT_LIMIT if is_integer else np.zeros(1, dtype=bool)
    return outward(lower, ~exact)[0], outward(upper, ~exact_upper)[1]
