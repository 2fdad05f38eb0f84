"""Columns of the data files of one table, and Bloom filters of them, read once and kept while there is room."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import pyarrow as pa

from imp_driver.delta.bloom import Bloom
from imp_driver.delta.commits import DataFile
from imp_driver.delta.file_cache import Kept, KeptColumn, Key
from imp_driver.delta.files import Piece, PieceReader
from imp_driver.delta.schema import StoredColumn
from imp_driver.delta.sorted_places import SortedPlaces
from imp_driver.delta.store import TableStore
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.codes import CodeArray, IntegerArray, one_array

AskedT = TypeVar("AskedT")
FoundT = TypeVar("FoundT")
_THREADS = min(4, os.cpu_count() or 1)
SEARCHES = 2
"""Of one column of a file, before it is sorted: that takes as long as some ten of them."""


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """What is kept of all tables: at most so many bytes of columns, of filters, and of positions by value. Thread-safe.

    ``searched`` says how often values were looked for in a column.
    """

    columns: Kept[KeptColumn] = field(default_factory=lambda: Kept(384 << 20))
    filters: Kept[Bloom] = field(default_factory=lambda: Kept(64 << 20))
    places: Kept[SortedPlaces] = field(default_factory=lambda: Kept(128 << 20))
    searched: BoundedCache[Key, int] = field(default_factory=lambda: BoundedCache(10_000))


@dataclass(frozen=True, slots=True)
class FileColumns:
    """Reads stored columns of files of one table. Its methods raise OSError, ValueError and Arrow's errors, as reading files does."""

    store: TableStore
    table_id: str
    kept: ReadFiles

    def read(
        self, columns: Sequence[StoredColumn], paths: Sequence[str], *, are_small: bool = False
    ) -> list[dict[StoredColumn, KeptColumn]]:
        """Return the columns of each file.

        Args:
            are_small: all files together. On a local disk they are read one by one, as threads wait for each other longer than for it.
        """
        found = [self.kept.columns.found(self.table_id, path, columns) for path in paths]
        places = [place for place, each in enumerate(found) if len(each) < len(columns)]
        read_each = map if are_small and self.store.folder is not None else _each
        for place, read in zip(places, read_each(lambda place: self._missing(columns, paths[place], found[place]), places), strict=True):
            found[place] |= read
        return found

    def filters(self, key: StoredColumn, paths: Sequence[str], *, is_worth_reading: bool) -> list[Bloom | None]:
        """Return the filter of a column of each file; None where there is none yet, and files are not read for one."""
        found = [self.kept.filters.found(self.table_id, path, [key]).get(key) for path in paths]
        missing = [path for path, bloom in zip(paths, found, strict=True) if bloom is None]
        if not is_worth_reading or not missing:
            return found
        made = dict(zip(missing, _each(lambda path: self._filter(key, path), missing), strict=True))
        return [made.get(path, bloom) for path, bloom in zip(paths, found, strict=True)]

    def places_of(self, key: StoredColumn, path: str, column: KeptColumn, values: pa.Array, codes: CodeArray) -> IntegerArray:
        """Return the positions of some values, as ``KeptColumn.places_of``; a column that is searched again and again is sorted."""
        if not column.may_be_sorted:
            return column.places_of(values, codes)
        found = self.kept.places.found(self.table_id, path, [key]).get(key)
        if found is None:
            searched = self.kept.searched.get((self.table_id, path, key)) or 0
            self.kept.searched[self.table_id, path, key] = searched + 1
            if searched < SEARCHES:
                return column.places_of(values, codes)
            found = SortedPlaces.of(column.stored)
            self.kept.places.keep(self.table_id, path, {key: found})
        return found.places_of(codes)

    def _missing(
        self, columns: Sequence[StoredColumn], path: str, found: Mapping[StoredColumn, KeptColumn]
    ) -> dict[StoredColumn, KeptColumn]:
        read = self._stored([column for column in columns if column not in found], path)
        self.kept.columns.keep(self.table_id, path, read)
        return read

    def _filter(self, key: StoredColumn, path: str) -> Bloom:
        kept = self.kept.columns.found(self.table_id, path, [key]) or self._stored([key], path)
        bloom = Bloom.of(kept[key].values)
        self.kept.filters.keep(self.table_id, path, {key: bloom})
        return bloom

    def _stored(self, columns: Sequence[StoredColumn], path: str) -> dict[StoredColumn, KeptColumn]:
        rows, _ = PieceReader(self.store, columns).read(Piece(DataFile(path, (), None, 0, None, True), 1))
        return {column: KeptColumn.of(one_array(rows.column(column.column.name))) for column in columns}


def _each(read: Callable[[AskedT], FoundT], asked: Sequence[AskedT]) -> list[FoundT]:
    """Read several files side by side; threads are started for one alone in vain."""
    if len(asked) < 2:
        return list(map(read, asked))
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(read, asked))
