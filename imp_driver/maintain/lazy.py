"""Bring the state of an entry to the tables' versions just before it is used: capture, maintain, or find it fresh.

Source: IMP paper sections 4.4 and 6; lazy strategy. Whatever is not certain ends in a new capture, never in a guess. Maintenance is three
steps (``planned``, ``read_rows``, ``apply_rows``), so that the eager worker can make the same ones and give up before anything has changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from imp_driver.buckets.state import BucketedState
from imp_driver.delta.contract import ChangePlan, ChangeSource, ChangesUnavailable, SignedRows
from imp_driver.errors import CANCELLED, Error
from imp_driver.maintain.bucketing import step_buckets
from imp_driver.maintain.capturing import bucket_of
from imp_driver.maintain.changes import Bucket, Changes, Projected, TableChange, are_read_in_process, is_linear_in
from imp_driver.maintain.costs import Advice
from imp_driver.maintain.entry import StateEntry, Vector, vector_of
from imp_driver.maintain.request import Request
from imp_driver.maintain.sides import Sides, sides_of
from imp_driver.maintain.upkeep import Means, SparkReader, Upkeep
from imp_driver.operators.aggregate.accumulator import StateCorrupt
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.operators.project import NotEvaluable
from imp_driver.parse.supported import Refused
from imp_driver.plan.nodes import Scan
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.sketch.ranges import RangePartition

LARGEST_DELTA_SHARE = 0.25
"""Above this share of the table's rows a new capture reads less than the delta costs (measured, docs/how-it-works.md)."""
INEXACT_SHARE = 0.05
"""Above this share of groups whose minimum or maximum is not known, a new capture pays."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The signed rows of one maintenance step, a share for each table.

    ``sides`` stand for the old versions until ``signed``, the changes of all their tables, are applied; None for either: they are given up.
    """

    shares: Sequence[Projected]
    sides: Sides | None
    signed: Mapping[tuple[str, ...], SignedRows] | None
    source: DeltaSource
    is_in_memory: bool


def bring_up_to_date(entry: StateEntry, request: Request, source: ChangeSource, means: Means, capture: Callable[[], None]) -> Upkeep:
    """Make ``entry`` stand for the request's snapshots; the caller holds its lock. ``capture`` fills the entry from Spark.

    Raises:
        Refused: only a new capture would do, or maintenance would cost more than it saves, and it is put off.
        Error: Spark failed.
    """
    if not entry.is_ready:
        _put_off_once(entry, request, entry.awaited is not None)
        _captured(entry, capture)
        return Upkeep(Decision.CAPTURED, None)
    from_version = entry.version
    due, entry.ahead.due = entry.ahead.due, None
    try:
        if due is not None:
            raise due
        if entry.vector == vector_of(request.tables):
            entry.costs.note_asked(is_new=False)
            return Upkeep(Decision.FRESH, from_version)
        return _maintain(entry, request, source, means)
    except ChangesUnavailable as unavailable:
        entry.state = entry.stored = entry.bucketed = None
        entry.deep_buffers |= unavailable.reason is RecaptureReason.INEXACT_STATE
        _put_off_once(entry, request, unavailable.reason is RecaptureReason.NOT_INCREMENTAL, unavailable.detail)
        _captured(entry, capture)
        return Upkeep(Decision.RECAPTURED, from_version, recapture_reason=unavailable.reason, detail=unavailable.detail)


def _captured(entry: StateEntry, capture: Callable[[], None]) -> None:
    begin = time.perf_counter()
    capture()
    entry.costs.captured = time.perf_counter() - begin


def _put_off_once(entry: StateEntry, request: Request, is_due: bool, detail: str = "") -> None:
    """Put off a capture that every change of a table would ask for, until the same versions are asked for again.

    A capture costs about what the query costs, so it pays only where at least two queries see the same tables.
    """
    vector = vector_of(request.tables)
    if is_due and entry.awaited != vector:
        entry.awaited = vector
        raise Refused(Reason.RECAPTURE_DEFERRED, detail)
    entry.awaited = None


def _maintain(entry: StateEntry, request: Request, source: ChangeSource, means: Means) -> Upkeep:
    changes = planned(entry, request, source)
    _check_cost(entry, request, changes)
    begin = time.perf_counter()
    # Until the new state is complete the entry has none, so that an interruption leaves a recapture behind and not half a delta.
    state, entry.state = entry.state, None
    bucketed, entry.bucketed = entry.bucketed, None
    if bucketed is not None:
        step = read_rows(entry, bucketed.partition, request, changes, source, means.read)
        upkeep = _apply_to_buckets(entry, bucketed, request, step, means)
    else:
        assert state is not None
        upkeep = apply_rows(entry, state, request, read_rows(entry, state.partition, request, changes, source, means.read))
    entry.costs.note_maintenance(upkeep.delta_rows, time.perf_counter() - begin)
    return upkeep


def _check_cost(entry: StateEntry, request: Request, changes: Sequence[TableChange]) -> None:
    """Put maintenance off until the same versions are asked for again, or ask for a capture, where the past of this state says so."""
    vector = vector_of(request.tables)
    is_new = entry.awaited != vector
    entry.costs.note_asked(is_new=is_new)
    if not request.by_cost:
        return
    judgement = entry.costs.judge(sum(change.plan.rows or 0 for change in changes))
    if is_new and not judgement.is_worth_it:
        entry.awaited = vector
        raise Refused(Reason.MAINTENANCE_DEFERRED, judgement.detail)
    entry.awaited = None
    if judgement.advice is Advice.RECAPTURE:
        raise ChangesUnavailable(RecaptureReason.COSTS_MORE, judgement.detail)


def planned(entry: StateEntry, request: Request, source: ChangeSource) -> list[TableChange]:
    """Say how each table came to the request's version. Raises ChangesUnavailable."""
    return [_change(entry, request, location, source) for location in dict.fromkeys(each.location for each in request.tables)]


def read_rows(
    entry: StateEntry, partition: RangePartition, request: Request, changes: Sequence[TableChange], source: ChangeSource, read: SparkReader
) -> Step:
    """Read the changed rows; state and sides stay as they are. Raises ChangesUnavailable or what ``read`` raises."""
    bucket = None if request.partial is None else Bucket(request.column, bucket_of(request, partition), partition)
    reader = Changes(request.block, entry.key_types, source, read, bucket)
    sides = None if isinstance(request.block.source, Scan) else _sides(entry, request, changes, read)
    shares = reader.shares(changes, sides)
    for change, share in zip(changes, shares, strict=True):
        _check_row_count(change, share.growth)
    return Step(shares, sides, reader.signed if are_read_in_process(changes) else None, _source_of(changes), reader.is_in_memory)


def apply_rows(entry: StateEntry, state: GroupState, request: Request, step: Step) -> Upkeep:
    """Apply a step and give the entry its state back, at the request's versions. Raises ChangesUnavailable when it is no use."""
    for share in step.shares:
        if share.rows is not None:
            try:
                state.apply(share.rows)
            except StateCorrupt as error:
                raise ChangesUnavailable(RecaptureReason.CHANGES_CONTRADICT, str(error)) from error
    if state.is_inexact_beyond(INEXACT_SHARE):
        raise ChangesUnavailable(RecaptureReason.INEXACT_STATE, f"{state.inexact_groups} groups")
    entry.state = state
    return _advanced(entry, request, step)


def _apply_to_buckets(entry: StateEntry, state: BucketedState, request: Request, step: Step, means: Means) -> Upkeep:
    """Have the engine apply a step to a state in buckets. Raises ChangesUnavailable when it is no use."""
    step_buckets(state, request, [share.rows for share in step.shares if share.rows is not None], means, INEXACT_SHARE)
    entry.bucketed = state
    return _advanced(entry, request, step)


def _advanced(entry: StateEntry, request: Request, step: Step) -> Upkeep:
    from_version, entry.vector = entry.version, vector_of(request.tables)
    entry.sides = _moved_on(step, entry.vector)
    detail = ", ".join(filter(None, ("in buckets" if entry.bucketed else "", "joined in memory" if step.is_in_memory else "")))
    return Upkeep(Decision.MAINTAINED, from_version, sum(share.rows_read for share in step.shares), step.source, detail=detail)


def _moved_on(step: Step, vector: Vector) -> Sides | None:
    """Return the sides at the new versions, None when they cannot be brought there."""
    if step.sides is None or step.signed is None:
        return None
    try:
        step.sides.apply(step.signed)
    except NotEvaluable:
        return None
    step.sides.vector = vector
    return step.sides


def _sides(entry: StateEntry, request: Request, changes: Sequence[TableChange], read: SparkReader) -> Sides | None:
    """Return the operators of a block over several tables, with the tables that are kept at the state's versions.

    They are read when the block changes for the second time, as it is then likely to go on, and where the engine cannot follow.
    """
    known = entry.sides if entry.sides is not None and entry.sides.vector == entry.vector and not entry.sides.is_worn else None
    if known is not None and known.is_read:
        return known
    if entry.without_sides:
        return None
    found = known or sides_of(request, entry.key_types)
    if found is None:
        entry.without_sides = True
        return None
    if not entry.counters.maintained and all(is_linear_in(request.block, change) for change in changes):
        found.vector = entry.vector
        return found
    try:
        found.read(request, entry.vector, read)
    except Error as error:
        if error.error_class == CANCELLED:
            raise
        entry.without_sides = True
        return None
    return found


def _change(entry: StateEntry, request: Request, location: str, source: ChangeSource) -> TableChange:
    names = frozenset(name for name, each in request.snapshots.items() if each.location == location)
    snapshot = request.snapshots[next(iter(names))]
    before = entry.vector.get(location)
    if before is None or before.table_id != snapshot.table_id or snapshot.version < before.version:
        raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, "the table is another one than at capture")
    if snapshot.version == before.version:
        return TableChange(names, before, snapshot, ChangePlan(location, before.version, before.version, DeltaSource.NONE, 0))
    plan = source.plan(location, before.table_id, before.version, snapshot.version)
    if plan.rows is not None and snapshot.row_count and plan.rows > LARGEST_DELTA_SHARE * snapshot.row_count and plan.rows > 100_000:
        raise ChangesUnavailable(RecaptureReason.DELTA_TOO_LARGE, f"{plan.rows} changed rows")
    return TableChange(names, before, snapshot, plan)


def _source_of(changes: Sequence[TableChange]) -> DeltaSource:
    return next((change.plan.source for change in changes if not change.is_empty), DeltaSource.NONE)


def _check_row_count(change: TableChange, growth: int | None) -> None:
    """Compare the carried row count with the table's statistics: an incomplete change feed must not go unnoticed."""
    before, snapshot = change.before, change.snapshot
    expected = None if before.rows is None or growth is None else before.rows + growth
    if expected is not None and snapshot.row_count is not None and expected != snapshot.row_count:
        raise ChangesUnavailable(RecaptureReason.ROW_COUNT_DIFFERS, f"expected {expected} rows, the table has {snapshot.row_count}")
