"""Rounding of numbers to places, and down or up to whole ones, as Spark does."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.decimals import Whole, decimals_of, rounded_quotient, unscaled
from imp_driver.dataflow.expression.refusal import NotEvaluable

_EVERY_DIGIT = Context(prec=1_200)
_CERTAIN_DIGITS = 15
"""Of a double: a decimal of so many digits is what Java writes for it."""


def rounded(array: pa.Array, places: int, kind: pa.DataType, *, to_even: bool) -> pa.Array:
    """Return numbers rounded to places, halves away from zero or to even.

    Raises NotEvaluable on overflow and where a double is near a half.

    Args:
        kind: type of the result, as ``function_type`` gives it.
    """
    if pa.types.is_floating(array.type):
        return _rounded_doubles(array, places, to_even=to_even)
    values, nulls = unscaled(array)
    scale = array.type.scale if pa.types.is_decimal(array.type) else 0
    if places < scale:
        values = _nearest(values, 10 ** (scale - places), to_even=to_even)
        # Negative places are put back as zeros before the point.
        values = values * 10 ** max(-places, 0)
    if pa.types.is_decimal(kind):
        return decimals_of(values, nulls, kind)
    return integers_of(values, nulls, kind)


def integers_of(values: Whole, nulls: np.typing.NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """Return integers of a type. Raises NotEvaluable where one does not fit."""
    try:
        return pa.array([None if null else value for value, null in zip(values.tolist(), nulls.tolist(), strict=True)], kind)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise NotEvaluable(f"a value exceeds {kind}") from error


def _nearest(values: Whole, unit: int, *, to_even: bool) -> Whole:
    if not to_even:
        return rounded_quotient(values, unit)
    below, rest = values // unit, values % unit
    is_up = (2 * rest > unit) | ((2 * rest == unit) & (below % 2 == 1))
    found: Whole = below + is_up.astype(object)
    return found


def _rounded_doubles(array: pa.Array, places: int, *, to_even: bool) -> pa.Array:
    """Spark rounds the digits that Java writes for a double: certain where its neighbours are rounded alike, or if they are few."""
    if not pa.types.is_float64(array.type):
        raise NotEvaluable("FLOAT is rounded by the digits that Java writes for it")
    mode = ROUND_HALF_EVEN if to_even else ROUND_HALF_UP
    return pa.array([None if each is None else _rounded_double(each, places, mode) for each in array.to_pylist()], pa.float64())


def _rounded_double(value: float, places: int, mode: str) -> float:
    if not math.isfinite(value):
        return value
    exact = Decimal(value)
    found = _at_places(exact, places, mode)
    if len(exact.as_tuple().digits) > _CERTAIN_DIGITS:
        neighbours = (math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
        if any(not math.isfinite(each) or _at_places(Decimal(each), places, mode) != found for each in neighbours):
            raise NotEvaluable("a double too near to a half to be rounded in process")
    return float(found) + 0.0


def _at_places(value: Decimal, places: int, mode: str) -> Decimal:
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and -exponent <= places:
        return value
    return value.quantize(Decimal(1).scaleb(-places), rounding=mode, context=_EVERY_DIGIT)


def whole(array: pa.Array, kind: pa.DataType, *, is_up: bool) -> pa.Array:
    """Return the whole numbers next below, or above. Raises NotEvaluable for doubles beyond 64 bits."""
    if pa.types.is_decimal(array.type):
        values, nulls = unscaled(array)
        unit = 10**array.type.scale
        return decimals_of(-(-values // unit) if is_up else values // unit, nulls, kind)
    if pa.types.is_integer(array.type):
        return array.cast(kind)
    try:
        return (pc.ceil if is_up else pc.floor)(array).cast(kind)
    except pa.ArrowInvalid as error:
        raise NotEvaluable("a double beyond 64 bits") from error


def signs(doubles: pa.Array) -> pa.Array:
    """Return -1, 0 or 1 as doubles; NaN and zeros as they are."""
    values = doubles.fill_null(0.0).to_numpy(zero_copy_only=False)
    found = np.where((values == 0) | np.isnan(values), values, np.copysign(1.0, values))
    return pa.array(found, mask=doubles.is_null().to_numpy(zero_copy_only=False))
