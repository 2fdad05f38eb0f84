"""Which slot holds which group.

One key of whole numbers is looked up by its codes, other keys by a hash of all of them, which the stored keys then confirm: in sorted runs,
12 bytes for a group, whatever its keys are.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol

import numpy as np

from imp_driver.dataflow.aggregate.keys import Keys, KeyValues, chosen
from imp_driver.dataflow.aggregate.stored_codes import hashes_of
from imp_driver.dataflow.sorted_runs import OrderedNumbers
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.mixing import HashArray, mixed

_NULL = np.uint64(0x5851F42D4C957F2D)
_ENTRY_BYTES = 200
"""Of a dictionary, with the tokens of a group."""


class Stored(Protocol):
    """One key of the groups, by slot."""

    def take(self, slots: IntegerArray) -> KeyValues: ...


class SlotIndex:
    """Slots of groups; those of dead groups are used again."""

    def __init__(self, stored: Sequence[Stored], keys: Keys) -> None:
        """Take over groups, whose slots are numbered in their order.

        Args:
            stored: where the keys of slots are found, before they are added here.
        """
        self._free: list[int] = []
        self.used = len(keys[0].codes)
        is_number = len(keys) == 1 and keys[0].codes.dtype == np.int64
        self._lookup: _Lookup = _Codes() if is_number else _Hashed(stored)
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

    def remove(self, keys: Keys, slots: IntegerArray) -> None:
        """Free the slots of groups."""
        if len(slots):
            self._free.extend(slots.tolist())
            self._lookup.remove(keys, slots)

    @property
    def memory(self) -> int:
        """Bytes."""
        return self._lookup.memory


class _Lookup(Protocol):
    """``add`` takes groups that are not there, of which repeated ones are added once, and ``remove`` groups that are, with their slots."""

    def __len__(self) -> int: ...

    def find(self, keys: Keys) -> IntegerArray: ...

    def add(self, keys: Keys, slots: IntegerArray) -> None: ...

    def remove(self, keys: Keys, slots: IntegerArray) -> None: ...

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

    def remove(self, keys: Keys, slots: IntegerArray) -> None:
        (key,) = keys
        if key.nulls.any():
            self._null = -1
        codes = key.codes[~key.nulls]
        self._slots.put(codes, np.full(len(codes), -1))

    @property
    def memory(self) -> int:
        return self._slots.memory


class _Hashed:
    """Slots by the hash of all keys; the few groups whose hash another group has by themselves."""

    def __init__(self, stored: Sequence[Stored]) -> None:
        self._stored = stored
        self._slots = OrderedNumbers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), absent=-1)
        self._others: dict[tuple[Hashable, ...], int] = {}

    def __len__(self) -> int:
        return len(self._slots) + len(self._others)

    def find(self, keys: Keys) -> IntegerArray:
        found = self._slots.find(_hashes(keys))
        there = np.flatnonzero(found >= 0)
        found[there[~self._are_at(chosen(keys, there), found[there])]] = -1
        if self._others:
            missing = np.flatnonzero(found < 0)
            found[missing] = [self._others.get(group, -1) for group in _tokens(chosen(keys, missing))]
        return found

    def add(self, keys: Keys, slots: IntegerArray) -> None:
        hashes = _hashes(keys)
        _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        is_first = np.zeros(len(hashes), dtype=bool)
        is_first[first] = True
        is_other = self._slots.find(hashes) >= 0
        # A group that is there twice is added once: it then shows as one group too few.
        repeated = np.flatnonzero(~is_first)
        distinct = ~_are_equal(chosen(keys, repeated), chosen(keys, first[inverse[repeated]]))
        is_other[repeated[distinct]] = True
        own = is_first & ~is_other
        self._slots.put(hashes[own], slots[own])
        others = np.flatnonzero(is_other)
        self._others.update(zip(_tokens(chosen(keys, others)), slots[others].tolist(), strict=True))

    def remove(self, keys: Keys, slots: IntegerArray) -> None:
        hashes = _hashes(keys)
        own = self._slots.find(hashes) == slots
        gone = hashes[own]
        self._slots.put(gone, np.full(len(gone), -1))
        for group in _tokens(chosen(keys, np.flatnonzero(~own))):
            del self._others[group]

    def _are_at(self, keys: Keys, slots: IntegerArray) -> BooleanArray:
        return _are_equal(keys, tuple(each.take(slots) for each in self._stored))

    @property
    def memory(self) -> int:
        return self._slots.memory + _ENTRY_BYTES * len(self._others)


def _hashes(keys: Keys) -> IntegerArray:
    """Return a hash of each group, as the codes that runs order."""
    found: HashArray = np.zeros(len(keys[0].codes), dtype=np.uint64)
    for key in keys:
        own = hashes_of(key.codes)
        own[key.nulls] = _NULL
        found = mixed(found ^ own)
    return found.view(np.int64)


def _are_equal(one: Keys, other: Keys) -> BooleanArray:
    equal = np.ones(len(one[0].codes), dtype=bool)
    for left, right in zip(one, other, strict=True):
        equal &= (left.nulls & right.nulls) | (~left.nulls & ~right.nulls & np.asarray(left.codes == right.codes, dtype=bool))
    return equal


def _tokens(keys: Keys) -> list[tuple[Hashable, ...]]:
    return list(zip(*(key.tokens() for key in keys), strict=True))
