"""Read the groups of a relation from Spark: one query of the groups, and one of their rows per fragment for each cut that is no key."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.buckets.state import BucketedState
from imp_driver.capture.buckets import CutColumn
from imp_driver.capture.capture import ROW_OVERHEAD, StateTooLarge, are_small, check_size, column, in_units, parts_of
from imp_driver.capture.instrument import capture_sql, cells_sql, distinct_sql, size_sql
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.maintain.buckets import BucketCut, bucket_cut, capture_buckets
from imp_driver.maintain.ranges import partition_of_files, type_of
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means
from imp_driver.plan.bind import BoundBlock
from imp_driver.ports import ResultTooLarge, SparkReader
from imp_driver.reasons import Reason
from imp_driver.safety.verdict import readable
from imp_driver.sketch.cells import CapturedCells, CellCut, cell_groups, groups_in_cells
from imp_driver.sketch.cut_groups import Cut, CutGroups
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.snapshot.vector import vector_of
from imp_driver.state.maintained import Contents, Maintained
from imp_driver.state.values import CaptureFailure
from imp_driver.values.aggregates import OF_MULTISETS
from imp_driver.values.codes import IntegerArray, is_orderable
from imp_driver.values.cuts import CutName
from imp_driver.values.expressions import Column
from imp_driver.values.ranges import RangePartition
from imp_driver.values.refusal import Refused

FEW_ROWS = 1_000_000
"""Tables of fewer rows are captured with deep buffers at once; in larger ones groups are large too, and few changes meet an extremum."""
FEW_RANGES = 200
"""Of a column that is no key, where more of them would have more cells than there is memory for."""


class _UnorderedKey(Exception):
    """Values of a group key have no codes."""


KeyTypes: TypeAlias = tuple[pa.DataType, ...]


def capture_into(
    relation: Maintained,
    request: Request,
    means: Means,
    budget: int,
    folder: str | None,
    *,
    most: int | None = None,
    most_held: int | None = None,
) -> None:
    """Capture the groups of ``relation`` at the request's versions: in memory within ``budget`` bytes, else in buckets below ``folder``.

    Args:
        most: bytes beyond which the capture is put off for this time.
        most_held: bytes that the groups may take in memory, where fewer than those that they may have when they are fetched.

    Raises:
        Refused: Spark failed, there are too many groups, or those of a key's type are not told apart here; the relation remembers it.
    """
    begin = time.perf_counter()
    try:
        contents, key_types = _contents(relation, request, means, budget if most is None else min(budget, most), folder)
        if most_held is not None and contents.memory > most_held:
            raise StateTooLarge(f"groups of {in_units(contents.memory)}, of {in_units(most_held)}", 0.0)
    except StateTooLarge as error:
        if most is not None and most < budget:
            raise Refused(Reason.CAPTURE_DEFERRED, f"{error}; they are captured when they are asked for again") from error
        raise _failed(relation, CaptureFailure(Reason.STATE_TOO_LARGE, str(error), rows=request.rows)) from error
    except _UnorderedKey as error:
        raise _failed(relation, CaptureFailure(Reason.UNSUPPORTED_EXPRESSION, str(error))) from error
    except (Error, StateCorrupt) as error:
        raise _spark_failed(relation, request, error) from error
    relation.captured(contents, request.block, key_types, vector_of(request.tables), time.perf_counter() - begin)


def size_of(relation: Maintained, request: Request, means: Means) -> tuple[int, int]:
    """Estimate how many groups a relation has, of how many rows. Raises Refused where Spark failed, which is remembered."""
    try:
        found = means.read(size_sql(request.block, request.relation)).to_pylist()[0]
    except Error as error:
        raise _spark_failed(relation, request, error) from error
    return found["groups"], found["row_count"]


def _spark_failed(relation: Maintained, request: Request, error: Exception) -> Refused:
    raise_if_cancelled(error)
    tries = 1 if relation.attempts.failure is None else relation.attempts.failure.tries + 1
    return _failed(relation, CaptureFailure(Reason.CAPTURE_FAILED, str(error).split("\n", 1)[0], vector_of(request.tables), tries=tries))


def _failed(relation: Maintained, failure: CaptureFailure) -> Refused:
    relation.attempts.note_failure(failure)
    return Refused(failure.reason, failure.detail)


def _contents(relation: Maintained, request: Request, means: Means, budget: int, folder: str | None) -> tuple[Contents, KeyTypes]:
    deep = relation.attempts.needs_deep_buffers or request.rows < FEW_ROWS
    try:
        return _captured(request, means.read, budget, deep_buffers=deep)
    except StateTooLarge as error:
        bucketed = _bucketed(request, means, error, folder)
        return bucketed, bucketed.kernel.key_types


def _bucketed(request: Request, means: Means, found: StateTooLarge, folder: str | None) -> BucketedState:
    if folder is None or means.buckets is None:
        problem = "without a store (option store) there is no place for more"
    elif isinstance(cut := bucket_cut(request, means.read, found.group_bytes), BucketCut):
        return capture_buckets(request, cut, means.read, means.buckets, folder)
    else:
        problem = cut
    raise StateTooLarge(f"{found}, and {problem}", found.group_bytes) from found


def _captured(request: Request, read: SparkReader, budget: int, *, deep_buffers: bool) -> tuple[CutGroups, KeyTypes]:
    block, relation = request.block, request.relation
    specifications = tuple(aggregate.specification for aggregate in block.aggregates)
    if request.names and request.names[0].key is None and not specifications:
        return _captured_cells(request, read, budget)
    captured = _read_checked(capture_sql(block, relation, deep_buffers=deep_buffers, are_small=True), read, budget)
    if not are_small(captured, specifications):
        captured = _read_checked(capture_sql(block, relation, deep_buffers=deep_buffers), read, budget)
    keys = _keys(captured, request)
    types = tuple(key.type for key in keys)
    parts = parts_of(captured, specifications) | _values_of(request, types, keys, read, budget)
    groups = CutGroups(GroupState.capture(keys, column(captured, "row_count"), parts, specifications, types))
    for name in request.names[:1]:
        groups.attach(name, cut_by(name, request, groups.state, keys, read, budget))
    return groups, types


def _captured_cells(request: Request, read: SparkReader, budget: int) -> tuple[CutGroups, KeyTypes]:
    """Without aggregates the rows per fragment say all that there is to know of a group."""
    name = request.names[0]
    partition, table = _cells(request, name, read, budget)
    cell_keys = _keys(table, request)
    types = tuple(key.type for key in cell_keys)
    keys, rows, groups = groups_in_cells(types, cell_keys, column(table, "cell_rows"))
    cells = CapturedCells.of(groups, column(table, "cell_fragment"), column(table, "cell_rows"))
    state = GroupState.capture(keys, rows, {}, (), types)
    return CutGroups(state, {name: CellCut.capture(cells, state.rows, partition, request.attribute_of(name))}), types


def cut_by(name: CutName, request: Request, state: GroupState, keys: tuple[pa.Array, ...], read: SparkReader, budget: int) -> Cut:
    """Return a cut of some groups at the request's versions: from their keys, or from a query of their rows per fragment.

    Args:
        keys: of the living groups, by slot.

    Raises StateTooLarge, StateCorrupt, Refused or Error.
    """
    attribute = request.attribute_of(name)
    if name.key is not None:
        return KeyCut.equi_depth(state, name.key, name.fragments, attribute)
    partition, table = _cells(request, name, read, budget)
    slots = np.flatnonzero(state.alive)
    groups = slots[cell_groups(tuple(key.type for key in keys), keys, _keys(table, request))]
    cells = CapturedCells.of(groups, column(table, "cell_fragment"), column(table, "cell_rows"))
    return CellCut.capture(cells, state.rows, partition, attribute)


def _cells(request: Request, name: CutName, read: SparkReader, budget: int) -> tuple[RangePartition, pa.Table]:
    """Return the ranges of a cut that is no group key, and the cells: over few ranges where over many the cells are too many."""
    partition = _ranges(request, name, name.fragments)
    try:
        return partition, _cells_over(partition, request, name, read, budget)
    except StateTooLarge:
        if partition.ranges <= FEW_RANGES:
            raise
    partition = _ranges(request, name, FEW_RANGES)
    return partition, _cells_over(partition, request, name, read, budget)


def _ranges(request: Request, name: CutName, most: int) -> RangePartition:
    partition = partition_of_files(request, name, most)
    if partition is None:
        raise Refused(Reason.NOT_CLUSTERED, f"{request.attribute_of(name)}: the files' statistics give no ranges")
    return partition


def _cells_over(partition: RangePartition, request: Request, name: CutName, read: SparkReader, budget: int) -> pa.Table:
    block = with_cut_columns(request, (name,))
    return _read_checked(cells_sql(block, request.relation, column_cut(request, name, partition)), read, budget)


def _read_checked(text: str, read: SparkReader, budget: int) -> pa.Table:
    try:
        table = read(text, most_bytes=budget)
    except ResultTooLarge as error:
        raise StateTooLarge(f"the groups need more than {in_units(budget)}", error.row_bytes + ROW_OVERHEAD) from error
    check_size(table, budget)
    return table


def _values_of(
    request: Request, types: tuple[pa.DataType, ...], keys: tuple[pa.Array, ...], read: SparkReader, budget: int
) -> dict[tuple[int, str], pa.Array]:
    """Read how often each argument occurs, as lists by group: one query for each argument that such an aggregate has."""
    parts: dict[tuple[int, str], pa.Array] = {}
    read_before: dict[str, tuple[pa.Array, pa.Array]] = {}
    for index, aggregate in enumerate(request.block.aggregates):
        if aggregate.specification.kind in OF_MULTISETS:
            assert aggregate.argument_sql is not None
            if aggregate.argument_sql not in read_before:
                table = _read_checked(distinct_sql(request.block, request.relation, aggregate.argument_sql), read, budget)
                groups = cell_groups(types, keys, _keys(table, request))
                read_before[aggregate.argument_sql] = _lists(table, groups, len(keys[0]), aggregate.specification.argument_type)
            parts[index, "values"], parts[index, "copies"] = read_before[aggregate.argument_sql]
    return parts


def _lists(table: pa.Table, groups: IntegerArray, count: int, argument_type: pa.DataType) -> tuple[pa.Array, pa.Array]:
    """Return the values of each of ``count`` groups and their copies."""
    order = pa.array(np.argsort(groups, kind="stable"))
    offsets = pa.array(np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count)))).astype(np.int32))
    values = column(table, "value").cast(argument_type)
    copies = column(table, "copies")
    return pa.ListArray.from_arrays(offsets, values.take(order)), pa.ListArray.from_arrays(offsets, copies.take(order))


def with_cut_columns(request: Request, names: Iterable[CutName]) -> BoundBlock:
    """Return the request's block with the columns of cuts that are no keys among those that are read."""
    columns = (request.column_of(name) for name in names if name.key is None)
    return replace(request.block, columns=tuple(dict.fromkeys((*request.block.columns, *columns))))


def column_cut(request: Request, name: CutName, partition: RangePartition) -> CutColumn:
    """Return what is cut by a name that is no group key: a column of the block's source."""
    return CutColumn(request.column_of(name), type_of(request, name), partition)


def _keys(captured: pa.Table, request: Request) -> tuple[pa.Array, ...]:
    """A key that is a column has the type that deltas will have; Spark's Arrow form may differ, in the time zone say."""
    found = []
    for place, key in enumerate(request.block.keys):
        values = column(captured, f"key_{place}")
        if not is_orderable(values.type):
            raise _UnorderedKey(f"the group key {readable(request.block.keys_sql[place])} has values of type {values.type}")
        wanted = request.analysis.columns.get(key.name) if isinstance(key, Column) else None
        found.append(values if wanted is None else values.cast(wanted))
    return tuple(found)
