"""Rows of one version whose column has one of some values, read in process from the files that may hold them.

For the partners of a small change in a large table: where its files are clustered by the key, few of them are read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.delta.commits import DataFile
from imp_driver.delta.files import Piece, PieceReader
from imp_driver.delta.handle import TableState
from imp_driver.delta.schema import StoredColumn
from imp_driver.delta.statistics import TableStatistics
from imp_driver.delta.store import TableStore, data_path
from imp_driver.sketch.codes import BooleanArray, Codec

MOST_ROWS = 4_000_000
"""Rows of the files that are read; beyond, the engine is the better place for it."""
_THREADS = min(4, os.cpu_count() or 1)


def is_looked_up(kind: pa.DataType) -> bool:
    """Say whether rows are found by values of this type: its bounds in the log must be exact, and equal values equal bytes."""
    return bool(pa.types.is_signed_integer(kind) or pa.types.is_date32(kind))


def rows_with(
    store: TableStore, state: TableState, columns: Sequence[StoredColumn], key: StoredColumn, values: pa.Array
) -> pa.Table | None:
    """Return the live rows of ``columns``, which hold ``key``, whose key is one of ``values``; None where that is not for this place.

    Raises OSError, ValueError and Arrow's errors, as reading files does.
    """
    files = state.snapshot.files
    if not isinstance(files, TableStatistics) or state.deleted is None or state.metadata.partition_columns:
        return None
    if key.arrow_type is None or not is_looked_up(key.arrow_type):
        return None
    wanted = pc.unique(values.cast(key.arrow_type)).drop_null()
    held = _may_hold(files, key, wanted)
    rows = files.rows[held]
    paths = [path for path, is_held in zip(files.paths, held.tolist(), strict=True) if is_held]
    if np.any(rows < 0) or int(rows.sum()) > MOST_ROWS or any((data_path(path) or path) in state.deleted for path in paths):
        return None
    reader = PieceReader(store, columns)

    def read(path: str) -> pa.Table:
        found, _ = reader.read(Piece(DataFile(path, (), None, 0, None, True), 1))
        return found.filter(pc.is_in(found.column(key.column.name), value_set=wanted))

    with ThreadPoolExecutor(_THREADS) as threads:
        parts = list(threads.map(read, paths))
    return pa.concat_tables(parts) if parts else pa.schema([column.field for column in columns]).empty_table()


def _may_hold(files: TableStatistics, key: StoredColumn, wanted: pa.Array) -> BooleanArray:
    """Return which files may hold one of the values; one without bounds may."""
    codec = Codec(wanted.type)
    codes = np.sort(codec.encode(wanted)[0])
    lower, upper, nulls = files.bounds(key.column.name)
    (low, no_low), (high, no_high) = (codec.encode(bound.cast(wanted.type)) for bound in (lower, upper))
    held = np.searchsorted(codes, low, side="left") < np.searchsorted(codes, high, side="right")
    is_all_null = (nulls >= 0) & (nulls == files.rows)
    return np.asarray((held | no_low | no_high) & ~is_all_null, dtype=bool)
