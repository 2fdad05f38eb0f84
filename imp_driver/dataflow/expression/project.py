"""Projection of changed rows (IMP paper section 5.2.2): expressions as columns of the asked types, exactly as in Spark or not at all."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from imp_driver.dataflow.expression.arithmetic import NotEvaluable, is_exact
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.values.codes import is_string
from imp_driver.values.expressions import Expression

__all__ = ["NotEvaluable", "cast", "project"]


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
