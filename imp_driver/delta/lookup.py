"""Rows of one version whose column has one of some values, read in process from the files that may hold them.

For the partners of a small change in a large table. The bounds in the log and Bloom filters say which files may hold them; where there are
none, nothing is read. What was decoded stays in memory for the next change. Source: IMP paper sections 5.2.4 and 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.delta.bloom import hashes
from imp_driver.delta.columns import FileColumns
from imp_driver.delta.file_cache import KeptColumn
from imp_driver.delta.handle import TableState
from imp_driver.delta.schema import StoredColumn
from imp_driver.delta.statistics import LaterStatistics, TableStatistics
from imp_driver.delta.store import data_path
from imp_driver.values.codes import BooleanArray, CodeArray, Codec, IntegerArray
from imp_driver.values.tables import ZSet

MOST_ROWS = 8_000_000
"""Rows of the files that are read; beyond, the engine is the better place for it. Six million were read in half a second, which Spark
joined in five.
"""
MOST_FILTERED_ROWS = 20_000_000
"""Rows of the files whose key alone is read for Bloom filters, once, before the engine is asked; so many have room to be kept."""


def is_looked_up(column: StoredColumn) -> bool:
    """Say whether rows are found by values of this column: the log's bounds must hold, and equal values be equal bytes."""
    kind = column.arrow_type
    if kind is None:
        return False
    return bool(pa.types.is_signed_integer(kind) or pa.types.is_date32(kind) or column.column.type_name == "string")


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """Distinct values of a key, without NULL; ``codes`` ascend."""

    key: StoredColumn
    values: pa.Array
    codes: CodeArray

    @classmethod
    def of(cls, key: StoredColumn, values: pa.Array) -> Wanted:
        distinct = pc.unique(values.cast(key.arrow_type)).drop_null()
        return cls(key, distinct, np.sort(Codec(distinct.type).encode(distinct)[0]))

    def may_be_in(self, files: TableStatistics) -> BooleanArray:
        """Return which files may hold one of the values by their bounds; one without bounds may."""
        codec = Codec(self.values.type)
        lower, upper, nulls = files.bounds(self.key.column.name)
        (low, no_low), (high, no_high) = (codec.encode(bound.cast(self.values.type)) for bound in (lower, upper))
        held = np.searchsorted(self.codes, low, side="left") < np.searchsorted(self.codes, high, side="right")
        is_all_null = (nulls >= 0) & (nulls == files.rows)
        return np.asarray((held | no_low | no_high) & ~is_all_null, dtype=bool)

    def among(self, rows: ZSet) -> ZSet:
        """Return those of some signed rows that have one of the values."""
        chosen = pc.is_in(rows.rows.column(self.key.column.name), value_set=self.values)
        return ZSet(rows.rows.filter(chosen), rows.weights[chosen.to_numpy()])


def rows_with(columns_of: FileColumns, state: TableState, columns: Sequence[StoredColumn], wanted: Wanted) -> pa.Table | None:
    """Return the live rows of ``columns``, which hold the key, that have a wanted value; None where that is not for this place.

    Raises OSError, ValueError, OperationalError and Arrow's errors, as reading files and a log does.
    """
    files = state.snapshot.files
    files = files.found if isinstance(files, LaterStatistics) else files
    partitions = [column for column in columns if column.partition]
    if not isinstance(files, TableStatistics) or state.deleted is None or not all(map(is_looked_up, (wanted.key, *partitions))):
        return None
    every_path = files.paths
    held = _held(columns_of, wanted, files, every_path)
    if held is None:
        return None
    paths = [every_path[place] for place in held.tolist()]
    folders = {column: files.bounds(column.column.name)[0].take(pa.array(held)) for column in partitions}
    read = columns_of.read([column for column in columns if not column.partition], paths)
    parts = []
    for place, path in enumerate(paths):
        deleted = state.deleted.get(data_path(path) or path)
        count = int(files.rows[held[place]]) + (0 if deleted is None else deleted.count)
        every = read[place] | {column: KeptColumn(pa.repeat(value[place], count), value.type, None) for column, value in folders.items()}
        places = columns_of.places_of(wanted.key, path, every[wanted.key], wanted.values, wanted.codes)
        if deleted is not None and len(places):
            places = np.setdiff1d(places, deleted.positions(columns_of.store), assume_unique=True)
        if len(places):
            parts.append([every[column].take(places) for column in columns])
    schema = pa.schema([column.field for column in columns])
    return pa.concat_tables([pa.table(arrays, schema=schema) for arrays in parts]) if parts else schema.empty_table()


def _held(columns_of: FileColumns, wanted: Wanted, files: TableStatistics, every_path: Sequence[str]) -> IntegerArray | None:
    """Return which files must be read; None where they are too many."""
    held = np.flatnonzero(wanted.may_be_in(files))
    if np.any(files.rows[held] < 0):
        return None
    if not wanted.key.partition:
        rows = int(files.rows[held].sum())
        paths = [every_path[place] for place in held.tolist()]
        filters = columns_of.filters(wanted.key, paths, is_worth_reading=MOST_ROWS < rows <= MOST_FILTERED_ROWS)
        if any(filters):
            sought = hashes(wanted.values)
            held = held[[bloom is None or bool(bloom.may_hold(sought).any()) for bloom in filters]]
    return held if int(files.rows[held].sum()) <= MOST_ROWS else None
