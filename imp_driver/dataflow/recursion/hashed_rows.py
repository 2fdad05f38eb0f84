"""The levels of rows by a hash table of keys, for relations that have few of all the rows that there could be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from imp_driver.dataflow.recursion.coded_rows import Found, Index
from imp_driver.dataflow.recursion.keys import ABSENT, LevelArray, extended
from imp_driver.dataflow.sorted_runs import compacted
from imp_driver.values.codes import IntegerArray

_EMPTY = -1
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""2^64 by the golden ratio: keys that differ a little go far apart (Knuth, The Art of Computer Programming 3, section 6.4)."""
_LEAST_BITS = 10
_MOST_FILLED = 0.5
_ROOM = 2.5
"""Slots of a new table for each of its rows."""


class _Runs:
    """Ascending runs of shrinking sizes of all keys, known columns first; some are of rows that are not there."""

    def __init__(self, index: Index, keys: IntegerArray) -> None:
        self._index = index
        self._runs: tuple[IntegerArray, ...] = (np.sort(index.to_ordered(keys)),)

    def add(self, keys: IntegerArray) -> None:
        self._runs = compacted((*self._runs, np.sort(self._index.to_ordered(keys))), len, _merged)

    def find(self, prefixes: IntegerArray) -> Iterator[tuple[IntegerArray, IntegerArray]]:
        """Yield the places of prefixes, and the keys that they find."""
        for run in self._runs:
            for queries, places in extended(*self._index.extents(run, prefixes)):
                yield queries, self._index.from_ordered(run[places])

    def counts(self, prefixes: IntegerArray) -> IntegerArray:
        """Return how many keys each prefix finds."""
        found = np.zeros(len(prefixes), dtype=np.int64)
        for run in self._runs:
            begins, ends = self._index.extents(run, prefixes)
            found += ends - begins
        return found

    @property
    def memory(self) -> int:
        return sum(run.nbytes for run in self._runs)


def _merged(one: IntegerArray, other: IntegerArray) -> IntegerArray:
    found = np.concatenate([one, other])
    found.sort()
    return found


class HashedRows:
    """Open addressing: a key stands in the first empty slot from its own on, and stays when its row goes, until the table is made anew."""

    def __init__(self, keys: IntegerArray, levels: LevelArray) -> None:
        """Take distinct keys."""
        self._make(keys, levels)

    def _make(self, keys: IntegerArray, levels: LevelArray, room: int = 0) -> None:
        self._bits = max(_LEAST_BITS, int(_ROOM * (len(keys) + room)).bit_length())
        self._keys = np.full(1 << self._bits, _EMPTY, dtype=np.int64)
        self._levels = np.full(1 << self._bits, ABSENT, dtype=np.int16)
        self._known = 0
        self._runs: dict[tuple[int, ...], _Runs] = {}
        self._insert(keys, levels)

    def levels(self, keys: IntegerArray) -> LevelArray:
        return self._levels[self._slots(keys)]

    def put(self, keys: IntegerArray, level: int) -> None:
        """Have rows, each once, at a level; ``ABSENT`` takes them away."""
        slots = self._slots(keys)
        is_new = self._keys[slots] != keys
        self._levels[slots[~is_new]] = level
        new = keys[is_new]
        if not len(new):
            return
        if self._known + len(new) > _MOST_FILLED * len(self._keys):
            self._make(*self.items(), room=len(new))
        self._insert(new, np.full(len(new), level, dtype=np.int16))

    def find(self, index: Index, prefixes: IntegerArray, below: int = ABSENT, best: LevelArray | None = None) -> Iterator[Found]:
        if not index.free:
            levels = self.levels(prefixes)
            here = (levels < below).nonzero()[0]
            yield Found(here, prefixes[here], levels[here])
            return
        for queries, keys in self._by(index).find(prefixes):
            levels = self.levels(keys)
            here = (levels < below).nonzero()[0]
            yield Found(queries[here], keys[here], levels[here])

    def counts(self, index: Index, prefixes: IntegerArray) -> IntegerArray:
        """Return how many rows are looked at for each prefix."""
        return self._by(index).counts(prefixes) if index.free else np.ones(len(prefixes), dtype=np.int64)

    def _by(self, index: Index) -> _Runs:
        known = self._runs.get(index.columns)
        if known is None:
            known = self._runs[index.columns] = _Runs(index, self._keys[self._keys != _EMPTY])
        return known

    def items(self) -> tuple[IntegerArray, LevelArray]:
        """Return the keys of all rows, in no order, and their levels."""
        here = self._levels != ABSENT
        return self._keys[here], self._levels[here]

    def _slots(self, keys: IntegerArray) -> IntegerArray:
        """Return where each key is, or else the empty slot where it would be."""
        slots = ((keys.view(np.uint64) * _FACTOR) >> np.uint64(64 - self._bits)).view(np.int64)
        there = self._keys[slots]
        left = ((there != keys) & (there != _EMPTY)).nonzero()[0]
        while len(left):
            moved = (slots[left] + 1) & (len(self._keys) - 1)
            slots[left] = moved
            there = self._keys[moved]
            left = left[(there != keys[left]) & (there != _EMPTY)]
        return slots

    def _insert(self, keys: IntegerArray, levels: LevelArray) -> None:
        """Give keys, which have none, a slot."""
        self._known += len(keys)
        for runs in self._runs.values():
            runs.add(keys)
        while len(keys):
            slots = self._slots(keys)
            # Several may want the same slot; one of them has it, and the others go on.
            self._keys[slots] = keys
            is_there = self._keys[slots] == keys
            self._levels[slots[is_there]] = levels[is_there]
            keys, levels = keys[~is_there], levels[~is_there]

    @property
    def memory(self) -> int:
        """Bytes."""
        return self._keys.nbytes + self._levels.nbytes + sum(runs.memory for runs in self._runs.values())
