"""The levels of rows in one cell for each row that there could be, for relations that have many of these."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from imp_driver.dataflow.recursion.coded_rows import Found, Index
from imp_driver.dataflow.recursion.keys import ABSENT, PIECE, Layout, LevelArray
from imp_driver.values.codes import IntegerArray

_FIRST_LOOK = 64
"""Cells; most rows of relations that have so many derivations have one among these."""

_CELLS_PER_LOOK = 4


class CellRows:
    """A table with the key as address. Rows are found by any columns by a look at all cells that have their values.

    Attributes:
        cells: the level of each row that there could be, by key.
    """

    def __init__(self, layout: Layout, keys: IntegerArray, levels: LevelArray) -> None:
        self._layout = layout
        self.cells = np.full(1 << layout.size, ABSENT, dtype=np.int16)
        self.cells[keys] = levels
        self._others: dict[tuple[int, ...], IntegerArray] = {}

    def levels(self, keys: IntegerArray) -> LevelArray:
        return self.cells[keys]

    def put(self, keys: IntegerArray, level: int) -> None:
        """Have rows at a level; ``ABSENT`` takes them away."""
        self.cells[keys] = level

    def find(self, index: Index, prefixes: IntegerArray, below: int = ABSENT, best: LevelArray | None = None) -> Iterator[Found]:
        if not index.free:
            levels = self.levels(prefixes)
            here = (levels < below).nonzero()[0]
            yield Found(here, prefixes[here], levels[here])
            return
        others = self._others.get(index.columns)
        if others is None:
            others = self._others[index.columns] = self._of_others(index)
        first = index.from_prefix(prefixes)
        for part in [others] if best is None else _parts(others):
            left = np.arange(len(first)) if best is None else (best > below).nonzero()[0]
            at_once = max(1, PIECE // len(part))
            for begin in range(0, len(left), at_once):
                queries = left[begin : begin + at_once]
                found = (first[queries, np.newaxis] + part).ravel()
                levels = self.cells[found]
                here = (levels < below).nonzero()[0]
                # How many others there are is a power of two.
                yield Found(queries[here >> len(part).bit_length() - 1], found[here], levels[here])

    def counts(self, index: Index, prefixes: IntegerArray) -> IntegerArray:
        """Return how many rows are looked at for each prefix, as far as that takes as long as it does elsewhere."""
        return np.full(len(prefixes), max(1, (1 << index.free_bits) // _CELLS_PER_LOOK), dtype=np.int64)

    def items(self) -> tuple[IntegerArray, LevelArray]:
        """Return the keys of all rows, ascending, and their levels."""
        keys = np.flatnonzero(self.cells != ABSENT)
        return keys, self.cells[keys]

    def _of_others(self, index: Index) -> IntegerArray:
        """Return all keys that have 0 in the known columns."""
        return index.from_ordered(np.arange(1 << index.free_bits))

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.cells.nbytes + sum(others.nbytes for others in self._others.values())


def _parts(others: IntegerArray) -> Iterator[IntegerArray]:
    """Yield a few, and then as many as before each time."""
    begin, end = 0, min(_FIRST_LOOK, len(others))
    while begin < end:
        yield others[begin:end]
        begin, end = end, min(2 * end, len(others))
