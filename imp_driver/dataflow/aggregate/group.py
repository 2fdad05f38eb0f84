"""Grouped aggregation over signed rows (IMP paper section 5.2.5): the state of a query block below its HAVING.

In: captured columns, then deltas as ProjectedRows. Out: keys, aggregates and row counts of the groups, for conditions to be evaluated
against. Invariant: a delta is applied wholly or not at all, and afterwards the state is that of the changed table; it depends neither on
HAVING's constants nor on who reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import (
    Accumulator,
    Commit,
    Copy,
    GroupChange,
    StateCorrupt,
    Values,
    check_counts,
    integers,
    resized,
)
from imp_driver.dataflow.aggregate.distinct import DistinctCount
from imp_driver.dataflow.aggregate.index import SlotIndex
from imp_driver.dataflow.aggregate.keys import KeyColumn, Keys, KeyValues, chosen, grouped
from imp_driver.dataflow.aggregate.load import loaded, no_parts
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.aggregate.some_groups import SomeGroups
from imp_driver.dataflow.aggregate.touched import TouchedSlots
from imp_driver.dataflow.bounds.interval import Interval
from imp_driver.dataflow.zset import difference
from imp_driver.values.aggregates import AggregateSpecification, ProjectedRows
from imp_driver.values.codes import BooleanArray, Codec, IntegerArray, one_array, plain
from imp_driver.values.tables import ZSet

Column: TypeAlias = pa.Array | pa.ChunkedArray
_MANY_SLOTS = 100_000
"""From which on there are only so many more made that few of them stay empty."""


@dataclass(frozen=True, slots=True, eq=False)
class ChangedGroups:
    """What a delta makes of the groups. Nothing has changed before ``commit``, which only assigns.

    Attributes:
        change: the signed rows, by group.
        keys: those of the touched groups, in the order of ``change.slots``.
        fresh: places in it of the groups that were not there.
    """

    change: GroupChange
    keys: Keys
    fresh: IntegerArray
    commit: Commit


class GroupState:
    """All groups of one block. Arrays over groups have one entry per slot; ``alive`` says which slots hold a group."""

    def __init__(
        self,
        keys: tuple[KeyColumn, ...],
        rows: IntegerArray,
        specifications: tuple[AggregateSpecification, ...],
        accumulators: tuple[Accumulator, ...],
        index: SlotIndex,
    ) -> None:
        self._keys = keys
        self._specifications = specifications
        self._rows = rows
        self._accumulators = accumulators
        self._index = index
        # Each group that changes is one more inexact one, at most.
        self._inexact, self._unchecked = 0, len(rows)
        self._key_intervals: dict[int, Interval] = {}
        self._aggregate_intervals: dict[int, Interval] = {}
        self.touched = TouchedSlots()

    @classmethod
    def capture(
        cls,
        keys: Sequence[Column],
        row_counts: Column,
        parts: Mapping[tuple[int, str], Column],
        specifications: tuple[AggregateSpecification, ...],
        key_types: Sequence[pa.DataType],
    ) -> GroupState:
        """Take over captured columns, one row per group, whose slots are numbered in this order.

        Args:
            row_counts: rows of each group, positive.
            parts: the columns of ``PARTS`` by (aggregate, part).

        Raises StateCorrupt when groups repeat, a group has no rows or a part contradicts its count.
        """
        values = [(Codec(key_type), Codec(key_type).encode(key)) for key_type, key in zip(key_types, keys, strict=True)]
        columns = tuple(KeyColumn(codec, KeyValues(*encoded), is_distinct=len(values) == 1) for codec, encoded in values)
        rows = integers(one_array(row_counts))
        index = SlotIndex(columns, tuple(KeyValues(*encoded) for _, encoded in values))
        if index.has_repeats or np.any(rows <= 0):
            raise StateCorrupt("the captured groups repeat or have no rows; the state must be captured again")
        accumulators = []
        for position, specification in enumerate(specifications):
            own = {part: one_array(column) for (aggregate, part), column in parts.items() if aggregate == position}
            accumulators.append(loaded(specification, own, rows))
        return cls(columns, rows, specifications, tuple(accumulators), index)

    @classmethod
    def empty(cls, specifications: tuple[AggregateSpecification, ...], key_types: Sequence[pa.DataType]) -> GroupState:
        """Return a state of no rows."""
        parts = {(place, name): part for place, each in enumerate(specifications) for name, part in no_parts(each).items()}
        return cls.capture([pa.array([], kind) for kind in key_types], pa.array([], pa.int64()), parts, specifications, key_types)

    def apply(self, delta: ProjectedRows) -> ZSet | None:
        """Apply signed rows and return the rows of the changed groups, new ones less old ones; None where one is not known exactly.

        Raises StateCorrupt, and then nothing has changed.
        """
        changed = self.prepare(delta)
        if changed is None:
            return self.rows_at(np.zeros(0, dtype=np.int64))
        slots, remaining = changed.change.slots, changed.change.remaining
        held = slots[self._rows[slots] > 0]
        old = self.rows_at(held) if len(held) else None
        changed.commit()
        new = self.rows_at(slots[remaining > 0])
        if new is None or not len(held):
            return new
        return None if old is None else difference(new, old)

    def prepare(self, delta: ProjectedRows) -> ChangedGroups | None:
        """Compute the groups after signed rows; None without any. Raises StateCorrupt."""
        if not len(delta.weights):
            return None
        change, keys, fresh = self._grouped(delta)
        commits = [accumulator.prepare(change, argument) for accumulator, argument in zip(self._accumulators, delta.arguments, strict=True)]

        def commit() -> None:
            for each in commits:
                each()
            self._take(change, keys, fresh)

        return ChangedGroups(change, keys, fresh, commit)

    def _take(self, change: GroupChange, keys: Keys, fresh: IntegerArray) -> None:
        slots = change.slots
        self._rows[slots] = change.remaining
        if len(fresh):
            added = chosen(keys, fresh)
            for column, new in zip(self._keys, added, strict=True):
                column.put(slots[fresh], new)
            self._index.add(added, slots[fresh])
        self._unchecked += len(slots)
        gone = np.flatnonzero(change.remaining == 0)
        self._index.remove(chosen(keys, gone), slots[gone])
        self._key_intervals.clear()
        self._aggregate_intervals.clear()
        self.touched.note(slots)

    def _grouped(self, delta: ProjectedRows) -> tuple[GroupChange, Keys, IntegerArray]:
        """Return the change per touched group, the groups' keys, and which of them are new."""
        inverse, values = grouped([column.codec for column in self._keys], delta.keys)
        slots = self._index.find(values)
        fresh = np.flatnonzero(slots < 0)
        slots[fresh] = self._index.vacant(len(fresh))
        weights = np.asarray(delta.weights, dtype=np.int64)
        rows = np.zeros(len(slots), dtype=np.int64)
        np.add.at(rows, inverse, weights)
        self._grow(int(slots.max()) + 1)
        remaining = self._rows[slots] + rows
        check_counts(remaining, remaining, "rows")
        return GroupChange(slots, inverse, weights, rows, remaining, bool(np.all(np.abs(weights) == 1))), values, fresh

    def _grow(self, needed: int) -> None:
        capacity = len(self._rows)
        if needed <= capacity:
            return
        capacity = max(needed, capacity + capacity // (2 if capacity < _MANY_SLOTS else 8), 16)
        self._rows = resized(self._rows, capacity)
        for column in self._keys:
            column.grow(capacity)
        for accumulator in self._accumulators:
            accumulator.grow(capacity)

    @property
    def name(self) -> str:
        return "groups"

    @property
    def is_exact(self) -> bool:
        """Whether every aggregate of every group is known exactly, not only between bounds."""
        return self.rows_at(np.flatnonzero(self.alive)) is not None

    def codec(self, index: int) -> Codec:
        """Return how the values of the i-th key become codes."""
        return self._keys[index].codec

    @property
    def alive(self) -> BooleanArray:
        return self.rows > 0

    @property
    def rows(self) -> IntegerArray:
        """Rows per slot."""
        return self._rows[: self._index.used]

    @property
    def groups(self) -> int:
        return len(self._index)

    @property
    def total_rows(self) -> int:
        return int(self.rows.sum())

    def key_interval(self, index: int) -> Interval:
        """Return the i-th group key per slot."""
        if index not in self._key_intervals:
            self._key_intervals[index] = self._keys[index].interval(slice(self._index.used))
        return self._key_intervals[index]

    def only(self, slots: IntegerArray) -> SomeGroups:
        """Return the values of some slots for a condition to be evaluated over."""
        return SomeGroups(self._keys, self._accumulators, slots, self._rows[slots])

    def rows_at(self, slots: IntegerArray) -> ZSet | None:
        """Return some groups as rows, ``key_i`` and ``aggregate_i`` in Spark's types; None where a value is not known exactly."""
        columns = {f"key_{place}": self.key_values(place, slots) for place in range(len(self._keys))}
        for place in range(len(self._accumulators)):
            values = self.value_at(place, slots)
            if not values.exact.all():
                return None
            columns[f"aggregate_{place}"] = values.array
        return ZSet(pa.table(columns), np.ones(len(slots), dtype=np.int64))

    def value_at(self, index: int, slots: IntegerArray) -> Values:
        """Return the i-th aggregate of some groups."""
        return self._accumulators[index].values(self._rows[slots], slots)

    def value_as(self, specification: AggregateSpecification, index: int, slots: IntegerArray, groups: RollUp | None = None) -> Values:
        """Return an aggregate of some groups, or of the coarser ones that they fall into, from what the i-th one holds of its argument."""
        rows, accumulator = self._rows[slots], self._accumulators[index]
        if specification != self._specifications[index]:
            accumulator, slots = self.read_as(specification, index, slots), np.arange(len(slots))
        return accumulator.values(rows, slots) if groups is None else accumulator.rolled_up(rows, slots, groups)

    def copy_of(self, specification: AggregateSpecification, index: int, slots: IntegerArray) -> Copy:
        """Return an aggregate of some groups, in their order, from what the i-th one holds of its argument; no step changes it."""
        own = self._accumulators[index]
        if isinstance(own, DistinctCount) and specification == self._specifications[index]:
            return own.copy_of(slots)
        return self.read_as(specification, index, slots)

    def read_as(self, specification: AggregateSpecification, index: int, slots: IntegerArray) -> Accumulator:
        """Return all that is held of an aggregate of some groups, in their order, from what the i-th one holds of its argument."""
        rows = self._rows[slots]
        return loaded(specification, self._accumulators[index].parts(slots, rows), rows)

    def key_values(self, index: int, slots: IntegerArray) -> pa.Array:
        """Return the i-th group key of some slots as it is, where ``key_interval`` may be wider."""
        return plain(self.key_array(index, slots))

    def key_array(self, index: int, slots: IntegerArray) -> pa.Array:
        """Return ``key_values``, as a dictionary where many slots have few."""
        return self._keys[index].array(slots)

    def aggregate_interval(self, index: int) -> Interval:
        """Return the i-th aggregate per slot."""
        if index not in self._aggregate_intervals:
            self._aggregate_intervals[index] = self._accumulators[index].interval(self.rows, slice(self._index.used))
        return self._aggregate_intervals[index]

    @property
    def inexact_groups(self) -> int:
        """The most groups that any one aggregate would know better after capturing again."""
        return max((accumulator.inexact(self.rows) for accumulator in self._accumulators), default=0)

    def is_inexact_beyond(self, share: float) -> bool:
        """Say whether ``inexact_groups`` is more than a share of all; counted only when enough groups changed since the last time."""
        limit = share * max(1, self.groups)
        if self._inexact + self._unchecked > limit:
            self._inexact, self._unchecked = self.inexact_groups, 0
        return self._inexact > limit

    @property
    def memory(self) -> int:
        """Bytes, partly estimated."""
        arrays = int(self._rows.nbytes) + sum(column.memory for column in self._keys)
        return arrays + sum(accumulator.memory for accumulator in self._accumulators) + self._index.memory

    def snapshot(self) -> dict[str, pa.Array]:
        """Return the living groups as columns of one length: ``key_i``, ``rows``, ``aggregate_i_part``."""
        slots = np.flatnonzero(self.alive)
        result = {f"key_{position}": self.key_values(position, slots) for position in range(len(self._keys))}
        result["rows"] = pa.array(self._rows[slots])
        for position, accumulator in enumerate(self._accumulators):
            result |= {f"aggregate_{position}_{part}": column for part, column in accumulator.parts(slots, self._rows[slots]).items()}
        return result

    @classmethod
    def restore(
        cls,
        columns: Mapping[str, Column],
        specifications: tuple[AggregateSpecification, ...],
        key_types: Sequence[pa.DataType],
    ) -> GroupState:
        """Invert ``snapshot``; the error bounds of sums and the bounds of buffers come back as well. Raises StateCorrupt as ``capture``."""
        keys = [columns[f"key_{position}"] for position in range(len(key_types))]
        parts = {}
        for name, column in columns.items():
            if name.startswith("aggregate_"):
                _, position, part = name.split("_", 2)
                parts[int(position), part] = column
        return cls.capture(keys, columns["rows"], parts, specifications, key_types)
