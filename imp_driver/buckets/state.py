"""A state in buckets, as the driver knows it: which version of which table holds it, and what the newest summaries say of each range.

A bucket is a run of the sketch's own ranges, so a change of few ranges touches few buckets, and each range's numbers come from one bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from imp_driver.buckets.kernel import Kernel, delta_of, united
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.values.aggregates import ProjectedRows
from imp_driver.values.buckets import BUCKET, BucketEngine
from imp_driver.values.codes import IntegerArray
from imp_driver.values.cuts import AttachedCut, CutName
from imp_driver.values.expressions import Expression
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition

_NOT_COUNTED = ""
"""Instead of the text of a condition: the numbers are not of one condition, or of none."""


class ChangedElsewhere(Exception):
    """Another process has changed the table of a state meanwhile; what is in it is of no use to either."""


@dataclass(slots=True, eq=False)
class BucketedState:
    """Mutable; used under the lock of its entry.

    Attributes:
        name, attribute: the key that the groups are cut by, and what people call it.
        target, version: folder and version of the Delta table.
        kernel: for the condition that ``passing`` was counted with; ``constants`` is that condition's text.
        coarse: the ranges that are buckets.
        groups, inexact: per bucket; ``changed`` is the version of the table at which it was written last, as far as that is known.
        rows, passing: per fragment.
    """

    name: CutName
    attribute: str
    target: str
    version: int
    kernel: Kernel
    constants: str
    coarse: RangePartition
    groups: IntegerArray
    inexact: IntegerArray
    changed: IntegerArray
    rows: IntegerArray
    passing: IntegerArray

    @property
    def partition(self) -> RangePartition:
        return self.kernel.partition

    @property
    def attached(self) -> tuple[AttachedCut, ...]:
        """Its one cut."""
        return (AttachedCut(self.name, self.partition, self.attribute),)

    @property
    def memory(self) -> int:
        """Bytes in this process."""
        return sum(int(each.nbytes) for each in (self.groups, self.inexact, self.changed, self.rows, self.passing))

    def step(self, engine: BucketEngine, shares: Sequence[ProjectedRows], condition: Expression | None, constants: str) -> None:
        """Apply signed rows to the buckets that they fall into, and count what passes there under ``condition``.

        Raises:
            StateCorrupt: the rows contradict the state, or a bucket is damaged; the state is of no use then.
            ChangedElsewhere: nor is it then.
            Error: the engine failed; nothing has changed.
        """
        rows = united(shares)
        if not len(rows.weights):
            return
        numbers = self.coarse.locate(rows.keys[self.kernel.sketch_key]).astype(np.int64)
        kernel = replace(self.kernel, condition=condition)
        version, summary = engine.step(self.target, self.version, delta_of(rows, numbers), kernel)
        _check_complete(summary, numbers)
        if version != self.version + 1:
            raise ChangedElsewhere(f"{self.target} went from version {self.version} to {version}")
        self.version = version
        self.changed[numbers] = version
        # Counted with other constants than the rest, the touched buckets leave nothing that could be used.
        self.constants = constants if constants == self.constants else _NOT_COUNTED
        self.kernel = kernel
        self._take(summary)

    def fragments(self, engine: BucketEngine, condition: Expression | None, constants: str) -> FragmentSet:
        """Return the fragments that hold a group which may pass; other constants than before have every bucket read. Raises as ``step``."""
        if constants != self.constants:
            kernel = replace(self.kernel, condition=condition)
            summary = engine.ask(self.target, self.version, kernel)
            _check_complete(summary, np.flatnonzero(self.groups))
            # Interrupted in between, the numbers are of no condition.
            self.constants = _NOT_COUNTED
            self._take(summary)
            self.kernel, self.constants = kernel, constants
        return FragmentSet.of(np.flatnonzero(self.passing).tolist(), self.partition.fragments)

    def _take(self, summary: pa.Table) -> None:
        owners = owners_of(self.coarse, self.partition)
        for row in summary.to_pylist():
            if row["problem"] is not None:
                raise StateCorrupt(row["problem"])
            number, own = row[BUCKET], owners == row[BUCKET]
            self.groups[number], self.inexact[number] = row["groups"], row["inexact"]
            for vector, name in ((self.rows, "fragment_rows"), (self.passing, "passing")):
                vector[own] = np.frombuffer(row[name], dtype="<i8")[own]


def _check_complete(summary: pa.Table, numbers: IntegerArray) -> None:
    """Raise StateCorrupt where the summary of a bucket is missing: its groups would be taken for ones that do not pass."""
    missing = np.setdiff1d(numbers, summary.column(BUCKET).to_numpy())
    if len(missing):
        raise StateCorrupt(f"nothing is known of the buckets {missing.tolist()} of a state")


def build(engine: BucketEngine, state: BucketedState, query: str, constants: str) -> BucketedState:
    """Capture an ``unread`` state into its new table; ``query`` gives captured groups with their bucket. Raises as ``step``."""
    state.version, summary = engine.build(state.target, query, state.kernel)
    state.changed[:] = state.version
    state.constants = constants
    state._take(summary)
    return state


def reread(engine: BucketEngine, state: BucketedState) -> BucketedState:
    """Take what the table of an ``unread`` state says of its buckets; what passes was counted with a condition that nobody knows now."""
    state._take(engine.summary(state.target, state.version))
    return state


def unread(name: CutName, attribute: str, target: str, version: int, kernel: Kernel, coarse: RangePartition) -> BucketedState:
    """Return a state whose table is there; what it says of each range is asked when it is needed."""
    buckets, fragments = coarse.fragments, kernel.partition.fragments
    groups, inexact, rows, passing = (np.zeros(size, dtype=np.int64) for size in (buckets, buckets, fragments, fragments))
    changed = np.full(buckets, version, dtype=np.int64)
    return BucketedState(name, attribute, target, version, kernel, _NOT_COUNTED, coarse, groups, inexact, changed, rows, passing)


def coarsened(partition: RangePartition, buckets: int) -> RangePartition:
    """Return at most ``buckets`` ranges, each a run of the partition's."""
    wanted = max(1, min(buckets, partition.ranges))
    places = np.unique(np.linspace(0, partition.ranges, wanted + 1).astype(np.int64)[1:-1])
    return RangePartition(partition.type, tuple(partition.bounds[place - 1] for place in places.tolist() if place > 0))


def owners_of(coarse: RangePartition, partition: RangePartition) -> IntegerArray:
    """Return the bucket of each fragment, NULL's last."""
    # Each range starts at a bound; the first one lies below all bounds.
    starts = coarse.locate(pa.array(partition.bounds, type=partition.type))
    return np.concatenate(([0], starts, [coarse.null_fragment])).astype(np.int64)
