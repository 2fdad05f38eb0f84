"""Casts that Spark makes in the same way whatever the settings: each value fits the other type. Others are left to Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.arithmetic import is_exact, to_double
from imp_driver.dataflow.expression.dates import check_years, to_dates
from imp_driver.dataflow.expression.decimals import unscaled, with_type
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.dataflow.expression.rounding import integers_of
from imp_driver.values.codes import is_string
from imp_driver.values.decimal_types import PLAIN_SCALE
from imp_driver.values.types import LOCAL


def cast_as_spark(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return values of another type. Raises NotEvaluable where one does not fit, or the cast is Spark's own."""
    source = array.type
    if source == kind:
        return array
    if pa.types.is_null(source):
        return pa.nulls(len(array), kind)
    found = None
    if pa.types.is_string(kind):
        found = _as_text(array)
    elif pa.types.is_signed_integer(kind):
        found = _as_integer(array, kind)
    elif pa.types.is_decimal128(kind) and is_exact(source):
        found = with_type(array, kind)
    elif pa.types.is_float64(kind) and (is_exact(source) or pa.types.is_floating(source)):
        found = to_double(array)
    elif pa.types.is_float32(kind) and pa.types.is_float64(source):
        found = array.cast(kind, safe=False)
    elif pa.types.is_float64(kind) and is_string(source):
        found = _special(array)
    elif pa.types.is_date32(kind) and pa.types.is_timestamp(source) and source.tz is None and source.unit == "us":
        found = to_dates(array)
    elif pa.types.is_date32(source) and kind == LOCAL:
        check_years(array)
        found = array.cast(kind)
    elif pa.types.is_boolean(kind) and pa.types.is_signed_integer(source):
        found = pc.not_equal(array, 0)
    if found is None:
        raise NotEvaluable(f"a cast of {source} to {kind} is Spark's")
    return found


def _as_text(array: pa.Array) -> pa.Array | None:
    source = array.type
    if is_string(source):
        return array.cast(pa.string())
    if pa.types.is_date32(source):
        check_years(array)
        return array.cast(pa.string())
    if pa.types.is_boolean(source):
        return pc.if_else(array, "true", "false")
    if pa.types.is_signed_integer(source):
        return array.cast(pa.string())
    if pa.types.is_decimal128(source) and source.scale <= PLAIN_SCALE:
        return pa.array([None if each is None else f"{each:f}" for each in array.to_pylist()], pa.string())
    return None


def _special(array: pa.Array) -> pa.Array | None:
    """What no literal of SQL stands for is written as a cast of its name."""
    return array.cast(pa.float64()) if set(pc.unique(array).to_pylist()) <= {"NaN", "Infinity", "-Infinity", None} else None


def _as_integer(array: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Digits behind the point are cut off."""
    source = array.type
    if pa.types.is_boolean(source) or pa.types.is_signed_integer(source):
        try:
            return array.cast(kind)
        except pa.ArrowInvalid as error:
            raise NotEvaluable(f"a value exceeds {kind}") from error
    if pa.types.is_decimal128(source):
        values, nulls = unscaled(array)
        cut = abs(values) // 10**source.scale
        return integers_of(np.where(values < 0, -cut, cut), nulls, kind)
    if pa.types.is_float64(source):
        try:
            return pc.trunc(array).cast(kind)
        except pa.ArrowInvalid as error:
            raise NotEvaluable(f"a double beyond {kind}") from error
    return None
