"""Streams of changes, drawn by seed: an order book whose middle walks at random, lines of orders, and rows in small groups.

An order is placed, taken back, or filled in part, which takes its row away and brings what is left of it. Each stream begins with rows that
come, and then keeps about as many. Prices are whole numbers (of the smallest step), volumes too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, Protocol

Row = tuple[Any, ...]
BROKERS = 10
LINES_OF_PART, LINES_OF_ORDER = 30, 4
ASKED_PARTS = 10
"""One part in so many is of the brand and container that Q17 asks for; more than in TPC-H, so that changes meet them."""


class Signed(NamedTuple):
    """A row that comes or goes, and a number by which it is told from equal ones."""

    relation: str
    row: Row
    weight: int
    number: int


Event = list[Signed]
"""What one event of the stream changes."""


class Stream(Protocol):
    """Events without end; ``loading`` first brings rows."""

    def loading(self, rows: int) -> Iterator[Event]:
        """Bring so many rows."""

    def events(self) -> Iterator[Event]:
        """Return the next events."""


@dataclass(slots=True)
class _Live:
    """Rows that are there, to draw one from."""

    rows: list[tuple[int, str, Row]]
    next_number: int = 0
    wanted: int = 0

    @property
    def are_few(self) -> bool:
        """Whether a tenth of the rows that are wanted is gone, which is to become no more."""
        return 10 * len(self.rows) < 9 * self.wanted

    def add(self, relation: str, row: Row) -> Signed:
        self.next_number += 1
        self.rows.append((self.next_number, relation, row))
        return Signed(relation, row, 1, self.next_number)

    def take(self, chance: Random) -> Signed:
        place = chance.randrange(len(self.rows))
        self.rows[place], self.rows[-1] = self.rows[-1], self.rows[place]
        number, relation, row = self.rows.pop()
        return Signed(relation, row, -1, number)


class OrderBook:
    """Bids below a middle that walks, asks above it; ``has_asks`` says whether there are asks at all."""

    def __init__(self, *, has_asks: bool, seed: int = 1) -> None:
        self._chance, self._live, self._has_asks = Random(seed), _Live([]), has_asks
        self._middle, self._time = 1_000_000, 0

    def loading(self, rows: int) -> Iterator[Event]:
        self._live.wanted = rows
        return ([self._placed()] for _ in range(rows))

    def events(self) -> Iterator[Event]:
        while True:
            kind = self._chance.random()
            if kind < 0.4 or self._live.are_few:
                yield [self._placed()]
            elif kind < 0.8:
                yield [self._live.take(self._chance)]
            else:
                yield self._filled()

    def _placed(self) -> Signed:
        chance = self._chance
        self._time += 1
        self._middle += chance.randint(-20, 20)
        is_ask = self._has_asks and chance.random() < 0.5
        distance = 1 + int(chance.expovariate(1 / 20_000))
        price = self._middle + distance if is_ask else max(self._middle - distance, 1)
        row = (self._time, self._live.next_number, chance.randrange(BROKERS), chance.randint(1, 1_000), price)
        return self._live.add("asks" if is_ask else "bids", row)

    def _filled(self) -> Event:
        gone = self._live.take(self._chance)
        left = gone.row[3] - self._chance.randint(1, 1_000)
        if left <= 0:
            return [gone]
        return [gone, self._live.add(gone.relation, (*gone.row[:3], left, gone.row[4]))]


class Groups:
    """Rows of groups of about so many rows; ``row`` draws one of a group."""

    def __init__(self, relation: str, row: Callable[[Random, int], Row], size: int, seed: int = 1) -> None:
        self._chance, self._live = Random(seed), _Live([])
        self._relation, self._row, self._size, self._groups = relation, row, size, 1

    def loading(self, rows: int) -> Iterator[Event]:
        self._groups = max(rows // self._size, 1)
        self._live.wanted = rows
        return (self._event(self._added()) for _ in range(rows))

    def events(self) -> Iterator[Event]:
        while True:
            is_new = self._chance.random() < 0.5 or self._live.are_few
            yield self._event(self._added() if is_new else self._live.take(self._chance))

    def _added(self) -> Signed:
        return self._live.add(self._relation, self._row(self._chance, self._chance.randrange(self._groups)))

    def _event(self, signed: Signed) -> Event:
        return [signed]


class LinesOfParts(Groups):
    """Lines, and those of them whose part is asked for, which a join brings along."""

    def __init__(self) -> None:
        super().__init__("lineitem", lambda chance, part: (part, chance.randint(1, 50), chance.randint(90_000, 10_000_000)), LINES_OF_PART)

    def _event(self, signed: Signed) -> Event:
        return [signed] if signed.row[0] % ASKED_PARTS else [signed, signed._replace(relation="joined")]


STREAMS: Mapping[str, Callable[[], Stream]] = {
    "MST": lambda: OrderBook(has_asks=True),
    "PSP": lambda: OrderBook(has_asks=True),
    "EQ": lambda: Groups("r", lambda chance, group: (group, chance.randint(1, 9)), 3),
    "Q17": LinesOfParts,
    "Q18": lambda: Groups("lines", lambda chance, order: (order, chance.randint(1, 50)), LINES_OF_ORDER),
}


def stream(query: str) -> Stream:
    """Return the stream that a query is measured with."""
    return STREAMS.get(query, lambda: OrderBook(has_asks=False))()
