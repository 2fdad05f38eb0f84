"""Read the groups of a relation from Spark: one query of the groups, and one of their rows per fragment where the attribute is no key."""

from __future__ import annotations

import time
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.buckets.state import BucketedState
from imp_driver.capture.buckets import bucket_sql, file_partition
from imp_driver.capture.capture import ROW_OVERHEAD, StateTooLarge, check_size, column, parts_of
from imp_driver.capture.instrument import at_versions, capture_sql, cells_sql, distinct_sql
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.cells import CapturedCells, cell_groups, groups_in_cells
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.contract import AccumulatorKind
from imp_driver.errors import CANCELLED, Error
from imp_driver.maintain.bucketing import capture_buckets, why_not_bucketed
from imp_driver.maintain.choice import Choice
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.nodes import Column
from imp_driver.parse.supported import Refused
from imp_driver.parse.types import arrow_type
from imp_driver.plan.render import quoted
from imp_driver.ports import ResultTooLarge, SparkReader
from imp_driver.reasons import Reason
from imp_driver.safety.verdict import readable
from imp_driver.sketch.codes import is_orderable
from imp_driver.sketch.ranges import RangePartition, equi_depth
from imp_driver.snapshot.vector import vector_of
from imp_driver.state.maintained import Contents, Maintained
from imp_driver.state.values import CaptureFailure

FEW_ROWS = 1_000_000
"""Tables of fewer rows are captured with deep buffers at once; in larger ones groups are large too, and few changes meet an extremum."""
MOST_BUCKETS = 200
"""Ranges of an attribute that is no key: its fragment is computed by a tree of comparisons, which must stay small enough to be compiled."""


class _UnorderedKey(Exception):
    """Values of a group key have no codes."""


KeyTypes: TypeAlias = tuple[pa.DataType, ...]


def capture_into(relation: Maintained, request: Request, choice: Choice, means: Means, budget: int, folder: str | None) -> None:
    """Capture the groups of ``relation`` at the request's versions: in memory within ``budget`` bytes, else in buckets below ``folder``.

    Raises:
        Refused: Spark failed, there are too many groups, or those of a key's type are not told apart here; the relation remembers it.
    """
    begin = time.perf_counter()
    try:
        contents, key_types = _contents(relation, request, choice, means, budget, folder)
    except StateTooLarge as error:
        raise _failed(relation, CaptureFailure(Reason.STATE_TOO_LARGE, str(error), rows=request.rows)) from error
    except _UnorderedKey as error:
        raise _failed(relation, CaptureFailure(Reason.UNSUPPORTED_EXPRESSION, str(error))) from error
    except (Error, StateCorrupt) as error:
        if isinstance(error, Error) and error.error_class == CANCELLED:
            raise
        failure = CaptureFailure(Reason.CAPTURE_FAILED, str(error).split("\n", 1)[0], vector_of(request.tables))
        raise _failed(relation, failure) from error
    relation.captured(contents, request.block, key_types, vector_of(request.tables), time.perf_counter() - begin)


def _failed(relation: Maintained, failure: CaptureFailure) -> Refused:
    relation.failed(failure)
    return Refused(failure.reason, failure.detail)


def _contents(
    relation: Maintained, request: Request, choice: Choice, means: Means, budget: int, folder: str | None
) -> tuple[Contents, KeyTypes]:
    deep = relation.needs_deep_buffers or request.rows < FEW_ROWS
    try:
        return _captured(request, choice, means.read, budget, deep_buffers=deep)
    except StateTooLarge as error:
        bucketed = _bucketed(request, choice, means, error, folder)
        return bucketed, bucketed.kernel.key_types


def _bucketed(request: Request, choice: Choice, means: Means, found: StateTooLarge, folder: str | None) -> BucketedState:
    if folder is None or means.buckets is None:
        problem = "without a store (option store) there is no place for more"
    elif not (problem := why_not_bucketed(request, choice)):
        return capture_buckets(request, choice, means.read, means.buckets, folder, found.group_bytes)
    raise StateTooLarge(f"{found}, and {problem}", found.group_bytes) from found


def _captured(request: Request, choice: Choice, read: SparkReader, budget: int, *, deep_buffers: bool) -> tuple[GroupState, KeyTypes]:
    block, relation = request.block, at_versions(request.versions)
    specifications = tuple(aggregate.specification for aggregate in block.aggregates)
    if choice.key is None and not specifications:
        return _captured_cells(request, choice, read, budget)
    captured = _read_checked(capture_sql(block, relation, deep_buffers=deep_buffers), read, budget)
    keys = _keys(captured, request)
    types = tuple(key.type for key in keys)
    rows = column(captured, "row_count")
    parts = parts_of(captured, specifications) | _values_of(request, types, keys, read, budget)
    if choice.key is not None:
        partition = equi_depth(keys[choice.key], np.asarray(rows.to_numpy(zero_copy_only=False), dtype=np.int64), request.fragments)
        return GroupState.capture(keys, rows, parts, specifications, types, choice.key, partition), types
    partition = _partition_of_files(request, choice)
    table = _read_checked(cells_sql(block, relation, bucket_of(request, partition)), read, budget)
    groups = cell_groups(types, keys, _keys(table, request))
    cells = CapturedCells.of(groups, column(table, "cell_fragment"), column(table, "cell_rows"))
    return GroupState.capture(keys, rows, parts, specifications, types, None, partition, cells), types


def _captured_cells(request: Request, choice: Choice, read: SparkReader, budget: int) -> tuple[GroupState, KeyTypes]:
    """Without aggregates the rows per fragment say all that there is to know of a group."""
    partition = _partition_of_files(request, choice)
    table = _read_checked(cells_sql(request.block, at_versions(request.versions), bucket_of(request, partition)), read, budget)
    cell_keys = _keys(table, request)
    types = tuple(key.type for key in cell_keys)
    keys, rows, groups = groups_in_cells(types, cell_keys, column(table, "cell_rows"))
    cells = CapturedCells.of(groups, column(table, "cell_fragment"), column(table, "cell_rows"))
    return GroupState.capture(keys, rows, {}, (), types, None, partition, cells), types


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
