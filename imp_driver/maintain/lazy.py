"""Bring the state of an entry to a table version just before it is used: capture, maintain, or find it fresh.

Source: IMP paper sections 4.4 and 6; lazy strategy. Whatever is not certain ends in a new capture, never in a guess.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from imp_driver.capture.capture import column
from imp_driver.capture.instrument import projection_sql
from imp_driver.delta.contract import WEIGHT_COLUMN, ChangePlan, ChangeSource, ChangesUnavailable, SignedRows, TableSnapshot
from imp_driver.errors import CANCELLED, Error
from imp_driver.maintain.entry import StateEntry
from imp_driver.operators.aggregate.accumulator import StateCorrupt
from imp_driver.operators.contract import ProjectedRows
from imp_driver.operators.project import NotEvaluable, project
from imp_driver.operators.select import select
from imp_driver.plan.bind import BoundBlock
from imp_driver.reasons import Decision, DeltaSource, RecaptureReason

LARGEST_DELTA_SHARE = 0.25
"""Above this share of the table's rows a new capture reads less than the delta costs (measured, docs/how-it-works.md)."""
INEXACT_SHARE = 0.05
"""Above this share of groups whose minimum or maximum is not known, a new capture pays."""


class SparkReader(Protocol):
    """Reads a query of the driver's own; with ``rows``, these are visible under the name ``view``."""

    def __call__(self, text: str, view: str | None = None, rows: pa.Table | None = None) -> pa.Table: ...


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What bringing an entry up to date took."""

    decision: Decision
    from_version: int | None
    delta_rows: int = 0
    delta_source: DeltaSource | None = None
    recapture_reason: RecaptureReason | None = None
    detail: str = ""


def bring_up_to_date(
    entry: StateEntry,
    block: BoundBlock,
    snapshot: TableSnapshot,
    source: ChangeSource,
    read: SparkReader,
    capture: Callable[[], None],
) -> Upkeep:
    """Make ``entry`` stand for ``snapshot``; the caller holds its lock. ``capture`` fills the entry from Spark.

    Raises:
        Error: Spark failed.
    """
    if entry.state is None:
        capture()
        return Upkeep(Decision.CAPTURED, None)
    from_version = entry.version
    if entry.table_id == snapshot.table_id and from_version == snapshot.version:
        return Upkeep(Decision.FRESH, from_version)
    try:
        plan, rows = _maintain(entry, block, snapshot, source, read)
        return Upkeep(Decision.MAINTAINED, from_version, rows, plan.source)
    except ChangesUnavailable as unavailable:
        entry.state = None
        entry.deep_buffers |= unavailable.reason is RecaptureReason.INEXACT_STATE
        capture()
        return Upkeep(Decision.RECAPTURED, from_version, recapture_reason=unavailable.reason, detail=unavailable.detail)


def _maintain(
    entry: StateEntry, block: BoundBlock, snapshot: TableSnapshot, source: ChangeSource, read: SparkReader
) -> tuple[ChangePlan, int]:
    if entry.table_id != snapshot.table_id or snapshot.version < entry.version:
        raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, "the table is another one than at capture")
    plan = source.plan(entry.location, entry.table_id, entry.version, snapshot.version)
    if plan.rows is not None and snapshot.row_count and plan.rows > LARGEST_DELTA_SHARE * snapshot.row_count and plan.rows > 100_000:
        raise ChangesUnavailable(RecaptureReason.DELTA_TOO_LARGE, f"{plan.rows} changed rows")
    state, entry.state = entry.state, None
    # Until the new state is complete the entry has none, so that an interruption leaves a recapture behind and not half a delta.
    assert state is not None
    changed, count, table_delta = _project(plan, block, entry.key_types, source, read)
    if changed is not None:
        try:
            state.apply(changed)
        except StateCorrupt as error:
            raise ChangesUnavailable(RecaptureReason.ROW_COUNT_DIFFERS, str(error)) from error
    _check_row_count(entry, snapshot, table_delta)
    if state.inexact_groups > INEXACT_SHARE * max(1, state.groups):
        raise ChangesUnavailable(RecaptureReason.INEXACT_STATE, f"{state.inexact_groups} groups")
    entry.version, entry.state = snapshot.version, state
    return plan, count


def _check_row_count(entry: StateEntry, snapshot: TableSnapshot, table_delta: int | None) -> None:
    """Compare the carried row count with the table's statistics: an incomplete change feed must not go unnoticed."""
    expected = None if entry.table_rows is None or table_delta is None else entry.table_rows + table_delta
    if expected is not None and snapshot.row_count is not None and expected != snapshot.row_count:
        raise ChangesUnavailable(RecaptureReason.ROW_COUNT_DIFFERS, f"expected {expected} rows, the table has {snapshot.row_count}")
    entry.table_rows = snapshot.row_count


def _project(
    plan: ChangePlan, block: BoundBlock, key_types: tuple[pa.DataType, ...], source: ChangeSource, read: SparkReader
) -> tuple[ProjectedRows | None, int, int | None]:
    """Return projected rows, how many signed rows were read, and the change of the table's row count where it is known."""
    if plan.source is DeltaSource.NONE:
        return None, 0, 0
    if plan.relation is not None:
        table = _read_changes(projection_sql(block, plan.relation), read)
        return _from_spark(table, block, key_types), plan.rows or table.num_rows, None
    signed = source.read(plan, block.columns)
    growth = int(signed.weights.sum())
    try:
        return _in_process(signed, block, key_types), len(signed.weights), growth
    except NotEvaluable:
        view = f"__imp_changes_{uuid.uuid4().hex}"
        rows = signed.rows.append_column(WEIGHT_COLUMN, pa.array(signed.weights))
        return _from_spark(read(projection_sql(block, view), view, rows), block, key_types), len(signed.weights), growth


def _read_changes(text: str, read: SparkReader) -> pa.Table:
    """Let Spark read changes; what it cannot read (files vacuumed meanwhile, a feed with gaps) is captured again."""
    try:
        return read(text)
    except Error as error:
        if error.error_class == CANCELLED:
            raise
        raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, str(error).split("\n", 1)[0]) from error


def _in_process(signed: SignedRows, block: BoundBlock, key_types: tuple[pa.DataType, ...]) -> ProjectedRows:
    rows, weights = signed.rows, signed.weights
    if block.where is not None:
        mask = select(rows, block.where)
        rows, weights = rows.filter(pa.array(mask)), weights[mask]
    expressions = list(zip(block.keys, key_types, strict=True))
    for aggregate in block.aggregates:
        if aggregate.argument is not None:
            expressions.append((aggregate.argument, aggregate.specification.argument_type))
    arrays = iter(project(rows, expressions))
    keys = tuple(next(arrays) for _ in block.keys)
    arguments = tuple(None if aggregate.argument is None else next(arrays) for aggregate in block.aggregates)
    return ProjectedRows(keys, arguments, weights)


def _from_spark(table: pa.Table, block: BoundBlock, key_types: tuple[pa.DataType, ...]) -> ProjectedRows:
    keys = tuple(column(table, f"key_{index}").cast(kind) for index, kind in enumerate(key_types))
    arguments = tuple(
        None if aggregate.argument_sql is None else column(table, f"argument_{index}").cast(aggregate.specification.argument_type)
        for index, aggregate in enumerate(block.aggregates)
    )
    weights = column(table, WEIGHT_COLUMN).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return ProjectedRows(keys, arguments, np.asarray(weights, dtype=np.int64))
