"""Costs of shortest paths under changes of the links: computed from scratch, and by deleting and rederiving.

minCost of query 2 of the recursive-view paper, with the aggregate pushed into the recursion (section 6), without which it would list all
paths and never end on a cycle. Costs of links must be positive. Rows of links are source, target and cost, those of the view the same.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from benchmarks.recursion.maintained import Counters, Row

Pair: TypeAlias = tuple[int, int]


class Costs(ABC):
    """Keeps links and the least cost of each pair; how the costs follow is what its subclasses differ in."""

    def __init__(self) -> None:
        self.counters = Counters()
        self._least: dict[int, dict[int, int]] = defaultdict(dict)
        """By source, then by target."""
        self._links: dict[int, dict[int, int]] = defaultdict(dict)
        """The cheapest link of each source to each target."""
        self._back: dict[int, set[int]] = defaultdict(set)
        """Sources of the links to each target."""
        self._copies: dict[Pair, Counter[int]] = defaultdict(Counter)

    @property
    def touched(self) -> int:
        return self.counters.touched

    def load(self, rows: Iterable[Row]) -> None:
        self.apply((), list(rows))

    def apply(self, deleted: Sequence[Row], inserted: Sequence[Row]) -> None:
        """Follow a change.

        Raises:
            ValueError: a row is deleted that is not there, or a cost is not positive.
        """
        changed: dict[Pair, None] = {}
        for source, target, cost in inserted:
            if cost <= 0:
                raise ValueError(f"the link from {source} to {target} must have a positive cost, not {cost}")
            self._copies[source, target][cost] += 1
            changed[source, target] = None
        for source, target, cost in deleted:
            if not self._copies[source, target][cost]:
                raise ValueError(f"{(source, target, cost)} is deleted and is not there")
            self._copies[source, target][cost] -= 1
            changed[source, target] = None
        self.counters.touched += len(changed)
        now = {pair: min((+self._copies[pair]).keys(), default=None) for pair in changed}
        self.follow({(source, target): cost for (source, target), cost in now.items() if self._links[source].get(target) != cost})

    @abstractmethod
    def follow(self, links: dict[Pair, int | None]) -> None:
        """Bring the costs up to links whose cheapest copy is another one now; None where there is none any more."""

    def rows(self) -> Iterator[Row]:
        return ((source, target, cost) for source, costs in self._least.items() for target, cost in costs.items())

    def put(self, links: dict[Pair, int | None]) -> None:
        """Put links in the place of those that were there."""
        for (source, target), cost in links.items():
            if cost is None:
                del self._links[source][target]
                self._back[target].remove(source)
            else:
                self._links[source][target] = cost
                self._back[target].add(source)

    def lower(self, offered: Iterable[tuple[int, Pair]]) -> None:
        """Take costs where they are less than those known, and all that follows, the least first (Dijkstra 1959)."""
        heap = list(offered)
        heapq.heapify(heap)
        while heap:
            cost, (source, target) = heapq.heappop(heap)
            self.counters.touched += 1
            known = self._least[source].get(target)
            if known is not None and known <= cost:
                continue
            self._least[source][target] = cost
            self.counters.touched += 1
            for before in self._back[source]:
                heapq.heappush(heap, (cost + self._links[before][source], (before, target)))


class CostsFromScratch(Costs):
    """Computes all costs again."""

    def follow(self, links: dict[Pair, int | None]) -> None:
        self.put(links)
        self._least.clear()
        self.lower([(cost, (source, target)) for source, targets in self._links.items() for target, cost in targets.items()])


class CostsByDRed(Costs):
    """Deletes each cost that some cheapest path over a changed link has, and finds those costs again from what is left."""

    def follow(self, links: dict[Pair, int | None]) -> None:
        over = self._over_deleted(links)
        for source, target in over:
            del self._least[source][target]
        self.counters.touched += len(over)
        self.put(links)
        offered = [(cost, pair) for pair in over if (cost := self._best(*pair)) is not None]
        for (source, target), cost in links.items():
            if cost is not None:
                offered.append((cost, (source, target)))
                offered += [(cost + more, (source, end)) for end, more in self._least[target].items()]
        self.lower(offered)

    def _over_deleted(self, links: dict[Pair, int | None]) -> dict[Pair, None]:
        """Return the pairs whose cost comes from a link that is dearer now or gone, or from a pair that is returned."""
        least, over, pending = self._least, dict[Pair, None](), list[Pair]()
        for (source, target), cost in links.items():
            known = self._links[source].get(target)
            if known is not None and (cost is None or cost > known):
                ends = [(target, known), *((end, known + more) for end, more in least[target].items())]
                pending += [(source, end) for end, total in ends if least[source][end] == total]
                self.counters.touched += len(ends)
        while pending:
            pair = pending.pop()
            if pair in over:
                continue
            over[pair] = None
            source, target = pair
            for before in self._back[source]:
                self.counters.touched += 1
                if least[before][target] == self._links[before][source] + least[source][target]:
                    pending.append((before, target))
        return over

    def _best(self, source: int, target: int) -> int | None:
        """Return the least cost that follows at once from links and costs that are left."""
        links = self._links[source]
        self.counters.touched += len(links)
        known = [cost + more for middle, cost in links.items() if (more := self._least[middle].get(target)) is not None]
        return min([*known, links[target]] if target in links else known, default=None)
