"""Window functions over rows above groups. Sums of DOUBLE that depend on an order are Spark's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import value_of
from imp_driver.answer.regroup import regrouped
from imp_driver.answer.rounding import check_apart_in_order, check_unread, rounded_in, spread_of, with_spreads
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.window.function import in_order, said
from imp_driver.dataflow.window.whole import places_of
from imp_driver.plan.nodes import Aggregate, Attribute, Window
from imp_driver.plan.window_functions import OverOrder, OverPartition, window_function
from imp_driver.values.codes import FloatArray, one_array
from imp_driver.values.refusal import Refused


def windowed(plan: Window, rows: pa.Table) -> pa.Table:
    """Return the rows of the plan's input with one more column per function. Raises NotEvaluable."""
    found = rows
    for attribute, node in zip(plan.added, plan.functions, strict=True):
        column = _of(plan, rows, attribute, node)
        found = found.append_column(attribute.identifier, column.values)
        if column.spread is not None:
            found = with_spreads(found, {attribute.identifier: column.spread})
    return found


@dataclass(frozen=True, slots=True)
class _Column:
    """``spread``: per row, of a rounded sum of doubles; None for exact values."""

    values: pa.Array
    spread: FloatArray | None = None


def _of(plan: Window, rows: pa.Table, attribute: Attribute, node: exp.Window) -> _Column:
    try:
        found = window_function(attribute.identifier, node)
    except Refused as refused:
        raise NotEvaluable(refused.detail) from refused
    check_unread(rows, found.partition, "partitions by")
    if isinstance(found, OverPartition):
        return _of_partition(plan, rows, attribute, found)
    return _Column(_over_order(rows, found))


def _of_partition(plan: Window, rows: pa.Table, attribute: Attribute, found: OverPartition) -> _Column:
    keys = tuple(Attribute(f"partition_{place}", "partition", None, nullable=True) for place in range(len(found.partition)))
    groups = regrouped(Aggregate(plan.child, keys, found.partition, (attribute,), (found.aggregate,)), rows)
    own = [value_of(rows, key) for key in found.partition]
    places = places_of([one_array(groups.column(key.identifier)) for key in keys], own, rows.num_rows)
    name = attribute.identifier
    spread = spread_of(groups, name)[places] if name in rounded_in(groups) else None
    return _Column(one_array(groups.column(name)).take(pa.array(places)), spread)


def _over_order(rows: pa.Table, found: OverOrder) -> pa.Array:
    check_unread(rows, found.values, "a running aggregate, or a place in an order, of")
    arrays = {name: value_of(rows, each) for name, each in found.columns.items()}
    # Rows without columns have no count.
    read = pa.table({**arrays, "": pa.array(np.zeros(rows.num_rows, dtype=np.int8))})
    ordered = in_order(found.function, read)
    check_apart_in_order(rows, found.keys, ordered.places, ordered.is_first)
    return said(found.function, read, ordered)
