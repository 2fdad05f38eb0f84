"""Grouped aggregation over signed rows (IMP paper section 5.2.5): the state of a query block below its HAVING.

In: captured columns, then deltas as ProjectedRows. Out: keys, aggregates, row counts and fragments of the groups, for conditions to be
evaluated against. Invariant: a delta is applied wholly or not at all, and afterwards the state is that of the changed table; it never
depends on HAVING's constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import (
    Accumulator,
    Commit,
    GroupChange,
    StateCorrupt,
    check_counts,
    integers,
    nothing,
    resized,
)
from imp_driver.dataflow.aggregate.balance import Balance
from imp_driver.dataflow.aggregate.cells import CapturedCells, FragmentCounts
from imp_driver.dataflow.aggregate.chosen import SomeGroups
from imp_driver.dataflow.aggregate.index import SlotIndex
from imp_driver.dataflow.aggregate.keys import KeyColumn, Keys, KeyValues, chosen, grouped
from imp_driver.dataflow.aggregate.loading import loaded
from imp_driver.dataflow.bounds.interval import Interval
from imp_driver.dataflow.contract import AggregateSpecification, ProjectedRows
from imp_driver.dataflow.merge import merge
from imp_driver.sketch.codes import BooleanArray, Codec, IntegerArray, one_array
from imp_driver.sketch.fragments import FragmentSet
from imp_driver.sketch.ranges import RangePartition, equi_depth

Column: TypeAlias = pa.Array | pa.ChunkedArray


class GroupState:
    """All groups of one block. Arrays over groups have one entry per slot; ``alive`` says which slots hold a group.

    The partition is over a group key, which puts each group in one fragment, or (``cells``) over another column.
    """

    def __init__(
        self,
        keys: tuple[KeyColumn, ...],
        rows: IntegerArray,
        accumulators: tuple[Accumulator, ...],
        index: SlotIndex,
        sketch_key: int | None,
        partition: RangePartition,
        cells: FragmentCounts | None = None,
    ) -> None:
        self._keys = keys
        self._rows = rows
        self._accumulators = accumulators
        self._index = index
        self._sketch_key = sketch_key
        self._partition = partition
        self._cells = cells
        self._fragments = np.zeros(0, dtype=np.int32)
        if sketch_key is not None:
            self._fragments = self._locate(sketch_key, keys[sketch_key].take(np.arange(len(rows))))
        self._totals = self._counted()
        self._balance = Balance.of(self.fragment_rows()[: partition.ranges])
        self._touched: list[IntegerArray] = []
        # Each group that changes is one more inexact one, at most.
        self._inexact, self._unchecked = 0, len(rows)
        self._key_intervals: dict[int, Interval] = {}
        self._aggregate_intervals: dict[int, Interval] = {}

    @classmethod
    def capture(
        cls,
        keys: Sequence[Column],
        row_counts: Column,
        parts: Mapping[tuple[int, str], Column],
        specifications: tuple[AggregateSpecification, ...],
        key_types: Sequence[pa.DataType],
        sketch_key: int | None,
        partition: RangePartition,
        cells: CapturedCells | None = None,
    ) -> GroupState:
        """Take over captured columns, one row per group.

        Args:
            row_counts: rows of each group, positive.
            parts: the columns of contract.PARTS by (aggregate, part).
            sketch_key: which key the partition is over; None for another column, and then ``cells`` are its rows per group and fragment.

        Raises StateCorrupt when groups repeat, a group has no rows, a part contradicts its count or cells contradict the rows of groups.
        """
        if (sketch_key is None) != (cells is not None):
            raise ValueError("a state needs either the key that its partition is over, or cells")
        values = [(Codec(key_type), Codec(key_type).encode(key)) for key_type, key in zip(key_types, keys, strict=True)]
        columns = tuple(KeyColumn(codec, KeyValues(*encoded)) for codec, encoded in values)
        rows = integers(one_array(row_counts))
        index = SlotIndex(tuple(KeyValues(*encoded) for _, encoded in values))
        if index.has_repeats or np.any(rows <= 0):
            raise StateCorrupt("the captured groups repeat or have no rows; the state must be captured again")
        accumulators = []
        for position, specification in enumerate(specifications):
            own = {part: one_array(column) for (aggregate, part), column in parts.items() if aggregate == position}
            accumulators.append(loaded(specification, own, rows))
        counts = None if cells is None else FragmentCounts.capture(cells, rows, partition.fragments)
        return cls(columns, rows, tuple(accumulators), index, sketch_key, partition, counts)

    def apply(self, delta: ProjectedRows) -> int:
        """Apply signed rows and return the number of touched groups.

        Raises StateCorrupt, or ValueError when the delta lacks the fragments that cells need, and then nothing has changed.
        """
        if not len(delta.weights):
            return 0
        change, values, fresh = self._grouped(delta)
        # Preparing raises before anything has changed; committing only assigns.
        commits = [accumulator.prepare(change, argument) for accumulator, argument in zip(self._accumulators, delta.arguments, strict=True)]
        commits.append(self._prepare_cells(change, delta))
        for commit in commits:
            commit()
        slots = change.slots
        self._rows[slots] = change.remaining
        if len(fresh):
            added = chosen(values, fresh)
            if self._sketch_key is not None:
                self._fragments[slots[fresh]] = self._locate(self._sketch_key, added[self._sketch_key])
            for column, new in zip(self._keys, added, strict=True):
                column.put(slots[fresh], new)
            self._index.add(added, slots[fresh])
        if self._sketch_key is not None:
            np.add.at(self._totals, self._fragments[slots], change.rows)
        self._touched.append(slots)
        self._unchecked += len(slots)
        self._index.remove(chosen(values, np.flatnonzero(change.remaining == 0)))
        self._key_intervals.clear()
        self._aggregate_intervals.clear()
        return len(slots)

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

    def _prepare_cells(self, change: GroupChange, delta: ProjectedRows) -> Commit:
        if self._cells is None:
            return nothing
        if delta.fragments is None or len(delta.fragments) != len(delta.weights):
            raise ValueError("a delta must bring the fragment of each row when the partition is over no group key")
        return self._cells.prepare(change.slots[change.inverse], delta.fragments, change.weights)

    def _grow(self, needed: int) -> None:
        capacity = len(self._rows)
        if needed <= capacity:
            return
        capacity = max(needed, capacity + capacity // 2, 16)
        self._rows = resized(self._rows, capacity)
        if self._sketch_key is not None:
            self._fragments = np.concatenate((self._fragments, np.zeros(capacity - len(self._fragments), dtype=np.int32)))
        for column in self._keys:
            column.grow(capacity)
        for accumulator in self._accumulators:
            accumulator.grow(capacity)

    def _locate(self, sketch_key: int, keys: KeyValues) -> npt.NDArray[np.int32]:
        codec = self._keys[sketch_key].codec
        return self._partition.locate(codec.decode(keys.codes, keys.nulls))

    @property
    def partition(self) -> RangePartition:
        return self._partition

    @property
    def alive(self) -> BooleanArray:
        return self.rows > 0

    @property
    def rows(self) -> IntegerArray:
        """Rows per slot."""
        return self._rows[: self._index.used]

    @property
    def fragment(self) -> npt.NDArray[np.int32]:
        """Fragment per slot, without meaning where not alive; of no length when the partition is over no group key."""
        return self._fragments[: self._index.used]

    @property
    def is_aligned(self) -> bool:
        """Whether the partition is over a group key."""
        return self._sketch_key is not None

    @property
    def groups(self) -> int:
        return len(self._index)

    @property
    def total_rows(self) -> int:
        return int(self.rows.sum())

    def sketch(self, retained: BooleanArray) -> FragmentSet:
        """Return the fragments that hold a row of a retained group; ``retained`` has one entry per slot."""
        if self._cells is None:
            return merge(retained, self.fragment, self._partition.fragments)
        return FragmentSet.of(np.flatnonzero(self._cells.fragments_of(retained)).tolist(), self._partition.fragments)

    def fragment_rows(self) -> IntegerArray:
        """Return rows per fragment, the NULL fragment last."""
        if self._cells is not None:
            return self._cells.rows_per_fragment()
        return self._totals.copy()

    def _counted(self) -> IntegerArray:
        totals = np.zeros(self._partition.fragments, dtype=np.int64)
        if self._sketch_key is not None:
            np.add.at(totals, self.fragment, self.rows)
        return totals

    def rebalance(self, fragments: int) -> None:
        """Cut at most ``fragments`` ranges anew where rows have piled up in one or are gone from many; only over a group key."""
        if self._sketch_key is None or not self._balance.is_lost(self.fragment_rows()[: self._partition.ranges]):
            return
        slots, column = np.flatnonzero(self.alive), self._keys[self._sketch_key]
        partition = equi_depth(self.key_values(self._sketch_key, slots), self._rows[slots], fragments)
        values = column.take(np.arange(len(self._rows)))
        located = partition.locate(column.codec.decode(values.codes, values.nulls))
        totals = np.zeros(partition.fragments, dtype=np.int64)
        np.add.at(totals, located[: self._index.used], self.rows)
        balance = Balance.of(totals[: partition.ranges])
        # At once: interrupted in between, the groups would lie in fragments of other ranges.
        self._partition, self._fragments, self._totals, self._balance = partition, located, totals, balance

    def key_interval(self, index: int) -> Interval:
        """Return the i-th group key per slot."""
        if index not in self._key_intervals:
            self._key_intervals[index] = self._keys[index].interval(slice(self._index.used))
        return self._key_intervals[index]

    def only(self, slots: IntegerArray) -> SomeGroups:
        """Return the values of some slots for a condition to be evaluated over."""
        return SomeGroups(self._keys, self._accumulators, slots, self._rows[slots])

    def take_touched(self) -> IntegerArray:
        """Return the slots whose groups changed since this was asked for the last time, each once."""
        touched, self._touched = self._touched, []
        return np.unique(np.concatenate(touched)) if touched else np.zeros(0, dtype=np.int64)

    def key_values(self, index: int, slots: IntegerArray) -> pa.Array:
        """Return the i-th group key of some slots as it is, where ``key_interval`` may be wider."""
        values = self._keys[index].take(slots)
        return self._keys[index].codec.decode(values.codes, values.nulls)

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
        arrays = int(self._rows.nbytes + self._fragments.nbytes) + sum(column.memory for column in self._keys)
        cells = 0 if self._cells is None else self._cells.memory
        return arrays + cells + sum(accumulator.memory for accumulator in self._accumulators) + self._index.memory

    def snapshot(self) -> dict[str, pa.Array]:
        """Return the living groups as columns of one length: ``key_i``, ``rows``, ``aggregate_i_part``.

        Cells come in columns of another length, as ``capture`` takes them: ``cell_group``, ``cell_fragment``, ``cell_rows``.
        """
        slots = np.flatnonzero(self.alive)
        result = {}
        for position, column in enumerate(self._keys):
            values = column.take(slots)
            result[f"key_{position}"] = column.codec.decode(values.codes, values.nulls)
        result["rows"] = pa.array(self._rows[slots])
        for position, accumulator in enumerate(self._accumulators):
            result |= {f"aggregate_{position}_{part}": column for part, column in accumulator.parts(slots, self._rows[slots]).items()}
        if self._cells is not None:
            cells = self._cells.snapshot(slots)
            result |= {"cell_group": pa.array(cells.group), "cell_fragment": pa.array(cells.fragment), "cell_rows": pa.array(cells.rows)}
        return result

    @classmethod
    def restore(
        cls,
        columns: Mapping[str, Column],
        specifications: tuple[AggregateSpecification, ...],
        key_types: Sequence[pa.DataType],
        sketch_key: int | None,
        partition: RangePartition,
    ) -> GroupState:
        """Invert ``snapshot``; the error bounds of sums and the bounds of buffers come back as well. Raises StateCorrupt as ``capture``."""
        keys = [columns[f"key_{position}"] for position in range(len(key_types))]
        parts = {}
        for name, column in columns.items():
            if name.startswith("aggregate_"):
                _, position, part = name.split("_", 2)
                parts[int(position), part] = column
        cells = None
        if sketch_key is None:
            cells = CapturedCells.of(columns["cell_group"], columns["cell_fragment"], columns["cell_rows"])
        return cls.capture(keys, columns["rows"], parts, specifications, key_types, sketch_key, partition, cells)
