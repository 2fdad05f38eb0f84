"""What was read of data files lately stays in memory: least recently used out first.

A data file of Delta is never changed, so what was read of it stays right as long as the file belongs to its table.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.delta.narrow import narrowed, widened
from imp_driver.delta.schema import StoredColumn
from imp_driver.delta.sorted_places import Numbers, places_in
from imp_driver.values.codes import CodeArray, IntegerArray


class _Sized(Protocol):
    @property
    def memory(self) -> int: ...


Value = TypeVar("Value", bound=_Sized)
Key = tuple[str, str, StoredColumn]
"""Identifier of the table, path of the file as its action names it, column."""


_OBJECT_BYTES = 500
NARROWED_ROWS = 1_000
"""Of fewer values, as most commits have, narrowing takes more time than the room is worth."""
MANY_ROWS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class KeptColumn:
    """All stored values of a column in one file, narrowed where they are many.

    ``order`` are whole numbers or dates as numbers, where they ascend and none is NULL.
    """

    stored: pa.Array
    kind: pa.DataType
    order: Numbers | None

    @classmethod
    def of(cls, values: pa.Array, *, from_rows: int = NARROWED_ROWS) -> KeptColumn:
        """Keep values, narrowed from so many on."""
        stored, kind = narrowed(values) if len(values) >= from_rows else values, values.type
        if values.null_count or not (pa.types.is_date32(kind) or pa.types.is_signed_integer(kind)):
            return cls(stored, kind, None)
        numbers = (stored.view(pa.int32()) if pa.types.is_date32(stored.type) else stored).to_numpy(zero_copy_only=True)
        return cls(stored, kind, numbers if bool(np.all(numbers[1:] >= numbers[:-1])) else None)

    @property
    def values(self) -> pa.Array:
        """All values, as the column's type."""
        return widened(self.stored, self.kind)

    def take(self, places: IntegerArray) -> pa.Array:
        """Return the values at some positions, as the column's type."""
        return widened(self.stored.take(pa.array(places)), self.kind)

    def places_of(self, values: pa.Array, codes: CodeArray) -> IntegerArray:
        """Return the positions of some values, ascending.

        Args:
            values: distinct whole numbers, dates or texts of the column's type, without NULL.
            codes: their codes, ascending; of numbers and dates the numbers themselves.
        """
        stored = self.stored
        if pa.types.is_dictionary(stored.type):
            chosen = np.flatnonzero(pc.is_in(stored.dictionary, value_set=values).to_numpy(zero_copy_only=False))
            return _positions(stored.indices, pa.array(chosen, stored.indices.type))
        if not pa.types.is_signed_integer(stored.type):
            return _positions(stored, values)
        if self.order is not None:
            return places_in(self.order, codes)
        limits = np.iinfo(stored.type.to_pandas_dtype())
        fitting = codes[(codes >= limits.min) & (codes <= limits.max)]
        return _positions(stored, pa.array(fitting, stored.type))

    @property
    def may_be_sorted(self) -> bool:
        """Whether the column has whole numbers in no order, so many that to find some takes a while."""
        return self.order is None and pa.types.is_signed_integer(self.stored.type) and len(self.stored) >= MANY_ROWS

    @property
    def memory(self) -> int:
        """Bytes, with those of the objects around few values."""
        return int(self.stored.nbytes) + _OBJECT_BYTES


def _positions(column: pa.Array, wanted: pa.Array) -> IntegerArray:
    return np.flatnonzero(pc.is_in(column, value_set=wanted).to_numpy(zero_copy_only=False))


class Kept(Generic[Value]):
    """Thread-safe. Something about columns of files; ``most_bytes`` bounds what is kept, and what is larger by itself is not kept."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._memory = 0

    @property
    def memory(self) -> int:
        """Bytes."""
        return self._memory

    def found(self, table_id: str, path: str, columns: Sequence[StoredColumn]) -> dict[StoredColumn, Value]:
        """Return what is kept of those columns; it counts as used."""
        with self._lock:
            found = {}
            for column in columns:
                key = (table_id, path, column)
                if key in self._kept:
                    self._kept.move_to_end(key)
                    found[column] = self._kept[key]
            return found

    def keep(self, table_id: str, path: str, columns: Mapping[StoredColumn, Value]) -> None:
        """Add columns of a file; others go, as far as there is no room for all."""
        with self._lock:
            for column, kept in columns.items():
                if kept.memory <= self._most_bytes and (table_id, path, column) not in self._kept:
                    self._kept[table_id, path, column] = kept
                    self._memory += kept.memory
            while self._memory > self._most_bytes:
                _, dropped = self._kept.popitem(last=False)
                self._memory -= dropped.memory
