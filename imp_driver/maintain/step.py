"""Bring a maintained relation to the tables' versions just before it is used: capture, maintain, or find it fresh.

Source: IMP paper sections 4.4 and 6; lazy strategy. Whatever is not certain ends in a new capture, never in a guess. Maintenance is three
steps (``planned``, ``read_rows``, ``apply_rows``), so that the eager worker can make the same ones and give up before anything has changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from imp_driver.buckets.state import BucketedState
from imp_driver.circuit.circuit import Circuit, circuit_of
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.maintain.buckets import step_buckets
from imp_driver.maintain.capture import column_cut, with_cut_columns
from imp_driver.maintain.changes import Changes, Projected, TableChange, are_read_in_process, check_columns, is_linear_in
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Scan
from imp_driver.ports import SparkReader
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.snapshot.vector import Vector, vector_of
from imp_driver.state.costs import Advice
from imp_driver.state.maintained import Maintained
from imp_driver.state.values import Cause
from imp_driver.values.aggregates import ProjectedRows
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangePlan, ChangeSource, ChangesUnavailable, TableSnapshot, ZSet
from imp_driver.values.view_policy import ViewPolicy

LARGEST_DELTA_SHARE, FEWEST_OF_MANY = 0.25, 100_000
"""Above this share of the table's rows a new capture reads less than the delta costs (measured, docs/how-it-works.md)."""
INEXACT_SHARE = 0.05
"""Above this share of groups whose minimum or maximum is not known, a new capture pays."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The signed rows of one maintenance step, a share for each table.

    ``circuit`` stands for the old versions until ``signed``, the changes of all its tables, are applied; None for either: it is given up.
    """

    shares: Sequence[Projected]
    circuit: Circuit | None
    signed: Mapping[tuple[str, ...], ZSet] | None
    source: DeltaSource
    bytes: int
    is_in_memory: bool


def bring_up_to_date(relation: Maintained, request: Request, source: ChangeSource, means: Means, capture: Callable[[], None]) -> Upkeep:
    """Make ``relation`` stand for the request's snapshots; the caller holds it. ``capture`` reads its groups from Spark.

    Raises:
        Refused: only a new capture would do, or maintenance would cost more than it saves, and it is put off.
        Error: Spark failed.
    """
    from_version = relation.version
    if relation.is_ready:
        if relation.vector == vector_of(request.tables):
            relation.costs.note_asked(is_new=False)
            return Upkeep(Decision.FRESH, from_version)
        try:
            return _maintain(relation, request, source, means)
        except ChangesUnavailable as unavailable:
            relation.invalidated(Cause(unavailable.reason, unavailable.detail))
    cause = relation.cause
    if relation.policy is ViewPolicy.STRICT and cause is not None:
        raise Refused(Reason.NOT_FOLLOWED, f"{cause.reason.name}: {cause.detail or cause.reason.value}")
    if not relation.is_named:
        _put_off_once(relation, request)
    capture()
    if cause is None:
        return Upkeep(Decision.CAPTURED, None)
    return Upkeep(Decision.RECAPTURED, from_version, recapture_reason=cause.reason, detail=cause.detail)


def _put_off_once(relation: Maintained, request: Request) -> None:
    """Put off a capture that every change of a table would ask for, until the same versions are asked for again.

    A capture costs about what the query costs, so it pays only where at least two queries see the same tables.
    """
    vector, cause = vector_of(request.tables), relation.cause
    if cause is not None and cause.reason is RecaptureReason.NOT_INCREMENTAL and not relation.costs.is_put_off_at(vector):
        relation.costs.put_off(vector)
        raise Refused(Reason.RECAPTURE_DEFERRED, cause.detail)
    relation.costs.resume()


def _maintain(relation: Maintained, request: Request, source: ChangeSource, means: Means) -> Upkeep:
    changes = planned(relation, request, source)
    _check_cost(relation, request, changes)
    begin = time.perf_counter()
    step = read_rows(relation, request, changes, source, means.read)
    upkeep = apply_rows(relation, request, step, means)
    relation.costs.note_maintenance(upkeep.delta_rows, time.perf_counter() - begin)
    return upkeep


def _check_cost(relation: Maintained, request: Request, changes: Sequence[TableChange]) -> None:
    """Put maintenance off until the same versions are asked for again, or ask for a capture, where policy or past say so."""
    vector = vector_of(request.tables)
    is_new = not relation.costs.is_put_off_at(vector)
    relation.costs.note_asked(is_new=is_new)
    policy, is_moved_only = relation.policy, all(change.is_empty for change in changes)
    if policy is ViewPolicy.FULL and not is_moved_only:
        raise ChangesUnavailable(RecaptureReason.POLICY_FULL, "")
    if not request.by_cost or is_moved_only or (policy is not None and policy.is_followed):
        return
    judgement = relation.costs.judge(sum(change.plan.rows or 0 for change in changes))
    if not judgement.is_worth_it and (is_new or judgement.is_given_up):
        relation.costs.put_off(vector)
        raise Refused(Reason.GIVEN_UP if judgement.is_given_up else Reason.MAINTENANCE_DEFERRED, judgement.detail)
    relation.costs.resume()
    if judgement.advice is Advice.RECAPTURE:
        raise ChangesUnavailable(RecaptureReason.COSTS_MORE, judgement.detail)


def planned(relation: Maintained, request: Request, source: ChangeSource) -> list[TableChange]:
    """Say how each table came to the request's version. Raises ChangesUnavailable."""
    return [_change(relation, request, location, source) for location in dict.fromkeys(each.location for each in request.tables)]


def read_rows(relation: Maintained, request: Request, changes: Sequence[TableChange], source: ChangeSource, read: SparkReader) -> Step:
    """Read the changed rows; groups and circuit stay as they are. Raises ChangesUnavailable or what ``read`` raises."""
    cuts = {cut.name: column_cut(request, cut.name, cut.partition) for cut in relation.cuts if cut.name.key is None}
    block = with_cut_columns(request, cuts)
    for change in changes:
        check_columns(block, change)
    reader = Changes(block, relation.key_types, source, read, cuts)
    circuit = None if isinstance(block.source, Scan) else _circuit(relation, request, block, changes, read)
    shares = reader.shares(changes, circuit)
    for change, share in zip(changes, shares, strict=True):
        check_row_count(change.before.rows, share.growth, change.snapshot)
    signed, size = reader.signed if are_read_in_process(changes) else None, sum(change.plan.bytes for change in changes)
    return Step(shares, circuit, signed, _source_of(changes), size, reader.is_in_memory)


def apply_rows(relation: Maintained, request: Request, step: Step, means: Means | None = None) -> Upkeep:
    """Apply a step, after which the relation stands for the request's versions. Raises ChangesUnavailable when it is no use.

    Args:
        means: needed where the groups are in buckets.
    """
    from_version, vector, delta_rows = relation.version, vector_of(request.tables), sum(share.rows_read for share in step.shares)
    shares = [share.rows for share in step.shares if share.rows is not None]
    with relation.changing() as contents:
        if isinstance(contents, BucketedState):
            assert means is not None
            step_buckets(contents, request, shares, means, INEXACT_SHARE)
        else:
            _apply(contents, shares)
        relation.advanced(vector, _moved_on(step, vector), delta_rows)
    notes = ("in buckets" if relation.bucketed else "", "joined in memory" if step.is_in_memory else "")
    detail = ", ".join(filter(None, notes))
    return Upkeep(Decision.MAINTAINED, from_version, delta_rows, step.source, detail=detail, delta_bytes=step.bytes)


def _apply(groups: CutGroups, shares: Sequence[ProjectedRows]) -> None:
    for rows in shares:
        try:
            groups.apply(rows)
        except StateCorrupt as error:
            raise ChangesUnavailable(RecaptureReason.CHANGES_CONTRADICT, str(error)) from error
    if groups.state.is_inexact_beyond(INEXACT_SHARE):
        raise ChangesUnavailable(RecaptureReason.INEXACT_STATE, f"{groups.state.inexact_groups} groups")


def _moved_on(step: Step, vector: Vector) -> Circuit | None:
    """Return the circuit at the new versions, None when it cannot be brought there."""
    if step.circuit is None or step.signed is None:
        return None
    try:
        step.circuit.apply(step.signed)
    except NotEvaluable:
        return None
    step.circuit.vector = vector
    return step.circuit


def _circuit(
    relation: Maintained, request: Request, block: BoundBlock, changes: Sequence[TableChange], read: SparkReader
) -> Circuit | None:
    """Return the operators of a block over several tables, with the tables that are kept at the relation's versions.

    They are read when the block changes for the second time, as it is then likely to go on, and where the engine cannot follow.
    """
    known = relation.circuit
    if known is not None and (known.vector != relation.vector or known.is_worn):
        known = None
    if known is not None and known.is_read:
        return known
    if relation.attempts.is_without_circuit:
        return None
    found = known or circuit_of(block, relation.key_types)
    if found is None:
        relation.attempts.note_without_circuit()
        return None
    if not relation.usage.counts.maintained and all(is_linear_in(block, change) for change in changes):
        found.vector = relation.vector
        return found
    try:
        found.read(request.snapshots, relation.vector, read)
    except Error as error:
        raise_if_cancelled(error)
        relation.attempts.note_without_circuit()
        return None
    return found


def _change(relation: Maintained, request: Request, location: str, source: ChangeSource) -> TableChange:
    names = frozenset(name for name, each in request.snapshots.items() if each.location == location)
    snapshot = request.snapshots[next(iter(names))]
    before = relation.vector.get(location)
    if before is None or before.table_id != snapshot.table_id or snapshot.version < before.version:
        raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, "the table is another one than at capture")
    if snapshot.version == before.version:
        return TableChange(names, before, snapshot, ChangePlan(location, before.version, before.version, DeltaSource.NONE, 0))
    plan = source.plan(location, before.table_id, before.version, snapshot.version)
    check_share(plan, snapshot)
    return TableChange(names, before, snapshot, plan)


def _source_of(changes: Sequence[TableChange]) -> DeltaSource:
    return next((change.plan.source for change in changes if not change.is_empty), DeltaSource.NONE)


def check_share(plan: ChangePlan, snapshot: TableSnapshot) -> None:
    """Raise ChangesUnavailable where so much of a table has changed that to read it anew takes less."""
    rows, count = plan.rows, snapshot.row_count
    if rows is not None and count and rows > LARGEST_DELTA_SHARE * count and rows > FEWEST_OF_MANY:
        raise ChangesUnavailable(RecaptureReason.DELTA_TOO_LARGE, f"{plan.rows} changed rows")


def check_row_count(before: int | None, growth: int | None, snapshot: TableSnapshot) -> None:
    """Compare the rows that a table had, and those of its changes, with its statistics: an incomplete change feed must not go unnoticed.

    Raises ChangesUnavailable where they differ.
    """
    expected = None if before is None or growth is None else before + growth
    if expected is not None and snapshot.row_count is not None and expected != snapshot.row_count:
        raise ChangesUnavailable(RecaptureReason.ROW_COUNT_DIFFERS, f"expected {expected} rows, the table has {snapshot.row_count}")
