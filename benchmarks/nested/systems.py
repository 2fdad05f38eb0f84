"""What the workload of nested aggregates compares: each follows events and tells the results, and says what an event took."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from benchmarks.harness import Rows
from benchmarks.nested.queries import QUERIES
from benchmarks.nested.recompute import RECOMPUTED
from benchmarks.nested.streams import Event, Row
from imp_driver.dataflow.nested.description import Product, Strategy
from imp_driver.dataflow.nested.maintained import best, maintained

OURS = "IMP"
WARMING = 50
"""Events at the beginning of a turn that are not timed: what others did before has put this system's state out of the caches."""
SAMPLES = 3
"""Recomputations that are timed in a turn."""
MOST_KEYS_TO_MOVE = 10_000
"""Rows up to which the PAI map is measured: an event moves all keys, one by one."""
Results: TypeAlias = Mapping[Any, tuple[Any, ...]]


class System(Protocol):
    """Something that knows the results of one query."""

    def load(self, events: Sequence[Event]) -> None:
        """Follow events at once, untimed."""

    def follow(self, events: Sequence[Event], batch: int) -> float:
        """Follow events, with the results after each batch, and return microseconds an event."""

    def rows(self) -> Rows:
        """Return the results, a row a group."""

    @property
    def memory(self) -> int:
        """Bytes of the state."""


class Followed:
    """The driver's operators, in one of their ways."""

    def __init__(self, query: str, strategy: Strategy | None = None) -> None:
        self._operator = maintained(QUERIES[query], strategy)

    def load(self, events: Sequence[Event]) -> None:
        self._operator.apply(_by_relation(events))
        self._operator.changed()

    def follow(self, events: Sequence[Event], batch: int) -> float:
        operator = self._operator
        if batch == 1:
            self._follow_each(events[:WARMING])
            begin = time.perf_counter()
            self._follow_each(events[WARMING:])
            return (time.perf_counter() - begin) / (len(events) - WARMING) * 1e6
        batches = [_by_relation(events[at : at + batch]) for at in range(0, len(events), batch)]
        begin = time.perf_counter()
        for changes in batches:
            operator.apply(changes)
            operator.changed()
        return (time.perf_counter() - begin) / len(events) * 1e6

    def _follow_each(self, events: Sequence[Event]) -> None:
        operator = self._operator
        for event in events:
            for relation, row, weight, _ in event:
                operator.change(relation, row, weight)
            operator.changed()

    def rows(self) -> Rows:
        return _rows(self._operator.results())

    @property
    def memory(self) -> int:
        return self._operator.memory


class Recomputed:
    """A program for the one query that computes it from nothing after each batch; of a turn the last ones are timed."""

    def __init__(self, query: str) -> None:
        self._compute = RECOMPUTED[query]
        self._tables: dict[str, list[Row]] = {relation: [] for relation in ("bids", "asks", "r", "lineitem", "joined", "lines")}
        self._places: dict[tuple[str, int], int] = {}
        self._numbers: dict[str, list[int]] = {relation: [] for relation in self._tables}

    def load(self, events: Sequence[Event]) -> None:
        for event in events:
            self._change(event)

    def follow(self, events: Sequence[Event], batch: int) -> float:
        timed = events[-SAMPLES * batch :]
        self.load(events[: len(events) - len(timed)])
        begin = time.perf_counter()
        for place, event in enumerate(timed):
            self._change(event)
            if place % batch == batch - 1:
                self._compute(self._tables)
        return (time.perf_counter() - begin) / len(timed) * 1e6

    def _change(self, event: Event) -> None:
        for relation, row, weight, number in event:
            rows, numbers = self._tables[relation], self._numbers[relation]
            if weight > 0:
                self._places[relation, number] = len(rows)
                rows.append(row)
                numbers.append(number)
                continue
            # The last row takes the place of the one that goes.
            place = self._places.pop((relation, number))
            last_row, last_number = rows.pop(), numbers.pop()
            if last_number != number:
                rows[place], numbers[place] = last_row, last_number
                self._places[relation, last_number] = place

    def rows(self) -> Rows:
        return _rows(self._compute(self._tables))

    @property
    def memory(self) -> int:
        return 0


def systems(query: str, rows: int) -> dict[str, Callable[[], System]]:
    """Return what a query over so many rows is measured with, the driver's own way first."""
    description, found = QUERIES[query], dict[str, Callable[[], System]]()
    found[OURS] = lambda: Followed(query)
    if query == "VWAP":
        found[Strategy.RPAI_TREE.value] = _way(query, Strategy.RPAI_TREE)
        if rows <= MOST_KEYS_TO_MOVE:
            found[Strategy.PAI_MAP.value] = _way(query, Strategy.PAI_MAP)
    is_general = isinstance(description, Product) or best(description) is not Strategy.GENERAL
    # Of partitions each would be masked by itself, one key after the other.
    if is_general and query not in ("EQ", "Q17", "Q18"):
        found[Strategy.GENERAL.value] = _way(query, Strategy.GENERAL)
    found["recomputed"] = lambda: Recomputed(query)
    return found


def _way(query: str, strategy: Strategy) -> Callable[[], System]:
    return lambda: Followed(query, strategy)


def _by_relation(events: Sequence[Event]) -> dict[str, list[tuple[Row, int]]]:
    found: dict[str, list[tuple[Row, int]]] = {}
    for event in events:
        for relation, row, weight, _ in event:
            found.setdefault(relation, []).append((row, weight))
    return found


def _rows(results: Results) -> Rows:
    return [(repr(group), *sums) for group, sums in results.items()]
