"""States beyond the memory budget: captured into buckets by the engine, changed there, and asked for the sketch.

Source: design of incremental views, section 5, tier 2. The changes below the groups are computed as for a state in memory.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from imp_driver.buckets.kernel import Kernel, captured
from imp_driver.buckets.state import BucketedState, ChangedElsewhere, build, coarsened
from imp_driver.capture.buckets import bucket_sql, file_partition
from imp_driver.capture.instrument import at_versions, capture_sql
from imp_driver.delta.contract import ChangesUnavailable
from imp_driver.maintain.choice import Choice
from imp_driver.maintain.derive import constants_of
from imp_driver.maintain.entry import Derived, StateEntry, vector_of
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means, SparkReader
from imp_driver.operators.aggregate.accumulator import StateCorrupt
from imp_driver.operators.contract import AccumulatorKind, ProjectedRows
from imp_driver.parse.nodes import Column
from imp_driver.parse.supported import Refused
from imp_driver.parse.types import arrow_type
from imp_driver.persist.encoding import encoded_state
from imp_driver.ports import BUCKET, BucketEngine
from imp_driver.reasons import Reason, RecaptureReason
from imp_driver.sketch.ranges import RangePartition
from imp_driver.sketch.sketch import Sketch

BUCKET_BYTES = 32 << 20
"""Of groups that one bucket should hold: a worker has a few of them in memory at once."""
FEWEST_BUCKETS, MOST_BUCKETS = 4, 200
"""The most, since a group's bucket is computed by a tree of comparisons, which must stay small enough to be compiled."""


def why_not_bucketed(request: Request, choice: Choice) -> str:
    """Say why a block's state cannot be kept in buckets; empty when it can."""
    if choice.key is None:
        return "only states that are cut on a group key can be kept by ranges"
    if request.block.limit is not None:
        return "the first groups by an order are found in memory only"
    if any(aggregate.specification.kind is AccumulatorKind.COUNT_DISTINCT for aggregate in request.block.aggregates):
        return "distinct values are counted in memory only"
    if _partition(request, choice) is None:
        return "the files' statistics give no ranges"
    return ""


def capture_buckets(
    request: Request, choice: Choice, read: SparkReader, engine: BucketEngine, folder: str, group_bytes: float
) -> BucketedState:
    """Capture a state of about ``group_bytes`` a group into a new table below ``folder``.

    Raises:
        StateCorrupt: what was captured contradicts itself.
        Error: the engine failed.
    """
    block, partition = request.block, _partition(request, choice)
    assert choice.key is not None
    assert partition is not None
    specifications = tuple(aggregate.specification for aggregate in block.aggregates)
    query = capture_sql(block, at_versions(request.versions), deep_buffers=True)
    empty = read(f"SELECT * FROM ({query}) LIMIT 0")
    types = tuple(_key_type(request, place, empty.schema.field(f"key_{place}").type) for place in range(len(block.keys)))
    nothing = encoded_state(captured(empty, specifications, types, choice.key, partition).snapshot())
    kernel = Kernel(specifications, types, choice.key, partition, block.condition, nothing)
    coarse = coarsened(partition, _buckets(request, group_bytes))
    number = bucket_sql(f"key_{choice.key}", _type_name(request, choice), coarse)
    target = f"{folder}/{uuid.uuid4().hex}"
    return build(engine, target, f"SELECT *, {number} AS {BUCKET} FROM ({query})", kernel, _constants(request), coarse)


def step_buckets(state: BucketedState, request: Request, shares: Sequence[ProjectedRows], engine: BucketEngine, inexact: float) -> None:
    """Apply the signed rows of one step. Raises ChangesUnavailable when the state is of no use then, Error when the engine failed."""
    try:
        if shares:
            state.step(engine, shares, request.block.condition, _constants(request))
    except StateCorrupt as error:
        raise ChangesUnavailable(RecaptureReason.ROW_COUNT_DIFFERS, str(error)) from error
    except ChangedElsewhere as error:
        raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, str(error)) from error
    if state.inexact.sum() > inexact * max(1, int(state.groups.sum())):
        raise ChangesUnavailable(RecaptureReason.INEXACT_STATE, f"{state.inexact.sum()} groups")


def bucketed_sketch(entry: StateEntry, state: BucketedState, request: Request, means: Means) -> Derived:
    """Return the sketch of a state at its versions. Raises Error; Refused, with the state given up, when it is damaged."""
    constants = constants_of(request.block, may_tie=request.analysis.may_tie)
    known = entry.derived
    if known is None or known.vector != entry.vector or known.constants != constants:
        assert means.buckets is not None
        entry.put_aside()
        try:
            fragments = state.fragments(means.buckets, request.block.condition, _constants(request))
        except StateCorrupt as error:
            entry.give_up()
            raise Refused(Reason.RECAPTURE_DEFERRED, str(error)) from error
        versions = {location: table.version for location, table in entry.vector.items()}
        sketch = Sketch(versions, entry.attribute, state.partition, fragments)
        known = entry.derived = Derived(vector_of(request.tables), constants, sketch, state.rows.copy())
    return known


def _constants(request: Request) -> str:
    return repr(request.block.having)


def _buckets(request: Request, group_bytes: float) -> int:
    wanted = int(np.ceil(request.rows * group_bytes / BUCKET_BYTES))
    return min(max(FEWEST_BUCKETS, wanted), MOST_BUCKETS)


def _partition(request: Request, choice: Choice) -> RangePartition | None:
    """Return the ranges of the group key that the files' statistics give."""
    cut = choice.cuts(request)[0]
    kind = arrow_type(_type_name(request, choice))
    return None if kind is None else file_partition(request.snapshots[cut.scan.table].files, cut.attribute.name, kind, request.fragments)


def _type_name(request: Request, choice: Choice) -> str:
    return choice.cuts(request)[0].attribute.type_name or ""


def _key_type(request: Request, place: int, found: pa.DataType) -> pa.DataType:
    key = request.block.keys[place]
    wanted = request.analysis.columns.get(key.name) if isinstance(key, Column) else None
    return found if wanted is None else wanted
