"""Rows per (group, fragment) of an attribute that is not a group key: merge with counts (IMP paper sections 5.1 and 5.2.5).

The rows of a group may then lie in several fragments; a fragment is kept while it holds a row of a retained group. Invariant: the cells
of a group add up to its rows, so a slot without a group has no cells to hand on to the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, StateCorrupt
from imp_driver.dataflow.aggregate.index import SlotIndex
from imp_driver.dataflow.aggregate.keys import KeyValues, grouped
from imp_driver.dataflow.aggregate.pairs import PairCounts, TooFew
from imp_driver.sketch.balance import Balance
from imp_driver.values.codes import BooleanArray, Codec, IntegerArray, one_array
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition

Column: TypeAlias = pa.Array | pa.ChunkedArray
Fragments: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class CapturedCells:
    """Rows per group and fragment as columns of one entry per cell: row number of the group in the captured groups, fragment, rows."""

    group: IntegerArray
    fragment: IntegerArray
    rows: IntegerArray

    @classmethod
    def of(cls, group: IntegerArray | Column, fragment: Column, rows: Column) -> CapturedCells:
        """Take over captured columns. Raises StateCorrupt when one holds a NULL or their lengths differ."""
        groups = group if isinstance(group, np.ndarray) else _whole_numbers(group)
        cells = cls(groups, _whole_numbers(fragment), _whole_numbers(rows))
        if not len(cells.group) == len(cells.fragment) == len(cells.rows):
            raise StateCorrupt("the captured columns of groups and fragments differ in length; the state must be captured again")
        return cells


def cell_groups(key_types: Sequence[pa.DataType], keys: Sequence[Column], cell_keys: Sequence[Column]) -> IntegerArray:
    """Return per cell the row number of its group in ``keys``, with keys equal as Spark groups them.

    Raises StateCorrupt when a cell is of no group.
    """
    codecs = [Codec(key_type) for key_type in key_types]
    held = tuple(KeyValues(*codec.encode(key)) for codec, key in zip(codecs, keys, strict=True))
    index = SlotIndex(held, held)
    inverse, values = grouped(codecs, [one_array(key) for key in cell_keys])
    groups = index.find(values)
    if np.any(groups < 0):
        raise StateCorrupt("rows were captured of a group that the groups do not hold; the state must be captured again")
    return groups[inverse]


def groups_in_cells(
    key_types: Sequence[pa.DataType], cell_keys: Sequence[Column], rows: Column
) -> tuple[tuple[pa.Array, ...], pa.Array, IntegerArray]:
    """Return (keys of the groups that cells are of, rows of each group, per cell the row number of its group)."""
    codecs = [Codec(key_type) for key_type in key_types]
    inverse, values = grouped(codecs, [one_array(key) for key in cell_keys])
    totals = np.zeros(len(values[0].codes), dtype=np.int64)
    np.add.at(totals, inverse, _whole_numbers(rows))
    keys = tuple(codec.decode(value.codes, value.nulls) for codec, value in zip(codecs, values, strict=True))
    return keys, pa.array(totals), inverse


class CellCut:
    """Groups cut by a column that is none of their keys: rows per cell. ``attribute`` is what people call the column."""

    def __init__(self, cells: PairCounts, partition: RangePartition, attribute: str) -> None:
        self.attribute = attribute
        self._cells = cells
        self._partition = partition
        self._totals = np.zeros(partition.fragments, dtype=np.int64)
        _, fragments, rows = cells.pairs()
        np.add.at(self._totals, fragments, rows)
        self._balance = Balance.of(self._totals[: partition.ranges])

    @classmethod
    def capture(cls, cells: CapturedCells, group_rows: IntegerArray, partition: RangePartition, attribute: str) -> CellCut:
        """Take over captured cells; slots are the row numbers of groups.

        Args:
            group_rows: rows per group.

        Raises StateCorrupt when cells repeat, name no group or fragment, have no rows, or do not add up to the rows of each group.
        """
        if np.any((cells.group < 0) | (cells.group >= len(group_rows))):
            raise StateCorrupt("a captured cell is of no group; the state must be captured again")
        _check_fragments(cells.fragment, partition.fragments)
        pairs = PairCounts.of(cells.group, cells.fragment, cells.rows)
        totals = np.zeros(len(group_rows), dtype=np.int64)
        np.add.at(totals, cells.group, cells.rows)
        if pairs is None or np.any(totals != group_rows):
            raise StateCorrupt("the captured cells of a group do not add up to its rows; the state must be captured again")
        return cls(pairs, partition, attribute)

    @property
    def partition(self) -> RangePartition:
        return self._partition

    def prepare(self, slots: IntegerArray, fragments: npt.NDArray[np.integer], weights: IntegerArray) -> Commit:
        """Compute the cells after a delta; the returned commit only assigns.

        Args:
            slots, fragments, weights: one entry per delta row, of one length.

        Raises:
            StateCorrupt: more was deleted from a cell than was there, or there is no such fragment.
        """
        _check_fragments(fragments, self._partition.fragments)
        try:
            take = self._cells.prepare(slots, fragments.astype(np.int64), weights).commit
        except TooFew:
            message = "a delta deleted more rows of a group from a fragment than it held; the state must be captured again"
            raise StateCorrupt(message) from None

        def commit() -> None:
            take()
            np.add.at(self._totals, fragments, weights)

        return commit

    def sketch(self, retained: BooleanArray) -> FragmentSet:
        """Return the fragments that hold a row of a retained group; ``retained`` has one entry per slot."""
        mask = np.zeros(self._partition.fragments, dtype=bool)
        slots, fragments, _ = self._cells.pairs()
        mask[fragments[retained[slots]]] = True
        return FragmentSet.of(np.flatnonzero(mask).tolist(), self._partition.fragments)

    def fragment_rows(self) -> IntegerArray:
        """Return rows per fragment, the NULL fragment last."""
        return self._totals.copy()

    @property
    def has_lost_balance(self) -> bool:
        """Whether rows have piled up in a range or are gone from many. Then cells are read anew: they hold no values."""
        return self._balance.is_lost(self._totals[: self._partition.ranges])

    def __len__(self) -> int:
        """Number of cells."""
        return len(self._cells)

    @property
    def memory(self) -> int:
        """Bytes."""
        return self._cells.memory + int(self._totals.nbytes)

    def snapshot(self, slots: IntegerArray) -> CapturedCells:
        """Return what ``capture`` takes back, groups numbered by their place in ``slots``: all slots with a group, ascending."""
        held, fragments, rows = self._cells.pairs()
        return CapturedCells(np.searchsorted(slots, held).astype(np.int64), fragments, rows.copy())


def _check_fragments(fragments: npt.NDArray[np.integer], total: int) -> None:
    if np.any((fragments < 0) | (fragments >= total)):
        raise StateCorrupt(f"rows lie in fragments that are not among the {total} of the partition; the state must be captured again")


def _whole_numbers(values: Column) -> IntegerArray:
    if values.null_count:
        raise StateCorrupt("a captured group, fragment or number of rows is NULL; the state must be captured again")
    numbers: IntegerArray = one_array(values).cast(pa.int64()).to_numpy(zero_copy_only=False).copy()
    return numbers
