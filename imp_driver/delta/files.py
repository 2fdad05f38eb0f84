"""Data files of a table read in process: asked columns in, Arrow columns of the table's own types out.

Partition columns come from the action, columns that the file does not have yet are NULL, narrower stored types are widened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from imp_driver.delta.calendar import check_calendar
from imp_driver.delta.commits import DataFile, VectorReference
from imp_driver.delta.schema import StoredColumn, padded
from imp_driver.delta.store import TableStore, data_path
from imp_driver.delta.vectors import Positions, read_positions

_NUMBER = b"PARQUET:field_id"
CHANGE_TYPE = "_change_type"
"""Column of the change feed's files."""
INSERTIONS = pa.array(["insert", "update_postimage"])


@dataclass(frozen=True, slots=True)
class Piece:
    """Signed rows of one file.

    Attributes:
        weight: of each live row of the file; 0 for a file of the change feed, whose rows carry their own sign.
        earlier: the deletion vector that ``file`` had before; rows between the vectors are the change. Only with ``compares``.
        compares: True when the file stayed and only its deletion vector changed.
    """

    file: DataFile
    weight: int
    compares: bool = False
    earlier: VectorReference | None = None


class PieceReader:
    """Reads pieces of one table into tables of the asked columns, with weights. Raises OSError, ValueError and Arrow's errors."""

    def __init__(self, store: TableStore, columns: Sequence[StoredColumn]) -> None:
        self._store = store
        self._columns = columns

    def read(self, piece: Piece) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        """Return rows and weights of one piece."""
        if piece.compares:
            return self._read_difference(piece)
        with self._open(piece.file) as file:
            if piece.weight == 0:
                return self._read_change_feed(piece.file, file)
            stored = file.read([*self._names_in(file).values()], use_threads=False)
            count = file.metadata.num_rows
            rows = self._typed(file, stored, piece.file, count)
        deleted = read_positions(self._store, piece.file.vector)
        if len(deleted):
            rows = rows.take(pa.array(np.setdiff1d(np.arange(count), deleted, assume_unique=True)))
        return rows, np.full(count - len(deleted), piece.weight, np.int64)

    def _read_difference(self, piece: Piece) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        positions, weights = changed_positions(self._store, piece)
        with self._open(piece.file) as file:
            rows = self._rows_at(file, piece.file, positions)
        return rows, weights

    def _rows_at(self, file: pq.ParquetFile, action: DataFile, positions: Positions) -> pa.Table:
        """Read ascending positions; row groups without any are left alone."""
        lengths = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        groups = np.searchsorted(starts, positions, side="right") - 1
        touched = np.unique(groups)
        if len(touched) and touched[-1] >= len(lengths):
            raise ValueError(f"A deletion vector of {action.path} points behind the end of the file.")
        stored = file.read_row_groups(touched.tolist(), [*self._names_in(file).values()], use_threads=False)
        kept = np.asarray(lengths, np.int64)[touched]
        offsets = np.concatenate([[0], np.cumsum(kept)])[:-1].astype(np.int64)
        within = positions - starts[groups] + offsets[np.searchsorted(touched, groups)]
        return self._typed(file, stored.take(pa.array(within)), action, len(positions))

    def _read_change_feed(self, action: DataFile, file: pq.ParquetFile) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        stored = file.read([*self._names_in(file).values(), CHANGE_TYPE], use_threads=False)
        inserted = pc.is_in(stored.column(CHANGE_TYPE), value_set=INSERTIONS).to_numpy()
        return self._typed(file, stored, action, stored.num_rows), np.where(inserted, 1, -1).astype(np.int64)

    def _open(self, action: DataFile) -> pq.ParquetFile:
        path = data_path(action.path)
        if path is None:
            raise ValueError(f"The data file {action.path} lies on another store than its table.")
        return pq.ParquetFile(self._store.open(path), coerce_int96_timestamp_unit="us")

    def _names_in(self, file: pq.ParquetFile) -> dict[StoredColumn, str]:
        """Return the name in a file of each asked column that it has. Raises ValueError where the file does not tell its columns."""
        present = {field.name: (field.metadata or {}).get(_NUMBER) for field in file.schema_arrow}
        numbered = {int(number): name for name, number in present.items() if number is not None}
        names: dict[StoredColumn, str] = {}
        for column in self._columns:
            if column.partition:
                continue
            if column.number is not None and not numbered:
                raise ValueError("A file of a table whose columns are told by their identifiers has none.")
            name = column.stored_name if column.number is None else numbered.get(column.number)
            if name is not None and name in present:
                names[column] = name
        return names

    def _typed(self, file: pq.ParquetFile, stored: pa.Table, action: DataFile, count: int) -> pa.Table:
        check_calendar(file, stored)
        partition, names = dict(action.partition), self._names_in(file)
        arrays = [self._array(column, names.get(column), stored, partition, count) for column in self._columns]
        return pa.table(arrays, schema=pa.schema([column.field for column in self._columns]))

    def _array(
        self, column: StoredColumn, name: str | None, stored: pa.Table, partition: dict[str, str | None], count: int
    ) -> pa.ChunkedArray:
        if column.partition:
            return pa.chunked_array([partition_values(column, partition.get(column.stored_name), count)])
        # A column named "a.b" and a field b of a column "a" are asked for by the same text, so the exact name decides here.
        index = -1 if name is None else stored.schema.get_field_index(name)
        if index < 0:
            return pa.chunked_array([pa.nulls(count, column.arrow_type)])
        found = stored.column(index)
        return padded(found if found.type == column.arrow_type else found.cast(column.arrow_type), column)


def changed_positions(store: TableStore, piece: Piece) -> tuple[Positions, npt.NDArray[np.int64]]:
    """Return ascending positions of the rows that lie between the two vectors of a piece, and their weights."""
    now, before = read_positions(store, piece.file.vector), read_positions(store, piece.earlier)
    deleted, returned = np.setdiff1d(now, before, assume_unique=True), np.setdiff1d(before, now, assume_unique=True)
    positions = np.concatenate([deleted, returned])
    weights = np.concatenate([np.full(len(deleted), -1, np.int64), np.full(len(returned), 1, np.int64)])
    order = np.argsort(positions, kind="stable")
    return positions[order], weights[order]


def partition_values(column: StoredColumn, text: str | None, count: int) -> pa.Array:
    """Return ``count`` copies of a partition value, typed. Raises ValueError where its text has no sure meaning."""
    if text is None or text == "":
        return pa.nulls(count, column.arrow_type)
    if column.column.type_name == "timestamp" and not text.endswith("Z"):
        raise ValueError(f"The partition value {text!r} of {column.column.name!r} names no zone.")
    if column.column.type_name == "binary":
        raise ValueError(f"The partition column {column.column.name!r} is binary.")
    value = pa.scalar(text, pa.string()).cast(column.arrow_type)
    return padded(pa.repeat(value, count), column)
