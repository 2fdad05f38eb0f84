"""Which slot holds which group.

Integer codes are looked up in sorted runs, 12 bytes for a group, Python objects in a dictionary. Of several keys the values of each are
numbered, then pairs of numbers, and the last pairs have the slots: few bytes for a group, whatever its keys are.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Protocol

import numpy as np

from imp_driver.dataflow.aggregate.keys import Keys, KeyValues, chosen
from imp_driver.dataflow.runs import OrderedNumbers
from imp_driver.values.codes import IntegerArray

_FEW = 1_000
"""Numbers that may be those of groups that are gone, however few groups there are."""


class SlotIndex:
    """Slots of groups; those of dead groups are used again."""

    def __init__(self, keys: Keys) -> None:
        self._free: list[int] = []
        self.used = len(keys[0].codes)
        self._lookup = _lookup_of(keys, np.arange(self.used))
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
    def is_worn(self) -> bool:
        """Whether most of what is kept is of groups that are gone: ``renew`` leaves it out."""
        return self._lookup.numbered > 2 * len(self._lookup) + _FEW

    def renew(self, keys: Keys, slots: IntegerArray) -> None:
        """Make the look-up anew of the groups that are there, and their slots."""
        self._lookup = _lookup_of(keys, slots)

    @property
    def memory(self) -> int:
        """Bytes, for a dictionary estimated."""
        return self._lookup.memory


def _lookup_of(keys: Keys, slots: IntegerArray) -> _Lookup:
    lookup: _Lookup = _Chain(keys) if len(keys) > 1 else _codes_or_tokens(keys[0])
    lookup.add(keys, slots)
    return lookup


def _codes_or_tokens(key: KeyValues) -> _Codes | _Tokens:
    return _Codes() if key.codes.dtype == np.int64 else _Tokens()


class _Lookup(Protocol):
    """Groups are given once each; ``add`` takes groups that are not there and ``remove`` groups that are."""

    @property
    def numbered(self) -> int:
        """The most values or prefixes of a key that have a number, also those that no group has any more."""

    def __len__(self) -> int: ...

    def find(self, keys: Keys) -> IntegerArray: ...

    def add(self, keys: Keys, slots: IntegerArray) -> None: ...

    def remove(self, keys: Keys) -> None: ...

    @property
    def memory(self) -> int: ...


class _Codes:
    """Ordered codes with their slots; NULL apart."""

    numbered = 0

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

    numbered = 0

    def __init__(self) -> None:
        self._slots: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def find(self, keys: Keys) -> IntegerArray:
        (key,) = keys
        find = self._slots.get
        return np.fromiter((find(token, -1) for token in key.tokens()), dtype=np.int64, count=len(key.codes))

    def add(self, keys: Keys, slots: IntegerArray) -> None:
        (key,) = keys
        self._slots.update(zip(key.tokens(), slots.tolist(), strict=True))

    def remove(self, keys: Keys) -> None:
        (key,) = keys
        for token in key.tokens():
            del self._slots[token]

    @property
    def memory(self) -> int:
        """The table, and 64 for each token."""
        return sys.getsizeof(self._slots) + 64 * len(self._slots)


class _Numbers:
    """Numbers the values of one key, from 0 on; a value keeps its number though its last group goes."""

    def __init__(self, key: KeyValues) -> None:
        self._lookup = _codes_or_tokens(key)
        self.count = 0

    def find(self, key: KeyValues) -> IntegerArray:
        """Return the number of each value, -1 where it has none."""
        return self._lookup.find((key,))

    def given(self, key: KeyValues) -> IntegerArray:
        """Return the number of each value, given to those that had none."""
        found = self.find(key)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            places, distinct = _distinct(chosen((key,), missing)[0])
            self._lookup.add((distinct,), np.arange(self.count, self.count + len(distinct.codes)))
            found[missing] = self.count + places
            self.count += len(distinct.codes)
        return found

    @property
    def memory(self) -> int:
        return self._lookup.memory


class _Chain:
    """Slots by pairs: of the number that the keys so far have together, and that of the next key."""

    def __init__(self, keys: Keys) -> None:
        self._keys = [_Numbers(key) for key in keys]
        self._prefixes = [_Numbers(_NO_PAIRS) for _ in keys[2:]]
        self._last = _Codes()

    def __len__(self) -> int:
        return len(self._last)

    @property
    def numbered(self) -> int:
        return max(each.count for each in (*self._keys, *self._prefixes))

    def find(self, keys: Keys) -> IntegerArray:
        there, pairs = self._pairs(keys)
        found = np.full(len(keys[0].codes), -1, dtype=np.int64)
        found[there] = self._last.find((pairs,))
        return found

    def _pairs(self, keys: Keys) -> tuple[IntegerArray, KeyValues]:
        """Return the places of the groups that may have a slot, and their last pairs."""
        there = np.arange(len(keys[0].codes))
        prefix = self._keys[0].find(keys[0])
        for place, key in enumerate(keys[1:]):
            value = self._keys[place + 1].find(key)[there]
            known = (prefix >= 0) & (value >= 0)
            there, pairs = there[known], _paired(prefix[known], value[known])
            if place < len(self._prefixes):
                prefix = self._prefixes[place].find(pairs)
        return there, pairs

    def add(self, keys: Keys, slots: IntegerArray) -> None:
        prefix = self._keys[0].given(keys[0])
        for place, key in enumerate(keys[1:]):
            pairs = _paired(prefix, self._keys[place + 1].given(key))
            if place < len(self._prefixes):
                prefix = self._prefixes[place].given(pairs)
        self._last.add((pairs,), slots)

    def remove(self, keys: Keys) -> None:
        _, pairs = self._pairs(keys)
        self._last.remove((pairs,))

    @property
    def memory(self) -> int:
        return self._last.memory + sum(each.memory for each in (*self._keys, *self._prefixes))


_NO_PAIRS = KeyValues(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool))


def _paired(left: IntegerArray, right: IntegerArray) -> KeyValues:
    """Numbers are of 31 bits: there are never more of them than groups."""
    return KeyValues(left << 32 | right, np.zeros(len(left), dtype=bool))


def _distinct(key: KeyValues) -> tuple[IntegerArray, KeyValues]:
    """Return for each value its place among the distinct ones, and these."""
    if key.codes.dtype == np.int64:
        # NULL is the first of them.
        codes, places = np.unique(key.codes[~key.nulls], return_inverse=True)
        has_null = bool(key.nulls.any())
        found = np.zeros(len(key.codes), dtype=np.int64)
        found[~key.nulls] = places + has_null
        distinct = np.concatenate((np.zeros(int(has_null), dtype=np.int64), codes))
        nulls = np.zeros(len(distinct), dtype=bool)
        nulls[: int(has_null)] = True
        return found, KeyValues(distinct, nulls)
    numbers: dict[Hashable, int] = {}
    found = np.fromiter((numbers.setdefault(token, len(numbers)) for token in key.tokens()), dtype=np.int64, count=len(key.codes))
    codes = np.empty(len(numbers), dtype=object)
    codes[:] = list(numbers)
    return found, KeyValues(codes, np.array([token is None for token in numbers], dtype=bool))
