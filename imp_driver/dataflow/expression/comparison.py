"""Comparison of columns exactly as Spark decides (IMP paper section 5.2.3), or not at all."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.arithmetic import NotEvaluable, is_exact, to_double
from imp_driver.dataflow.expression.dates import date_of_text
from imp_driver.dataflow.expression.decimals import as_decimal, rescaled, unscaled, with_type
from imp_driver.values.codes import Codec, is_string
from imp_driver.values.decimal_types import MOST_DIGITS, compared_type

_COMPARE = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_FLOAT32_WHOLE = 2**24


def compare(operator: str, left: pa.Array, right: pa.Array, *, is_certain: bool = True) -> pa.Array:
    """Return booleans, NULL for unknown. Raises NotEvaluable where Spark would cast in a way of its own.

    Args:
        right: of as many values as ``left``, or of one, with which all are compared.
        is_certain: whether the types of decimals are Spark's, not only their values.
    """
    if operator == "<=>":
        equal = compare("=", left, right, is_certain=is_certain).fill_null(False)
        return pc.or_(equal, pc.and_(pc.is_null(left), pc.is_null(right)))
    if pa.types.is_null(left.type) or pa.types.is_null(right.type):
        return pa.nulls(len(left), pa.bool_())
    left, right = _common(left, right, is_certain=is_certain)
    return _COMPARE[operator](left, right[0] if len(right) == 1 else right)


def _common(left: pa.Array, right: pa.Array, *, is_certain: bool) -> tuple[pa.Array, pa.Array]:
    """Bring two operands to one type whose Arrow order is Spark's. Raises NotEvaluable where Spark would cast otherwise."""
    a, b, types = left.type, right.type, pa.types
    if is_string(a) and is_string(b):
        return left.cast(pa.large_string()), right.cast(pa.large_string())
    if types.is_boolean(a) and types.is_boolean(b):
        return left.cast(pa.int8()), right.cast(pa.int8())
    if types.is_date32(a) and (types.is_date32(b) or is_string(b)):
        return left, right if types.is_date32(b) else _dates(right)
    if is_string(a) and types.is_date32(b):
        return _dates(left), right
    if types.is_timestamp(a) and types.is_timestamp(b) and (a.tz is None) == (b.tz is None):
        return _microseconds(left), _microseconds(right)
    if types.is_signed_integer(a) and types.is_signed_integer(b):
        return left.cast(pa.int64()), right.cast(pa.int64())
    if is_exact(a) and is_exact(b):
        return _decimals(as_decimal(left), as_decimal(right), is_certain=is_certain)
    if (types.is_floating(a) or is_exact(a)) and (types.is_floating(b) or is_exact(b)):
        _refuse_rounded_integers(left, right)
        _refuse_rounded_integers(right, left)
        return _float_codes(left), _float_codes(right)
    raise NotEvaluable(f"comparing {a} with {b} needs a cast of Spark's")


def _dates(texts: pa.Array) -> pa.Array:
    """Read a constant text beside dates as Spark does."""
    values = pc.unique(texts).to_pylist()
    day = date_of_text(values[0]) if len(values) == 1 and values[0] is not None else None
    if day is None:
        raise NotEvaluable("a text beside a date is not read in process unless it is written as YYYY-MM-DD")
    return pa.repeat(pa.scalar(day, pa.date32()), len(texts))


def _microseconds(array: pa.Array) -> pa.Array:
    if array.type.unit != "us":
        raise NotEvaluable(f"a timestamp in {array.type.unit} is not compared in process")
    return array.view(pa.int64())


def _decimals(left: pa.Array, right: pa.Array, *, is_certain: bool) -> tuple[pa.Array, pa.Array]:
    a, b = left.type, right.type
    if is_certain and max(a.precision - a.scale, b.precision - b.scale) + max(a.scale, b.scale) > MOST_DIGITS:
        return _rounded(left, right)
    # A decimal parameter has up to 20 digits before the point whatever its value; Spark then may round to what is left of 38.
    least = 0 if is_certain else 20
    integral, scale = max(a.precision - a.scale, b.precision - b.scale, least), max(a.scale, b.scale)
    if integral + scale > MOST_DIGITS:
        raise NotEvaluable("the common type of two decimals exceeds 38 digits")
    common = pa.decimal128(integral + scale, scale)
    return left.cast(common), right.cast(common)


def _rounded(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Spark gives up places of decimals whose common type is beyond 38 digits, or digits before the point, by a setting.

    Raises NotEvaluable where that matters.
    """
    common = compared_type(left.type, right.type)
    one, other = with_type(left, common), with_type(right, common)
    scale = max(left.type.scale, right.type.scale)
    exact = [rescaled(unscaled(each)[0], each.type.scale, scale) for each in (left, right)]
    cut = [unscaled(each)[0] for each in (one, other)]
    if np.any(((exact[0] < exact[1]) != (cut[0] < cut[1])) | ((exact[0] == exact[1]) != (cut[0] == cut[1]))):
        raise NotEvaluable("two decimals are compared by places that Spark gives up, by a setting")
    return one, other


def _refuse_rounded_integers(whole: pa.Array, floating: pa.Array) -> None:
    """Whether Spark compares an integer with a FLOAT as FLOAT or DOUBLE depends on ANSI mode; the same for small integers."""
    if not (pa.types.is_integer(whole.type) and pa.types.is_float32(floating.type)):
        return
    magnitudes = np.abs(whole.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64))
    if np.any(magnitudes > _FLOAT32_WHOLE):
        raise NotEvaluable("comparing a large integer with FLOAT depends on settings")


def _float_codes(array: pa.Array) -> pa.Array:
    return Codec(pa.float64()).canonical(to_double(array))
