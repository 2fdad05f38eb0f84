"""Rows of one version whose column has one of some values, read in process from the files that may hold them.

For the partners of a small change in a large table: where its files are clustered by the key, few of them are read, and those stay decoded
for the next change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.delta.commits import DataFile
from imp_driver.delta.files import Piece, PieceReader
from imp_driver.delta.handle import TableState
from imp_driver.delta.kept import KeptColumn, KeptColumns
from imp_driver.delta.schema import StoredColumn
from imp_driver.delta.statistics import TableStatistics
from imp_driver.delta.store import TableStore, data_path
from imp_driver.sketch.codes import BooleanArray, CodeArray, Codec, IntegerArray, one_array

MOST_ROWS = 4_000_000
"""Rows of the files that are read; beyond, the engine is the better place for it."""
_THREADS = min(4, os.cpu_count() or 1)


def is_looked_up(column: StoredColumn) -> bool:
    """Say whether rows are found by values of this column: the log's bounds must hold, and equal values be equal bytes."""
    kind = column.arrow_type
    if kind is None:
        return False
    return bool(pa.types.is_signed_integer(kind) or pa.types.is_date32(kind) or column.column.type_name == "string")


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """Distinct values of a key, without NULL; ``codes`` ascend."""

    key: StoredColumn
    values: pa.Array
    codes: CodeArray

    @classmethod
    def of(cls, key: StoredColumn, values: pa.Array) -> _Wanted:
        distinct = pc.unique(values.cast(key.arrow_type)).drop_null()
        return cls(key, distinct, np.sort(Codec(distinct.type).encode(distinct)[0]))

    def may_be_in(self, files: TableStatistics) -> BooleanArray:
        """Return which files may hold one of the values; one without bounds may."""
        codec = Codec(self.values.type)
        lower, upper, nulls = files.bounds(self.key.column.name)
        (low, no_low), (high, no_high) = (codec.encode(bound.cast(self.values.type)) for bound in (lower, upper))
        held = np.searchsorted(self.codes, low, side="left") < np.searchsorted(self.codes, high, side="right")
        is_all_null = (nulls >= 0) & (nulls == files.rows)
        return np.asarray((held | no_low | no_high) & ~is_all_null, dtype=bool)

    def places_in(self, column: KeptColumn) -> IntegerArray:
        """Return the positions of the values in a column of a file, ascending."""
        if column.order is None:
            return np.flatnonzero(pc.is_in(column.values, value_set=self.values).to_numpy(zero_copy_only=False))
        first = np.searchsorted(column.order, self.codes, side="left")
        last = np.searchsorted(column.order, self.codes, side="right")
        runs = [np.arange(low, high) for low, high in zip(first.tolist(), last.tolist(), strict=True) if low < high]
        return np.concatenate(runs) if runs else np.zeros(0, dtype=np.int64)


def rows_with(
    store: TableStore, state: TableState, kept: KeptColumns, columns: Sequence[StoredColumn], key: StoredColumn, values: pa.Array
) -> pa.Table | None:
    """Return the live rows of ``columns``, which hold ``key``, whose key is one of ``values``; None where that is not for this place.

    Raises OSError, ValueError and Arrow's errors, as reading files does.
    """
    files, deleted = state.snapshot.files, state.deleted
    if not isinstance(files, TableStatistics) or deleted is None or not is_looked_up(key):
        return None
    partitions = [column for column in columns if column.partition]
    if not all(map(is_looked_up, partitions)):
        return None
    wanted = _Wanted.of(key, values)
    held = np.flatnonzero(wanted.may_be_in(files))
    rows = files.rows[held]
    if np.any(rows < 0) or int(rows.sum()) > MOST_ROWS:
        return None
    every_path = files.paths
    paths = [every_path[place] for place in held.tolist()]
    folders = {column: files.bounds(column.column.name)[0].take(pa.array(held)) for column in partitions}
    schema = pa.schema([column.field for column in columns])

    def found(place: int, read: dict[StoredColumn, KeptColumn]) -> pa.Table:
        path = data_path(paths[place]) or paths[place]
        count = int(rows[place]) + (deleted[path].count if path in deleted else 0)
        every = {column: pa.repeat(value[place], count) for column, value in folders.items()}
        places = wanted.places_in(read[key] if key in read else KeptColumn.of(every[key]))
        if path in deleted and len(places):
            places = np.setdiff1d(places, deleted[path].positions(store), assume_unique=True)
        taken = pa.array(places)
        arrays = [(read[column].values if column in read else every[column]).take(taken) for column in columns]
        return pa.table(arrays, schema=schema)

    stored = [column for column in columns if not column.partition]
    parts = [found(place, read) for place, read in enumerate(_read(store, state, kept, stored, paths))]
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _read(
    store: TableStore, state: TableState, kept: KeptColumns, columns: Sequence[StoredColumn], paths: Sequence[str]
) -> list[dict[StoredColumn, KeptColumn]]:
    """Return the stored columns of each file, from memory where they are kept."""
    table_id = state.snapshot.table_id

    def read(path: str) -> dict[StoredColumn, KeptColumn]:
        found = kept.found(table_id, path, columns)
        missing = [column for column in columns if column not in found]
        if missing:
            rows, _ = PieceReader(store, missing).read(Piece(DataFile(path, (), None, 0, None, True), 1))
            more = {column: KeptColumn.of(one_array(rows.column(column.column.name))) for column in missing}
            kept.keep(table_id, path, more)
            found |= more
        return found

    if all(len(kept.found(table_id, path, columns)) == len(columns) for path in paths):
        return [read(path) for path in paths]
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(read, paths))
