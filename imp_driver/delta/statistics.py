"""Statistics of the data files of one snapshot, from the log alone.

What the bounds promise: no value of the file lies outside, except NaN. Spark records NaN as the maximum of a file that holds one (it orders
NaN above all numbers); other writers, delta-rs among them, leave NaN out. So the maximum of a float column estimates, it does not prove
that a file has no NaN. Timestamps are recorded cut down to milliseconds, hence the maximum is widened by the part that may be missing.
Where a file has a deletion vector the bounds are those of all its stored rows; the null count in the log counts deleted rows too, so it is
known only where it says that no value or every value is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.delta.schema import StoredColumn, padded
from imp_driver.delta.store import data_path

_MILLISECOND = 1000
Bounds = tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]


class TableStatistics:
    """Statistics over delta-rs's table of live files, bounds extracted when asked for. ``deleted`` counts deleted rows by decoded path."""

    def __init__(self, files: pa.Table, deleted: Mapping[str, int], columns: tuple[StoredColumn, ...]) -> None:
        self._files = files
        self._columns = {column.column.name: column for column in columns}
        self._sizes = _whole_numbers(files.column("size_bytes"))
        stored = (
            _whole_numbers(files.column("num_records")) if "num_records" in files.column_names else np.full(files.num_rows, -1, np.int64)
        )
        if deleted:
            counts = np.fromiter(
                (deleted.get(data_path(path) or path, 0) for path in files.column("path").to_pylist()), np.int64, files.num_rows
            )
            self._rows = np.where(stored < 0, stored, stored - counts)
        else:
            self._rows = stored
        self._stored = stored

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Bytes."""
        return self._sizes

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """Live rows; -1 where unknown."""
        return self._rows

    @property
    def paths(self) -> list[str]:
        """URIs of the files as their actions name them."""
        found: list[str] = self._files.column("path").to_pylist()
        return found

    def bounds(self, column: str) -> Bounds:
        """Return (minimum, maximum, null count) of a column; NULL and -1 where unknown, also for columns without bounds."""
        stored = self._columns.get(column)
        if stored is None or stored.arrow_type is None or pa.types.is_nested(stored.arrow_type):
            nothing = pa.nulls(self._files.num_rows)
            return nothing, nothing, np.full(self._files.num_rows, -1, np.int64)
        if stored.partition:
            return self._partition_bounds(stored)
        minimum = self._field("min", stored.stored_name, stored.arrow_type)
        maximum = self._field("max", stored.stored_name, stored.arrow_type)
        nulls = self._field("null_count", stored.stored_name, pa.int64())
        return padded(minimum, stored), padded(_widened(maximum), stored), self._live_nulls(_whole_numbers(nulls))

    def _live_nulls(self, nulls: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        of_vectors = np.where(nulls == self._stored, self._rows, np.where(nulls == 0, 0, -1))
        return np.where(self._stored == self._rows, nulls, of_vectors)

    def _partition_bounds(self, column: StoredColumn) -> Bounds:
        values = self._field("partition", column.stored_name, column.arrow_type)
        if values.null_count == len(values):
            values = self._field("partition", column.column.name, column.arrow_type)
        nulls = np.where(np.asarray(values.is_null()), self._rows, 0)
        values = padded(values, column)
        return values, values, nulls.astype(np.int64)

    def _field(self, group: str, name: str, target: pa.DataType) -> pa.Array:
        """Return one field of a struct column by its exact name, as one array of the standard type."""
        if group in self._files.column_names:
            structs = self._files.column(group).combine_chunks()
            structs = structs if isinstance(structs, pa.Array) else pa.concat_arrays(structs.chunks)
            index = structs.type.get_field_index(name)
            if index >= 0:
                found = pc.struct_field(structs, [index])
                return found if found.type == target else found.cast(target)
        return pa.nulls(self._files.num_rows, target)


class LaterStatistics:
    """Statistics that are read when they are first asked for, which may raise OperationalError."""

    def __init__(self, read: Callable[[], TableStatistics]) -> None:
        self._read = read

    @cached_property
    def found(self) -> TableStatistics:
        return self._read()

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Bytes."""
        return self.found.sizes

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """Live rows; -1 where unknown."""
        return self.found.rows

    def bounds(self, column: str) -> Bounds:
        """Return as ``TableStatistics`` does."""
        return self.found.bounds(column)


def _widened(maximum: pa.Array) -> pa.Array:
    if not pa.types.is_timestamp(maximum.type):
        return maximum
    return pc.add(maximum.cast(pa.int64()), _MILLISECOND - 1).cast(maximum.type)


def _whole_numbers(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    return np.asarray(pc.fill_null(values.cast(pa.int64()), -1), dtype=np.int64)
