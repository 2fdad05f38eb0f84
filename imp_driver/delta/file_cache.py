"""What was read of data files lately stays in memory: least recently used out first.

A data file of Delta is never changed, so what was read of it stays right as long as the file belongs to its table.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.delta.schema import StoredColumn


class _Sized(Protocol):
    @property
    def memory(self) -> int: ...


Value = TypeVar("Value", bound=_Sized)
Key = tuple[str, str, StoredColumn]
"""Identifier of the table, path of the file as its action names it, column."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptColumn:
    """All stored values of a column in one file; ``order`` are whole numbers or dates as numbers, where they ascend and none is NULL."""

    values: pa.Array
    order: npt.NDArray[np.integer[Any]] | None

    @classmethod
    def of(cls, values: pa.Array) -> KeptColumn:
        is_date = pa.types.is_date32(values.type)
        if values.null_count or not (is_date or pa.types.is_signed_integer(values.type)):
            return cls(values, None)
        # The numbers of the values themselves, no copy of them.
        numbers = (values.view(pa.int32()) if is_date else values).to_numpy(zero_copy_only=True)
        return cls(values, numbers if bool(np.all(numbers[1:] >= numbers[:-1])) else None)

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self.values.nbytes)


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
