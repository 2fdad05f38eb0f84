"""Terms with their counts, of which the first or the last one by the order of ORDER BY is known at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from imp_driver.sparql.functions.order import OrderKey, order_key
from imp_driver.sparql.terms import Term

_SPARE: Final = 16


@dataclass(frozen=True, slots=True)
class _Ascending:
    key: OrderKey
    term: Term

    def __lt__(self, other: _Ascending) -> bool:
        return (self.key, self.term) < (other.key, other.term)


@dataclass(frozen=True, slots=True)
class _Descending:
    key: OrderKey
    term: Term

    def __lt__(self, other: _Descending) -> bool:
        return (self.key, self.term) > (other.key, other.term)


class SortedCounts:
    """A multiset of terms; counts may be negative for a while. Of terms that tie, that with the lesser text is less.

    A heap has every term that is there, and some that are gone; these leave it when they come first, or are the most.
    """

    __slots__ = ("_counts", "_entry", "_heap", "_queued")

    def __init__(self, *, is_descending: bool = False) -> None:
        self._entry: type[_Ascending] | type[_Descending] = _Descending if is_descending else _Ascending
        self._counts: dict[Term, int] = {}
        self._heap: list[_Ascending | _Descending] = []
        self._queued: set[Term] = set()

    def add(self, term: Term, count: int) -> None:
        found = self._counts.get(term, 0) + count
        if found:
            self._counts[term] = found
        else:
            self._counts.pop(term, None)
        if found > 0 and term not in self._queued:
            self._queued.add(term)
            heappush(self._heap, self._entry(order_key(term), term))
        elif len(self._heap) > 2 * len(self._counts) + _SPARE:
            self._heap = [each for each in self._heap if self._counts.get(each.term, 0) > 0]
            self._queued = {each.term for each in self._heap}
            heapify(self._heap)

    def first(self) -> Term | None:
        """Return the first term of the order, None where there is none."""
        while self._heap and self._counts.get(self._heap[0].term, 0) <= 0:
            self._queued.discard(heappop(self._heap).term)
        return self._heap[0].term if self._heap else None

    def __iter__(self) -> Iterator[Term]:
        """Each term in ascending order, as often as it is there."""
        for term in sorted(self._counts, key=lambda each: (order_key(each), each)):
            yield from [term] * self._counts[term]
