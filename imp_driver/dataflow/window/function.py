"""What a window function says of each row, over a table that has the columns which it reads.

Only what does not hang on the order of rows that tie: numbers of rows, and frames by ROWS, need an order that tells all rows of a partition
apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.project import cast
from imp_driver.dataflow.ranks import numbered
from imp_driver.dataflow.sort_keys import SortKey, numbers_of
from imp_driver.dataflow.window.frames import Frames, Ordered, frames_of
from imp_driver.dataflow.window.running import aggregated, type_of_running
from imp_driver.values.codes import one_array
from imp_driver.values.windows import Number, Running, Value, WindowFunction

_OF_TIES = (Number.RANK, Number.DENSE_RANK, Number.PERCENT_RANK, Number.CUME_DIST)
_SHARES = (Number.PERCENT_RANK, Number.CUME_DIST)


def result_type(function: WindowFunction, kinds: Mapping[str, pa.DataType]) -> pa.DataType:
    """Return Spark's type of what a function says, by the types of columns. Raises NotEvaluable."""
    argument = None if function.argument is None else kinds[function.argument]
    if isinstance(function.kind, Number):
        return pa.float64() if function.kind in _SHARES else pa.int32()
    return type_of_running(function.kind, argument) if isinstance(function.kind, Running) else argument


def in_order(function: WindowFunction, rows: pa.Table) -> Ordered:
    """Return the rows in the order of a function. Raises NotEvaluable."""
    parts = numbered([one_array(rows.column(name)) for name in function.partition], rows.num_rows)
    keys = [SortKey(one_array(rows.column(each.name)), each.descending, each.nulls_first) for each in function.order]
    return Ordered.of(parts, [number for key in keys for number in numbers_of(key)])


def said(function: WindowFunction, rows: pa.Table, ordered: Ordered) -> pa.Array:
    """Return what a function says of each row. Raises NotEvaluable."""
    return ordered.back(_said_in_order(function, rows, ordered))


def _said_in_order(function: WindowFunction, rows: pa.Table, ordered: Ordered) -> pa.Array:
    kind = function.kind
    is_of_ties = kind in _OF_TIES or (isinstance(kind, Running) and function.frame.is_range)
    if not is_of_ties and not ordered.is_total:
        raise NotEvaluable("a window whose order leaves rows that tie")
    if isinstance(kind, Number):
        return _number(kind, ordered, function.number)
    values = None if function.argument is None else one_array(rows.column(function.argument)).take(pa.array(ordered.places))
    if isinstance(kind, Running):
        return aggregated(kind, values, frames_of(function.frame, ordered))
    assert values is not None
    if kind in (Value.LAG, Value.LEAD):
        other = None if function.default is None else one_array(rows.column(function.default)).take(pa.array(ordered.places))
        return _moved(values, ordered, -function.number if kind is Value.LAG else function.number, other)
    return _chosen(kind, values, frames_of(function.frame, ordered), function.number)


def _number(kind: Number, ordered: Ordered, count: int) -> pa.Array:
    size = ordered.end - ordered.start
    rank = ordered.peers_start - ordered.start
    match kind:
        case Number.ROW_NUMBER:
            return pa.array(ordered.number + 1, pa.int32())
        case Number.NTILE:
            return _tiles(ordered, count)
        case Number.RANK:
            return pa.array(rank + 1, pa.int32())
        case Number.DENSE_RANK:
            groups = np.cumsum(ordered.is_peer_first)
            return pa.array(groups - groups[ordered.start] + 1, pa.int32())
        case Number.PERCENT_RANK:
            return pa.array(np.where(size > 1, rank / np.maximum(size - 1, 1), 0.0))
        case _:
            return pa.array((ordered.peers_end - ordered.start) / np.maximum(size, 1))


def _tiles(ordered: Ordered, count: int) -> pa.Array:
    """The first tiles have one row more where they are not all of one size."""
    size = ordered.end - ordered.start
    width, wider = size // count, size % count
    number = ordered.number
    behind = wider * (width + 1)
    tile = np.where(number < behind, number // (width + 1), wider + (number - behind) // np.maximum(width, 1))
    return pa.array(tile + 1, pa.int32())


def _moved(values: pa.Array, ordered: Ordered, distance: int, other: pa.Array | None) -> pa.Array:
    there = np.arange(len(values)) + distance
    is_there = (there >= ordered.start) & (there < ordered.end)
    found = values.take(pa.array(np.where(is_there, there, 0), mask=~is_there))
    return found if other is None else pc.if_else(pa.array(is_there), found, cast(other, values.type))


def _chosen(kind: Value, values: pa.Array, frames: Frames, number: int) -> pa.Array:
    place = frames.end - 1 if kind is Value.LAST else frames.start + (number - 1 if kind is Value.NTH else 0)
    is_there = (place >= frames.start) & (place < frames.end)
    return values.take(pa.array(np.where(is_there, place, 0), mask=~is_there))
