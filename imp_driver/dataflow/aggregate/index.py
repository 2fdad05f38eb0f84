"""Which slot holds which group.

One key with integer codes is looked up in sorted runs, 12 bytes for a group; several keys and keys with Python objects in a dictionary.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Protocol

import numpy as np

from imp_driver.dataflow.aggregate.keys import Keys
from imp_driver.dataflow.runs import OrderedNumbers
from imp_driver.values.codes import IntegerArray


class SlotIndex:
    """Slots of groups; those of dead groups are used again."""

    def __init__(self, keys: Keys) -> None:
        self._free: list[int] = []
        self.used = len(keys[0].codes)
        self._lookup: _Lookup = _Codes() if len(keys) == 1 and keys[0].codes.dtype == np.int64 else _Tokens()
        self._lookup.add(keys, np.arange(self.used))
        self.has_repeats = len(self._lookup) != self.used

    def __len__(self) -> int:
        return len(self._lookup)

    def find(self, keys: Keys) -> IntegerArray:
        """Return the slot of each group, -1 where it has none."""
        return self._lookup.find(keys)

    def vacant(self, count: int) -> IntegerArray:
        """Return ``count`` slots that hold no group, without taking them."""
        reused = self._free[: -count - 1 : -1] if count else []
        slots = reused + list(range(self.used, self.used + count - len(reused)))
        return np.array(slots, dtype=np.int64)

    def add(self, keys: Keys, slots: IntegerArray) -> None:
        """Take slots that ``vacant`` returned for groups that have none."""
        if not len(slots):
            return
        reused = int(np.count_nonzero(slots < self.used))
        del self._free[len(self._free) - reused :]
        self.used += len(slots) - reused
        self._lookup.add(keys, slots)

    def remove(self, keys: Keys) -> None:
        """Free the slots of groups that have one."""
        if len(keys[0].codes):
            self._free.extend(self._lookup.find(keys).tolist())
            self._lookup.remove(keys)

    @property
    def memory(self) -> int:
        """Bytes, for a dictionary estimated."""
        return self._lookup.memory


class _Lookup(Protocol):
    """Groups are given once each; ``add`` takes groups that are not there and ``remove`` groups that are."""

    def __len__(self) -> int: ...

    def find(self, keys: Keys) -> IntegerArray: ...

    def add(self, keys: Keys, slots: IntegerArray) -> None: ...

    def remove(self, keys: Keys) -> None: ...

    @property
    def memory(self) -> int: ...


class _Codes:
    """Ordered codes with their slots; NULL apart."""

    def __init__(self) -> None:
        self._slots = OrderedNumbers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), absent=-1)
        self._null: int = -1

    def __len__(self) -> int:
        return len(self._slots) + (self._null >= 0)

    def find(self, keys: Keys) -> IntegerArray:
        (key,) = keys
        found = self._slots.find(key.codes)
        found[key.nulls] = self._null
        return found

    def add(self, keys: Keys, slots: IntegerArray) -> None:
        (key,) = keys
        if key.nulls.any():
            self._null = int(slots[key.nulls][-1])
        slots = slots[~key.nulls]
        # The first of equal codes stays: a repeated group then shows as one group too few.
        codes, first = np.unique(key.codes[~key.nulls], return_index=True)
        self._slots.put(codes, slots[first])

    def remove(self, keys: Keys) -> None:
        (key,) = keys
        if key.nulls.any():
            self._null = -1
        codes = key.codes[~key.nulls]
        self._slots.put(codes, np.full(len(codes), -1))

    @property
    def memory(self) -> int:
        return self._slots.memory


class _Tokens:
    """One hashable for each group."""

    def __init__(self) -> None:
        self._slots: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def find(self, keys: Keys) -> IntegerArray:
        find = self._slots.get
        return np.fromiter((find(token, -1) for token in _tokens_of(keys)), dtype=np.int64, count=len(keys[0].codes))

    def add(self, keys: Keys, slots: IntegerArray) -> None:
        self._slots.update(zip(_tokens_of(keys), slots.tolist(), strict=True))

    def remove(self, keys: Keys) -> None:
        for token in _tokens_of(keys):
            del self._slots[token]

    @property
    def memory(self) -> int:
        """The table, and 64 for each token."""
        return sys.getsizeof(self._slots) + 64 * len(self._slots)


def _tokens_of(keys: Keys) -> list[Hashable]:
    columns = [key.tokens() for key in keys]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
