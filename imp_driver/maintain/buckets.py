"""States beyond the memory budget: captured into buckets by the engine, changed there, and asked for the sketch.

Source: design of incremental views, section 5, tier 2. The changes below the groups are computed as for a state in memory.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.buckets.kernel import Kernel, captured
from imp_driver.buckets.state import BucketedState, ChangedElsewhere, build, coarsened, reread, unread
from imp_driver.capture.buckets import CutColumn
from imp_driver.capture.capture import column
from imp_driver.capture.instrument import capture_sql, sample_sql
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.maintain.derive import constants_of
from imp_driver.maintain.ranges import partition_of_files, type_of
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means
from imp_driver.persist.encoding import encoded_state
from imp_driver.persist.record import StoredBuckets
from imp_driver.ports import SparkReader
from imp_driver.reasons import Reason, RecaptureReason
from imp_driver.safety.verdict import readable
from imp_driver.sketch.sketch import Sketch
from imp_driver.state.maintained import Maintained
from imp_driver.state.sketches import Derived
from imp_driver.values.aggregates import OF_MULTISETS, ProjectedRows
from imp_driver.values.buckets import BUCKET, BucketEngine
from imp_driver.values.cuts import AttachedCut, CutName
from imp_driver.values.expressions import Column
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition, equi_depth
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangesUnavailable
from imp_driver.values.types import arrow_type

BUCKET_BYTES = 32 << 20
"""Of groups that one bucket should hold: a worker has a few of them in memory at once."""
FEWEST_BUCKETS, MOST_BUCKETS = 4, 200
"""Where the groups have more bytes than the most of such buckets, these become larger."""

SAMPLE_ROWS = 50_000
"""About so many rows say where the ranges of a key are cut that the files' statistics do not tell apart."""

_NO_ORDER = "the first groups by an order are found in memory only"


@dataclass(frozen=True, slots=True, eq=False)
class BucketCut:
    """The key by whose ranges groups are kept.

    Attributes:
        attribute: what people call it; ``type_name`` is Delta's name of its type.
        partition: the ranges whose rows are counted, ``coarse`` those that are buckets.
    """

    name: CutName
    attribute: str
    type_name: str
    partition: RangePartition
    coarse: RangePartition


def bucket_cut(request: Request, read: SparkReader, group_bytes: float) -> BucketCut | str:
    """Return by what groups of so many bytes each can be kept in buckets, or why they cannot. Raises Error."""
    if any(aggregate.specification.kind in OF_MULTISETS for aggregate in request.block.aggregates):
        return "distinct values are counted in memory only"
    if not request.names:
        return _cut_of_answers(request, read, group_bytes)
    name = request.names[0]
    if name.key is None:
        return "only states that are cut on a group key can be kept by ranges"
    if request.block.limit is not None:
        return _NO_ORDER
    partition = partition_of_files(request, name, request.fragments)
    if partition is None:
        return "the files' statistics give no ranges"
    coarse = coarsened(partition, _buckets(request, group_bytes))
    return BucketCut(name, request.attribute_of(name), type_of(request, name), partition, coarse)


def _cut_of_answers(request: Request, read: SparkReader, group_bytes: float) -> BucketCut | str:
    """Return the cut of groups that others are merged from: by ranges of about as many rows each, of which some are looked at."""
    block = request.block
    if request.bucket_key not in block.keys_sql:
        if request.is_finer:
            return "the query compares them in a way that needs all of them in memory at once"
        return "rows are answered from groups in memory alone"
    place = block.keys_sql.index(request.bucket_key)
    key = block.keys[place]
    type_name = request.type_names.get(key.name) if isinstance(key, Column) else None
    kind = None if type_name is None else arrow_type(type_name)
    if kind is None or type_name is None or not _has_ranges(kind):
        return f"the key {readable(request.bucket_key)} is no column of integers, decimals, dates, timestamps or text"
    partition = request.bucket_ranges
    if partition is None or partition.type != kind:
        sample = read(sample_sql(block, request.relation, place, min(1.0, SAMPLE_ROWS / max(1, request.rows))))
        values = column(sample, "value").cast(kind)
        partition = equi_depth(values, np.ones(len(values), dtype=np.int64), _buckets(request, group_bytes))
    if partition.ranges < 2:
        return f"the key {readable(request.bucket_key)} has one value"
    return BucketCut(CutName(partition.ranges, place), request.bucket_key, type_name, partition, partition)


def _has_ranges(kind: pa.DataType) -> bool:
    """Say whether equal values are the same, and their order is Spark's: doubles have two zeros, and NaN."""
    are_ranged = (pa.types.is_integer, pa.types.is_decimal, pa.types.is_date, pa.types.is_timestamp, pa.types.is_string)
    return any(each(kind) for each in are_ranged)


def capture_buckets(request: Request, cut: BucketCut, read: SparkReader, engine: BucketEngine, folder: str) -> BucketedState:
    """Capture a state into a new table below ``folder``.

    Raises:
        StateCorrupt: what was captured contradicts itself.
        Error: the engine failed.
    """
    kernel = _kernel(request, cut.name, read, cut.partition)
    key = f"key_{cut.name.key}"
    numbered = CutColumn(key, cut.type_name, cut.coarse).located_sql(_query(request), BUCKET, key)
    state = unread(cut.name, cut.attribute, f"{folder}/{uuid.uuid4().hex}", -1, kernel, cut.coarse)
    return build(engine, state, numbered, _constants(request))


def restore_buckets(cut: AttachedCut, stored: StoredBuckets, request: Request, read: SparkReader, engine: BucketEngine) -> BucketedState:
    """Return a state of the store; what passes is asked when the first sketch is. Raises Error, StateCorrupt."""
    kernel = _kernel(request, cut.name, read, cut.partition)
    state = unread(cut.name, cut.attribute, stored.target, stored.version, kernel, coarsened(cut.partition, stored.count))
    return reread(engine, state)


def _query(request: Request) -> str:
    return capture_sql(request.block, request.relation, deep_buffers=True)


def _kernel(request: Request, name: CutName, read: SparkReader, partition: RangePartition) -> Kernel:
    block = request.block
    assert name.key is not None
    specifications = tuple(aggregate.specification for aggregate in block.aggregates)
    empty = read(f"SELECT * FROM ({_query(request)}) LIMIT 0")
    types = tuple(_key_type(request, place, empty.schema.field(f"key_{place}").type) for place in range(len(block.keys)))
    nothing = encoded_state(captured(empty, specifications, types).snapshot())
    return Kernel(specifications, types, name.key, partition, block.condition, nothing)


def attach_buckets(relation: Maintained, request: Request, means: Means) -> bool:
    """Let a relation use the buckets that the store has a record of; False, with the relation given up, when they cannot be had."""
    record = None if relation.stored is None else relation.stored.record
    if record is None or record.buckets is None or means.buckets is None:
        return False
    try:
        bucketed = restore_buckets(record.cuts[0].cut, record.buckets, request, means.read, means.buckets)
    except (Error, StateCorrupt) as error:
        raise_if_cancelled(error)
        relation.invalidated()
        return False
    relation.restored(bucketed, request.block, bucketed.kernel.key_types)
    return True


def step_buckets(state: BucketedState, request: Request, shares: Sequence[ProjectedRows], means: Means, inexact: float) -> None:
    """Apply the signed rows of one step. Raises ChangesUnavailable when the state is of no use then."""
    if means.buckets is None:
        raise ChangesUnavailable(RecaptureReason.NOT_INCREMENTAL, "the state is in buckets, which this session cannot read")
    try:
        if shares:
            state.step(means.buckets, shares, request.block.condition, _constants(request))
    except Error as error:
        raise_if_cancelled(error)
        raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, str(error).split("\n", 1)[0]) from error
    except StateCorrupt as error:
        raise ChangesUnavailable(RecaptureReason.CHANGES_CONTRADICT, str(error)) from error
    except ChangedElsewhere as error:
        raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, str(error)) from error
    if state.inexact.sum() > inexact * max(1, int(state.groups.sum())):
        raise ChangesUnavailable(RecaptureReason.INEXACT_STATE, f"{state.inexact.sum()} groups")


def bucketed_sketch(relation: Maintained, state: BucketedState, request: Request, means: Means) -> Derived:
    """Return the sketch of groups in buckets at their versions.

    Raises:
        Refused: they cannot be read, and are given up; or another template's have the groups, but not their order.
    """
    if request.block.limit is not None:
        raise Refused(Reason.STATE_TOO_LARGE, _NO_ORDER)
    constants = constants_of(request.block, may_tie=request.analysis.may_tie)
    sketches = relation.sketches(state.name)
    known = sketches.newest
    if known is not None and known.vector == relation.vector and known.constants == constants:
        return known
    sketches.put_aside()
    fragments = _fragments(relation, state, request, means)
    versions = {location: table.version for location, table in relation.vector.items()}
    sketch = Sketch(versions, state.attribute, state.partition, fragments)
    return sketches.add(Derived(relation.vector, constants, sketch, state.rows.copy()))


def _fragments(relation: Maintained, state: BucketedState, request: Request, means: Means) -> FragmentSet:
    if means.buckets is None:
        raise Refused(Reason.STATE_TOO_LARGE, "the state is in buckets, which this session cannot read")
    try:
        return state.fragments(means.buckets, request.block.condition, _constants(request))
    except (Error, StateCorrupt) as error:
        raise_if_cancelled(error)
        relation.invalidated()
        raise Refused(Reason.RECAPTURE_DEFERRED, str(error).split("\n", 1)[0]) from error


def _constants(request: Request) -> str:
    return repr(request.block.having)


def _buckets(request: Request, group_bytes: float) -> int:
    wanted = int(np.ceil(request.rows * group_bytes / BUCKET_BYTES))
    return min(max(FEWEST_BUCKETS, wanted), MOST_BUCKETS)


def _key_type(request: Request, place: int, found: pa.DataType) -> pa.DataType:
    key = request.block.keys[place]
    wanted = request.analysis.columns.get(key.name) if isinstance(key, Column) else None
    return found if wanted is None else wanted
