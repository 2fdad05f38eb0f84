"""Fill the state of an entry from Spark: one query of the groups, and one of their rows per fragment where the attribute is no key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.capture.buckets import bucket_sql, file_partition
from imp_driver.capture.capture import StateTooLarge, check_size, column, parts_of
from imp_driver.capture.instrument import at_versions, capture_sql, cells_sql
from imp_driver.errors import CANCELLED, Error
from imp_driver.maintain.choice import Choice
from imp_driver.maintain.entry import CaptureFailure, StateEntry, vector_of
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import SparkReader
from imp_driver.operators.aggregate.cells import CapturedCells, cell_groups
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.parse.nodes import Column
from imp_driver.parse.supported import Refused
from imp_driver.parse.types import arrow_type
from imp_driver.plan.render import quoted
from imp_driver.reasons import Reason
from imp_driver.sketch.ranges import RangePartition, equi_depth

FEW_ROWS = 1_000_000
"""Tables of fewer rows are captured with deep buffers at once; in larger ones groups are large too, and few changes meet an extremum."""
MOST_BUCKETS = 200
"""Ranges of an attribute that is no key: its fragment is computed by a tree of comparisons, which must stay small enough to be compiled."""


def capture_into(entry: StateEntry, request: Request, choice: Choice, read: SparkReader, budget: int) -> None:
    """Capture the state of ``entry`` at the request's versions; ``budget`` in bytes.

    Raises:
        Refused: Spark failed, or the state would be too large; the entry remembers it.
    """
    try:
        entry.state = _captured(entry, request, choice, read, budget)
    except StateTooLarge as error:
        entry.failure = CaptureFailure(Reason.STATE_TOO_LARGE, str(error), None)
        raise Refused(Reason.STATE_TOO_LARGE, str(error)) from error
    except Error as error:
        if error.error_class == CANCELLED:
            raise
        entry.failure = CaptureFailure(Reason.CAPTURE_FAILED, str(error).split("\n", 1)[0], vector_of(request.tables))
        raise Refused(Reason.CAPTURE_FAILED, entry.failure.detail) from error
    entry.failure = None
    entry.vector, entry.block = vector_of(request.tables), request.block
    entry.file_fragments = None


def _captured(entry: StateEntry, request: Request, choice: Choice, read: SparkReader, budget: int) -> GroupState:
    block, relation = request.block, at_versions(request.versions)
    partition = None if choice.key is not None else _partition_of_files(request, choice)
    deep = entry.deep_buffers or request.rows < FEW_ROWS
    captured = read(capture_sql(block, relation, deep_buffers=deep))
    check_size(captured, budget)
    keys = _keys(captured, request)
    types = tuple(key.type for key in keys)
    rows = column(captured, "row_count")
    cells = None
    if partition is None:
        assert choice.key is not None
        partition = equi_depth(keys[choice.key], np.asarray(rows.to_numpy(zero_copy_only=False), dtype=np.int64), request.fragments)
    else:
        table = read(cells_sql(block, relation, bucket_of(request, partition)))
        check_size(table, budget)
        groups = cell_groups(types, keys, _keys(table, request))
        cells = CapturedCells.of(groups, column(table, "cell_fragment"), column(table, "cell_rows"))
    entry.key_types = types
    specifications = tuple(aggregate.specification for aggregate in block.aggregates)
    return GroupState.capture(keys, rows, parts_of(captured, specifications), specifications, types, choice.key, partition, cells)


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
        wanted = request.analysis.columns.get(key.name) if isinstance(key, Column) else None
        found.append(values if wanted is None else values.cast(wanted))
    return tuple(found)
