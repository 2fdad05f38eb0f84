"""Projection of delta rows (IMP paper section 5.2.2): columns and arithmetic, with exactly Spark's values or not at all.

Anything whose value could depend on settings, rounding or overflow raises NotEvaluable; the caller then lets Spark compute it.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.parse.nodes import Arithmetic, Column, Constant, Expression, Value
from imp_driver.sketch.codes import Codec, is_string, one_array

EXACT_LIMIT = 2**53
_MAXIMUM_DIGITS = 38
_KEPT_SCALE = 6
_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}
_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


class NotEvaluable(Exception):
    """This expression cannot be computed in process exactly as Spark computes it."""


def project(rows: pa.Table, expressions: Iterable[tuple[Expression, pa.DataType]]) -> tuple[pa.Array, ...]:
    """Return one array per (expression, Arrow type). Raises NotEvaluable, also when a value does not fit the type exactly."""
    return tuple(cast(computed(rows, expression), data_type) for expression, data_type in expressions)


def cast(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    """Cast within a family (wider number, other string layout) without loss. Raises NotEvaluable."""
    source, types = array.type, pa.types
    if source == data_type:
        return array
    numeric = is_exact(source) and is_exact(data_type)
    floating = types.is_floating(data_type) and (types.is_floating(source) or types.is_integer(source))
    same = (is_string(source) and is_string(data_type)) or (types.is_timestamp(source) and _same_zone(source, data_type))
    if not (numeric or floating or same or types.is_null(source)):
        raise NotEvaluable(f"a value of type {source} cannot be taken for {data_type} without a cast of Spark's")
    try:
        return array.cast(data_type)
    except pa.ArrowInvalid as error:
        raise NotEvaluable(f"a value of type {source} does not fit {data_type}") from error


def _same_zone(source: pa.DataType, target: pa.DataType) -> bool:
    return pa.types.is_timestamp(target) and (source.tz is None) == (target.tz is None)


def is_exact(data_type: pa.DataType) -> bool:
    """Say whether the type is an integer or a decimal."""
    return bool(pa.types.is_signed_integer(data_type) or pa.types.is_decimal128(data_type))


def computed(rows: pa.Table, expression: Expression) -> pa.Array:
    """Return the expression's value per row, in Spark's result type for integers and floats. Raises NotEvaluable."""
    match expression:
        case Column(name):
            if name not in rows.column_names:
                raise NotEvaluable(f"the rows have no column {name!r}")
            array = one_array(rows.column(name))
            return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        case Constant(value):
            return repeated(value, rows.num_rows)
        case Arithmetic(operator, left, right) if operator in _CHECKED:
            result = _arithmetic(operator, computed(rows, left), computed(rows, right))
            if pa.types.is_decimal(result.type) and result.type.scale > _KEPT_SCALE and _has_decimal_constant(expression):
                # A bound parameter is decimal(38, 18) to Spark, so it may round the result to six places.
                raise NotEvaluable("arithmetic with a decimal constant may be rounded")
            return result
        case _:
            raise NotEvaluable(f"{type(expression).__name__} is not computed in process")


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
    if array.type.precision > 18 or array.type.scale > 22:
        raise NotEvaluable("a wide decimal is not converted to double in process")
    codes, nulls = Codec(array.type).encode(array)
    if np.any(np.abs(codes) > EXACT_LIMIT):
        raise NotEvaluable("a decimal beyond 2**53 is not converted to double in process")
    # Both operands are exact doubles, so the division rounds once, correctly.
    return pa.array(codes.astype(np.float64) / 10.0**array.type.scale, mask=nulls)


def _arithmetic(operator: str, left: pa.Array, right: pa.Array) -> pa.Array:
    if pa.types.is_null(left.type) or pa.types.is_null(right.type):
        return pa.nulls(len(left), right.type if pa.types.is_null(left.type) else left.type)
    kinds = (left.type, right.type)
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
    return {"+": pc.add, "-": pc.subtract, "*": pc.multiply}[operator](left, right)


def as_decimal(array: pa.Array) -> pa.Array:
    """Return an integer or decimal array as decimal."""
    if pa.types.is_decimal(array.type):
        return array
    return array.cast(pa.decimal128(_INTEGER_DIGITS[array.type.bit_width], 0))


def _decimal_arithmetic(operator: str, left: pa.Array, right: pa.Array) -> pa.Array:
    a, b = left.type, right.type
    if operator == "*":
        precision = a.precision + b.precision + 1
    else:
        precision = max(a.precision - a.scale, b.precision - b.scale) + max(a.scale, b.scale) + 1
    if precision > _MAXIMUM_DIGITS:
        raise NotEvaluable("a decimal result may exceed 38 digits")
    return _CHECKED[operator](left, right)


def _has_decimal_constant(expression: Expression) -> bool:
    match expression:
        case Constant(value):
            return isinstance(value, Decimal)
        case Arithmetic(_, left, right):
            return _has_decimal_constant(left) or _has_decimal_constant(right)
        case _:
            return False
