"""The rows of a relation of ``VectorLevels`` as Arrow columns, of which a change has only those pieces made anew that it touches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.recursion.settling import KeyChanges
from imp_driver.dataflow.recursion.vectors import VectorLevels
from imp_driver.values.codes import IntegerArray

ROWS = 1 << 14
"""Of a piece; one that has twice as many becomes two."""
_MOST_CHANGED = 0.25
"""Part of the rows up to which pieces are changed; beyond that all of them are made anew."""

AsColumn: TypeAlias = Callable[[Sequence[object], pa.DataType], pa.Array]
"""Values, and the type of the column that is made of them."""


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Ascending keys, and the columns of their rows."""

    keys: IntegerArray
    columns: list[pa.Array]


class CodedTable:
    """Rows in the order of their keys. Values are converted once, when they are new, and then taken by their codes."""

    def __init__(self, levels: VectorLevels, relation: int, kinds: Sequence[pa.DataType], as_column: AsColumn) -> None:
        """Take the types of the columns, and how a column is made of values."""
        self._levels, self._relation, self._as_column = levels, relation, as_column
        self._schema = pa.schema([pa.field(f"c{place}", kind) for place, kind in enumerate(kinds)])
        self._load()

    @property
    def rows(self) -> pa.Table:
        columns = [
            pa.chunked_array([piece.columns[place] for piece in self._pieces], field.type) for place, field in enumerate(self._schema)
        ]
        return pa.Table.from_arrays(columns, schema=self._schema)

    def change(self, changes: KeyChanges) -> None:
        """Follow what ``VectorLevels.apply`` has returned, each time that it has returned anything."""
        count = len(changes.removed) + len(changes.added)
        if self._generation != self._levels.generation or count > _MOST_CHANGED * sum(len(piece.keys) for piece in self._pieces):
            self._load()
        elif count:
            self._convert()
            self._change(changes)

    def _load(self) -> None:
        """Make all pieces from the rows that are there."""
        self._generation = self._levels.generation
        self._values = [self._as_column([], kind) for kind in self._schema.types]
        self._convert()
        self._pieces = self._cut(self._levels.keys(self._relation))

    def _convert(self) -> None:
        """Have a column of each value that there is."""
        for place, (known, kind) in enumerate(zip(self._values, self._schema.types, strict=True)):
            values = self._levels.values(self._relation, place)
            if len(values) > len(known):
                self._values[place] = pa.concat_arrays([known, self._as_column(values[len(known) :], kind)])

    def _change(self, changes: KeyChanges) -> None:
        begins = np.array([piece.keys[0] for piece in self._pieces[1:]], dtype=np.int64)
        removed, added = (
            np.split(changes.removed, changes.removed.searchsorted(begins)),
            np.split(changes.added, changes.added.searchsorted(begins)),
        )
        pieces: list[_Piece] = []
        for piece, away, more in zip(self._pieces, removed, added, strict=True):
            if not len(away) and not len(more):
                pieces.append(piece)
                continue
            keys = np.delete(piece.keys, piece.keys.searchsorted(away))
            pieces += self._cut(np.insert(keys, keys.searchsorted(more), more))
        self._pieces = pieces

    def _cut(self, keys: IntegerArray) -> list[_Piece]:
        """Return ascending keys in pieces of the same size."""
        if not len(keys):
            return []
        return [self._piece(part) for part in np.array_split(keys, max(1, len(keys) // ROWS))]

    def _piece(self, keys: IntegerArray) -> _Piece:
        codes = self._levels.codes(self._relation, keys)
        return _Piece(keys, [values.take(pa.array(each)) for values, each in zip(self._values, codes, strict=True)])
