"""Rows of relations as keys: what joins ask of them, and the rows that are given, sorted by the columns by which they are found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from imp_driver.dataflow.recursion.keys import (
    ABSENT,
    GIVEN,
    Layout,
    LevelArray,
    Source,
    contains,
    extended,
    projection,
    put_in,
    taken_out,
)
from imp_driver.values.codes import IntegerArray

_FEW_PREFIXES, _PREFIXES_PER_QUERY = 1 << 14, 16
"""Up to how many it pays to note where the rows of each begin, rather than search for those that are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Pairs of a query and a row that it finds.

    Attributes:
        queries: the places of the queries.
        keys: of the rows, as long.
        levels: of the rows, as long; one for all of them where they are given.
    """

    queries: IntegerArray
    keys: IntegerArray
    levels: LevelArray | int


class Index:
    """Some columns of a relation, ascending and at least one, by which its rows are found; their values are a key of their own, the prefix.

    Attributes:
        columns, free: those that are known, and all others.
        ordered: layout of rows with the known columns first.
        free_bits: of the columns that are not known.
        prefix: layout of the known columns alone.
        to_ordered, from_ordered, from_prefix: keys to keys of that layout and back, and a prefix to a key with 0 in all other columns.
    """

    def __init__(self, layout: Layout, columns: Sequence[int]) -> None:
        self.columns = tuple(columns)
        self.free = tuple(column for column in range(len(layout.bits)) if column not in columns)
        order = self.columns + self.free
        self.prefix = Layout(tuple(layout.bits[column] for column in columns))
        self.ordered = Layout(tuple(layout.bits[column] for column in order))
        self.free_bits = layout.size - self.prefix.size
        self.to_ordered = projection([layout], [Source(0, column) for column in order], self.ordered.shifts)
        self.from_ordered = projection([self.ordered], [Source(0, place) for place in np.argsort(order).tolist()], layout.shifts)
        known = [Source(0, place) for place in range(len(columns))]
        self.from_prefix = projection([self.prefix], known, [layout.shifts[column] for column in columns])

    def extents(self, ordered: IntegerArray, prefixes: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
        """Return from where to where ascending keys, known columns first, have each prefix."""
        low = prefixes << self.free_bits
        return ordered.searchsorted(low), ordered.searchsorted(low | ((1 << self.free_bits) - 1), side="right")


class _Sorted:
    """The rows of a relation, known columns first."""

    def __init__(self, index: Index, keys: IntegerArray) -> None:
        ordered = index.to_ordered(keys)
        order = np.argsort(ordered)
        self._index = index
        self._ordered, self._keys = ordered[order], keys[order]
        self._begins: IntegerArray | None = None

    def change(self, removed: IntegerArray, added: IntegerArray) -> None:
        if len(removed):
            places = self._ordered.searchsorted(self._index.to_ordered(removed))
            self._ordered, self._keys = taken_out(self._ordered, places), taken_out(self._keys, places)
        if len(added):
            ordered = self._index.to_ordered(added)
            order = np.argsort(ordered)
            places = self._ordered.searchsorted(ordered[order])
            self._ordered, self._keys = put_in(self._ordered, places, ordered[order]), put_in(self._keys, places, added[order])
        if self._begins is not None and len(removed) + len(added) == 1:
            prefix = int(self._index.to_ordered(removed if len(removed) else added)[0] >> self._index.free_bits)
            self._begins[prefix + 1 :] += 1 if len(added) else -1
            return
        self._begins = None

    def extents(self, prefixes: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
        """Return from where to where the rows of each prefix are."""
        count = 1 << self._index.prefix.size
        if self._begins is None and count <= max(_FEW_PREFIXES, _PREFIXES_PER_QUERY * len(prefixes)):
            counts = np.bincount(self._ordered >> self._index.free_bits, minlength=count)
            self._begins = np.concatenate([np.zeros(1, dtype=np.int64), counts.cumsum()])
        if self._begins is None:
            return self._index.extents(self._ordered, prefixes)
        return self._begins[prefixes], self._begins[prefixes + 1]

    def find(self, prefixes: IntegerArray) -> Iterator[Found]:
        for queries, places in extended(*self.extents(prefixes)):
            yield Found(queries, self._keys[places], GIVEN)


class GivenRows:
    """Rows that no rule makes. A change costs their number in copied bytes, which is little where many more rows follow from them."""

    def __init__(self, keys: IntegerArray) -> None:
        """Take ascending keys."""
        self.keys = keys
        self._sorted: dict[tuple[int, ...], _Sorted] = {}

    def find(self, index: Index, prefixes: IntegerArray, below: int = ABSENT, best: LevelArray | None = None) -> Iterator[Found]:
        if not index.free:
            here = contains(self.keys, prefixes).nonzero()[0]
            yield Found(here, prefixes[here], GIVEN)
            return
        yield from self._by(index).find(prefixes)

    def counts(self, index: Index, prefixes: IntegerArray) -> IntegerArray:
        """Return how many rows are looked at for each prefix."""
        if not index.free:
            return np.ones(len(prefixes), dtype=np.int64)
        begins, ends = self._by(index).extents(prefixes)
        return ends - begins

    def _by(self, index: Index) -> _Sorted:
        known = self._sorted.get(index.columns)
        if known is None:
            known = self._sorted[index.columns] = _Sorted(index, self.keys)
        return known

    def change(self, removed: IntegerArray, added: IntegerArray) -> None:
        """Take away rows that are there and add others that are not; both ascend."""
        if len(removed):
            self.keys = taken_out(self.keys, self.keys.searchsorted(removed))
        if len(added):
            self.keys = put_in(self.keys, self.keys.searchsorted(added), added)
        for known in self._sorted.values():
            known.change(removed, added)

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self.keys.nbytes) * (1 + 2 * len(self._sorted))
