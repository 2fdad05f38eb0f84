"""Window functions over rows that are there: the partitions side by side, each in its order, every function over its frames.

Only what does not hang on the order of rows that tie: numbers of rows, and frames by ROWS, need an ORDER BY that tells all rows of a
partition apart. Sums of DOUBLE that depend on an order are Spark's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from imp_driver.answer.columns import value_of
from imp_driver.answer.frames import Frames, Ordered, frames_of, rows_to_here
from imp_driver.answer.order import SortKey, numbers_of
from imp_driver.answer.regroup import regrouped
from imp_driver.answer.rounding import check_apart_in_order, check_unread, rounded_in, spread_of, with_spreads
from imp_driver.answer.running import aggregated
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.project import cast
from imp_driver.dataflow.ranks import numbered
from imp_driver.parse.functions import RANKS
from imp_driver.plan.convert import constant
from imp_driver.plan.nodes import Aggregate, Attribute, Window
from imp_driver.values.codes import one_array

_AGGREGATES = (exp.Sum, exp.Count, exp.Avg, exp.Min, exp.Max)
_VALUES = (exp.FirstValue, exp.LastValue, exp.First, exp.Last, exp.NthValue)


def windowed(plan: Window, rows: pa.Table) -> pa.Table:
    """Return the rows of the plan's input with one more column per function. Raises NotEvaluable."""
    found = rows
    for attribute, function in zip(plan.added, plan.functions, strict=True):
        found = _with(found, _of(plan, rows, attribute, function), attribute.identifier)
    return found


@dataclass(frozen=True, slots=True)
class _Column:
    """``spread``: per row, of a rounded sum of doubles; None for exact values."""

    values: pa.Array
    spread: pa.Array | None = None


def _with(rows: pa.Table, column: _Column, name: str) -> pa.Table:
    rows = rows.append_column(name, column.values)
    return rows if column.spread is None else with_spreads(rows, {name: column.spread.to_numpy(zero_copy_only=False)})


def _of(plan: Window, rows: pa.Table, attribute: Attribute, function: exp.Window) -> _Column:
    known = {"this", "partition_by", "order", "spec", "over"}
    if any(value for name, value in function.args.items() if name not in known):
        raise NotEvaluable("a window of a form that is not computed in process")
    partition = function.args.get("partition_by") or []
    check_unread(rows, partition, "partitions by")
    order = function.args.get("order")
    keys = order.expressions if isinstance(order, exp.Order) else []
    spec = function.args.get("spec")
    if isinstance(function.this, (*_AGGREGATES, exp.Filter)) and (not keys if spec is None else _is_unbounded(spec)):
        return _of_whole(plan, rows, attribute, partition, function.this)
    ordered = _ordered(rows, partition, keys)
    return _Column(ordered.back(_in_order(rows, ordered, function.this, spec)))


def _is_unbounded(spec: exp.Expr) -> bool:
    return spec.args.get("start") == "UNBOUNDED" and spec.args.get("end") == "UNBOUNDED"


def _of_whole(plan: Window, rows: pa.Table, attribute: Attribute, partition: Sequence[exp.Expr], function: exp.Expr) -> _Column:
    """Return what an aggregate says of each row's partition."""
    keys = tuple(Attribute(f"partition_{place}", "partition", None, nullable=True) for place in range(len(partition)))
    groups = regrouped(Aggregate(plan.child, keys, tuple(partition), (attribute,), (function,)), rows)
    values = [value_of(rows, key) for key in partition]
    both = [pa.concat_arrays([one_array(groups.column(key.identifier)), own]) for key, own in zip(keys, values, strict=True)]
    numbers = numbered(both, groups.num_rows + rows.num_rows)
    # Of each partition the group comes first, so that its number is its place.
    places = pa.array(numbers[groups.num_rows :]) if keys else pa.array(np.zeros(rows.num_rows, dtype=np.int64))
    name = attribute.identifier
    spread = pa.array(spread_of(groups, name)).take(places) if name in rounded_in(groups) else None
    return _Column(one_array(groups.column(name)).take(places), spread)


def _ordered(rows: pa.Table, partition: Sequence[exp.Expr], keys: Sequence[exp.Expr]) -> Ordered:
    if not keys or not all(isinstance(key, exp.Ordered) and not key.args.get("with_fill") for key in keys):
        raise NotEvaluable("a window without an order")
    parts = numbered([value_of(rows, key) for key in partition], rows.num_rows)
    own = [SortKey(value_of(rows, key.this), bool(key.args.get("desc")), bool(key.args.get("nulls_first"))) for key in keys]
    ordered = Ordered.of(parts, [number for key in own for number in numbers_of(key)])
    check_apart_in_order(rows, [key.this for key in keys], ordered.places, ordered.is_first)
    return ordered


def _in_order(rows: pa.Table, ordered: Ordered, function: exp.Expr, spec: exp.Expr | None) -> pa.Array:
    """Return what a function says of each row, the rows being in order."""
    if isinstance(function, RANKS):
        return _rank(ordered, function)
    is_range = spec is None or str(spec.args.get("kind")).upper() == "RANGE"
    if is_range and isinstance(function, _AGGREGATES):
        frames = Frames(ordered, ordered.start, ordered.peers_end) if spec is None else frames_of(spec, ordered)
        return aggregated(function, _argument(rows, ordered, function), frames)
    if not ordered.is_total:
        raise NotEvaluable("a window whose order leaves rows that tie")
    match function:
        case exp.RowNumber():
            return pa.array(ordered.number + 1, pa.int32())
        case exp.Ntile():
            return _tiles(ordered, _number(function.this))
        case exp.Lag() | exp.Lead():
            return _moved(rows, ordered, function)
    frames = rows_to_here(ordered) if spec is None else frames_of(spec, ordered)
    if isinstance(function, _AGGREGATES):
        return aggregated(function, _argument(rows, ordered, function), frames)
    if isinstance(function, _VALUES):
        values = _argument(rows, ordered, function)
        assert values is not None
        return _chosen(function, values, frames)
    raise NotEvaluable(f"{function.key} of a window")


def _argument(rows: pa.Table, ordered: Ordered, function: exp.Expr) -> pa.Array | None:
    """Return the values that a function is of, in order; None where it counts rows."""
    if isinstance(function, exp.Count) and (function.expressions or isinstance(function.this, exp.Distinct)):
        raise NotEvaluable("count of several values in a window")
    if isinstance(function.this, exp.Star):
        return None
    check_unread(rows, (function,), "a running aggregate of")
    return value_of(rows, function.this).take(pa.array(ordered.places))


def _rank(ordered: Ordered, function: exp.Expr) -> pa.Array:
    size = ordered.end - ordered.start
    rank = ordered.peers_start - ordered.start
    match function:
        case exp.Rank():
            return pa.array(rank + 1, pa.int32())
        case exp.DenseRank():
            is_new = np.cumsum(ordered.is_peer_first)
            return pa.array(is_new - is_new[ordered.start] + 1 if len(is_new) else is_new, pa.int32())
        case exp.PercentRank():
            return pa.array(np.where(size > 1, rank / np.maximum(size - 1, 1), 0.0))
        case _:
            return pa.array((ordered.peers_end - ordered.start) / np.maximum(size, 1))


def _tiles(ordered: Ordered, count: int) -> pa.Array:
    """The first tiles have one row more where they are not all of one size."""
    if count < 1:
        raise NotEvaluable("ntile of no positive number")
    size = ordered.end - ordered.start
    width, wider = size // count, size % count
    number = ordered.number
    behind = wider * (width + 1)
    tile = np.where(number < behind, number // (width + 1), wider + (number - behind) // np.maximum(width, 1))
    return pa.array(tile + 1, pa.int32())


def _moved(rows: pa.Table, ordered: Ordered, function: exp.Expr) -> pa.Array:
    offset = function.args.get("offset")
    distance = 1 if offset is None else _number(offset)
    values = _argument(rows, ordered, function)
    assert values is not None
    here = np.arange(len(values))
    there = here - distance if isinstance(function, exp.Lag) else here + distance
    is_there = (there >= ordered.start) & (there < ordered.end)
    found = values.take(pa.array(np.where(is_there, there, 0), mask=~is_there))
    default = function.args.get("default")
    if default is None:
        return found
    other = cast(value_of(rows, default), values.type).take(pa.array(ordered.places))
    return pc.if_else(pa.array(is_there), found, other)


def _chosen(function: exp.Expr, values: pa.Array, frames: Frames) -> pa.Array:
    match function:
        case exp.FirstValue() | exp.First():
            place = frames.start
        case exp.LastValue() | exp.Last():
            place = frames.end - 1
        case _:
            offset = function.args.get("offset")
            number = 0 if offset is None else _number(offset)
            if number < 1:
                raise NotEvaluable("nth_value of no positive number")
            place = frames.start + number - 1
    is_there = (place >= frames.start) & (place < frames.end)
    return values.take(pa.array(np.where(is_there, place, 0), mask=~is_there))


def _number(node: exp.Expr) -> int:
    value = constant(node)
    if value is None or not isinstance(value.value, int) or isinstance(value.value, bool):
        raise NotEvaluable("a number of a window function that is not written down")
    return value.value
