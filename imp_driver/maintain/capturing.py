"""Fill the state of an entry from Spark: one query of the groups, and one of their rows per fragment where the attribute is no key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.buckets.state import BucketedState
from imp_driver.capture.buckets import bucket_sql, file_partition
from imp_driver.capture.capture import ROW_OVERHEAD, StateTooLarge, check_size, column, parts_of
from imp_driver.capture.instrument import at_versions, capture_sql, cells_sql, distinct_sql
from imp_driver.errors import CANCELLED, Error
from imp_driver.maintain.bucketing import capture_buckets, why_not_bucketed
from imp_driver.maintain.choice import Choice
from imp_driver.maintain.entry import CaptureFailure, StateEntry, vector_of
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means, SparkReader
from imp_driver.operators.aggregate.accumulator import StateCorrupt
from imp_driver.operators.aggregate.cells import CapturedCells, cell_groups, groups_in_cells
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.operators.contract import AccumulatorKind
from imp_driver.parse.nodes import Column
from imp_driver.parse.supported import Refused
from imp_driver.parse.types import arrow_type
from imp_driver.plan.render import quoted
from imp_driver.ports import ResultTooLarge
from imp_driver.reasons import Reason
from imp_driver.safety.verdict import readable
from imp_driver.sketch.codes import is_orderable
from imp_driver.sketch.ranges import RangePartition, equi_depth

FEW_ROWS = 1_000_000
"""Tables of fewer rows are captured with deep buffers at once; in larger ones groups are large too, and few changes meet an extremum."""
MOST_BUCKETS = 200
"""Ranges of an attribute that is no key: its fragment is computed by a tree of comparisons, which must stay small enough to be compiled."""


class _UnorderedKey(Exception):
    """Values of a group key have no codes."""


def capture_into(entry: StateEntry, request: Request, choice: Choice, means: Means, budget: int, folder: str | None) -> None:
    """Capture the state of ``entry`` at the request's versions: in memory within ``budget`` bytes, else in buckets below ``folder``.

    Raises:
        Refused: Spark failed, the state would be too large, or groups of a key's type are not told apart here; the entry remembers it.
    """
    try:
        _fill(entry, request, choice, means, budget, folder)
    except StateTooLarge as error:
        entry.failure = CaptureFailure(Reason.STATE_TOO_LARGE, str(error), None)
        raise Refused(Reason.STATE_TOO_LARGE, str(error)) from error
    except _UnorderedKey as error:
        entry.failure = CaptureFailure(Reason.UNSUPPORTED_EXPRESSION, str(error), None)
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, str(error)) from error
    except (Error, StateCorrupt) as error:
        if isinstance(error, Error) and error.error_class == CANCELLED:
            raise
        entry.failure = CaptureFailure(Reason.CAPTURE_FAILED, str(error).split("\n", 1)[0], vector_of(request.tables))
        raise Refused(Reason.CAPTURE_FAILED, entry.failure.detail) from error
    entry.failure = None
    entry.vector, entry.block = vector_of(request.tables), request.block
    entry.file_fragments = entry.sides = entry.derived = entry.stored = None
    # The state before may have been given up because something was wrong with it, and its sketches with it.
    entry.older.clear()
    entry.is_proven = True


def _fill(entry: StateEntry, request: Request, choice: Choice, means: Means, budget: int, folder: str | None) -> None:
    try:
        entry.state = _captured(entry, request, choice, means.read, budget)
    except StateTooLarge as error:
        entry.bucketed = _bucketed(request, choice, means, error, folder)
        entry.key_types = entry.bucketed.kernel.key_types


def _bucketed(request: Request, choice: Choice, means: Means, found: StateTooLarge, folder: str | None) -> BucketedState:
    if folder is None or means.buckets is None:
        problem = "without a store (option store) there is no place for more"
    elif not (problem := why_not_bucketed(request, choice)):
        return capture_buckets(request, choice, means.read, means.buckets, folder, found.group_bytes)
    raise StateTooLarge(f"{found}, and {problem}", found.group_bytes) from found


def _captured(entry: StateEntry, request: Request, choice: Choice, read: SparkReader, budget: int) -> GroupState:
    block, relation = request.block, at_versions(request.versions)
    specifications = tuple(aggregate.specification for aggregate in block.aggregates)
    if choice.key is None and not specifications:
        return _captured_cells(entry, request, choice, read, budget)
    deep = entry.deep_buffers or request.rows < FEW_ROWS
    captured = _read_checked(capture_sql(block, relation, deep_buffers=deep), read, budget)
    keys = _keys(captured, request)
    entry.key_types = types = tuple(key.type for key in keys)
    rows = column(captured, "row_count")
    parts = parts_of(captured, specifications) | _values_of(request, types, keys, read, budget)
    if choice.key is not None:
        partition = equi_depth(keys[choice.key], np.asarray(rows.to_numpy(zero_copy_only=False), dtype=np.int64), request.fragments)
        return GroupState.capture(keys, rows, parts, specifications, types, choice.key, partition)
    partition = _partition_of_files(request, choice)
    table = _read_checked(cells_sql(block, relation, bucket_of(request, partition)), read, budget)
    groups = cell_groups(types, keys, _keys(table, request))
    cells = CapturedCells.of(groups, column(table, "cell_fragment"), column(table, "cell_rows"))
    return GroupState.capture(keys, rows, parts, specifications, types, None, partition, cells)


def _captured_cells(entry: StateEntry, request: Request, choice: Choice, read: SparkReader, budget: int) -> GroupState:
    """Without aggregates the rows per fragment say all that there is to know of a group."""
    partition = _partition_of_files(request, choice)
    table = _read_checked(cells_sql(request.block, at_versions(request.versions), bucket_of(request, partition)), read, budget)
    cell_keys = _keys(table, request)
    entry.key_types = types = tuple(key.type for key in cell_keys)
    keys, rows, groups = groups_in_cells(types, cell_keys, column(table, "cell_rows"))
    cells = CapturedCells.of(groups, column(table, "cell_fragment"), column(table, "cell_rows"))
    return GroupState.capture(keys, rows, {}, (), types, None, partition, cells)


def _read_checked(text: str, read: SparkReader, budget: int) -> pa.Table:
    try:
        table = read(text, most_bytes=budget)
    except ResultTooLarge as error:
        raise StateTooLarge(f"the groups need more than {budget >> 20} MiB", error.row_bytes + ROW_OVERHEAD) from error
    check_size(table, budget)
    return table


def _values_of(
    request: Request, types: tuple[pa.DataType, ...], keys: tuple[pa.Array, ...], read: SparkReader, budget: int
) -> dict[tuple[int, str], pa.Array]:
    """Read the distinct arguments of each count of such, one query each, as lists by group."""
    parts = {}
    for index, aggregate in enumerate(request.block.aggregates):
        if aggregate.specification.kind is AccumulatorKind.COUNT_DISTINCT:
            assert aggregate.argument_sql is not None
            table = _read_checked(distinct_sql(request.block, at_versions(request.versions), aggregate.argument_sql), read, budget)
            groups = cell_groups(types, keys, _keys(table, request))
            order = pa.array(np.argsort(groups, kind="stable"))
            offsets = pa.array(np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=len(keys[0]))))).astype(np.int32))
            values = column(table, "value").cast(aggregate.specification.argument_type)
            parts[index, "values"] = pa.ListArray.from_arrays(offsets, values.take(order))
            parts[index, "copies"] = pa.ListArray.from_arrays(offsets, column(table, "copies").take(order))
    return parts


def bucket_of(request: Request, partition: RangePartition) -> str:
    """Return SQL for the fragment of a row in an attribute that is no key."""
    assert request.partial is not None
    return bucket_sql(quoted(request.column), request.partial.cut.attribute.type_name or "", partition)


def _partition_of_files(request: Request, choice: Choice) -> RangePartition:
    cut = choice.cuts(request)[0]
    kind = arrow_type(cut.attribute.type_name or "")
    files = request.snapshots[cut.scan.table].files
    partition = None if kind is None else file_partition(files, cut.attribute.name, kind, min(request.fragments, MOST_BUCKETS))
    if partition is None:
        raise Refused(Reason.NOT_CLUSTERED, f"{cut.attribute.name}: the files' statistics give no ranges")
    return partition


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
