"""The rows that rules make, with their levels, in the form that takes less for as many as there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from imp_driver.dataflow.recursion.cell_rows import CellRows
from imp_driver.dataflow.recursion.coded_rows import Found, Index
from imp_driver.dataflow.recursion.hashed_rows import HashedRows
from imp_driver.dataflow.recursion.keys import ABSENT, Layout, LevelArray
from imp_driver.values.codes import IntegerArray

_FEW_BITS, _MOST_BITS = 20, 26
"""Up to which there is always a cell for each row that could be, and up to which there can be."""
_CELLS_PER_ROW = 16
_MOST_BITS_ASIDE = 13
"""Of the columns that are not known when rows are found, so that no look at all of their cells takes long."""
_NO_KEYS = np.empty(0, dtype=np.int64)


class RecursiveRows:
    """Rows of one relation and their levels."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._bits_aside = 0
        self._count = 0
        self._rows: CellRows | HashedRows = HashedRows(_NO_KEYS, _NO_KEYS.astype(np.int16))

    def expect(self, index: Index) -> None:
        """Be ready to find rows by some columns; before there are any rows."""
        self._bits_aside = max(self._bits_aside, index.free_bits)

    def fill(self, keys: IntegerArray, levels: LevelArray) -> None:
        """Have rows, each once, in the place of none."""
        self._count = len(keys)
        self._rows = CellRows(self._layout, keys, levels) if self._takes_cells() else HashedRows(keys, levels)

    def __len__(self) -> int:
        return self._count

    def levels(self, keys: IntegerArray) -> LevelArray:
        return self._rows.levels(keys)

    def find(self, index: Index, prefixes: IntegerArray, below: int = ABSENT, best: LevelArray | None = None) -> Iterator[Found]:
        """Yield the rows of levels below some whose columns have the values of each prefix.

        Nothing more need be found for a prefix whose ``best``, which may be lowered meanwhile, is not above these levels.
        """
        return self._rows.find(index, prefixes, below, best)

    def counts(self, index: Index, prefixes: IntegerArray) -> IntegerArray:
        """Return how many rows are looked at to find those of each prefix."""
        return self._rows.counts(index, prefixes)

    def put(self, keys: IntegerArray, level: int, more: int) -> None:
        """Have rows, each once, at a level, of which so many were not there."""
        self._rows.put(keys, level)
        self._count += more
        if isinstance(self._rows, HashedRows) and self._takes_cells():
            self._rows = CellRows(self._layout, *self._rows.items())

    def remove(self, keys: IntegerArray) -> None:
        """Take away rows that are there, each once."""
        self._rows.put(keys, ABSENT)
        self._count -= len(keys)

    def cells(self) -> LevelArray | None:
        """Return the level of each row that there could be, by key, not to be written to; None where there is no such table."""
        return self._rows.cells if isinstance(self._rows, CellRows) else None

    def items(self) -> tuple[IntegerArray, LevelArray]:
        """Return the keys of all rows, ascending, and their levels."""
        keys, levels = self._rows.items()
        if isinstance(self._rows, CellRows):
            return keys, levels
        order = np.argsort(keys)
        return keys[order], levels[order]

    def _takes_cells(self) -> bool:
        bits = self._layout.size
        is_few = bits <= _FEW_BITS or (bits <= _MOST_BITS and self._count * _CELLS_PER_ROW >= 1 << bits)
        return is_few and self._bits_aside <= _MOST_BITS_ASIDE

    @property
    def memory(self) -> int:
        """Bytes."""
        return self._rows.memory
