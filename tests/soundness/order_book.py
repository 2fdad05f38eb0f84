"""An order book from a trace of events: rows that come and go, and a trace of our own in the same form.

A line is ``time, order id, action, volume, price``. ``B`` adds a bid and ``S`` an ask, of the broker whose number is the id's last digit.
``E`` takes volume from an order, which goes where none is left, ``D`` and ``F`` take the order; both find it in either book, or nowhere.
Other actions change nothing. Times are milliseconds of a day, prices ten-thousandths.

Traces of a trading day are in github.com/dbtoaster/dbtoaster-experiments-data, without a licence to carry them: tests read them from the
folder that ``IMP_ORDER_BOOK`` names, as ``tiny/finance.csv`` (100 lines) and ``standard/finance.csv`` (5,000).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

BROKERS = 10
BOOKS = ("bids", "asks")
SCHEMA = pa.schema([("t", pa.int64()), ("id", pa.int64()), ("broker_id", pa.int32()), ("volume", pa.int64()), ("price", pa.int64())])


class Order(NamedTuple):
    """A row of a book."""

    t: int
    id: int
    broker_id: int
    volume: int
    price: int


class Event(NamedTuple):
    """A line of a trace."""

    time: int
    order: int
    action: str
    volume: int
    price: int


class Signed(NamedTuple):
    """A row that comes to a book (weight 1) or leaves it (weight -1)."""

    book: str
    row: Order
    weight: int


@dataclass(slots=True)
class OrderBook:
    """Both books after some events, by order id."""

    books: dict[str, dict[int, Order]] = field(default_factory=lambda: {name: {} for name in BOOKS})

    @property
    def bids(self) -> list[Order]:
        return list(self.books["bids"].values())

    @property
    def asks(self) -> list[Order]:
        return list(self.books["asks"].values())

    def apply(self, event: Event) -> list[Signed]:
        """Take one event; return the rows that it adds and removes."""
        if event.action in ("B", "S"):
            return self._add("bids" if event.action == "B" else "asks", event)
        if event.action in ("D", "E", "F"):
            return [change for name in BOOKS for change in self._reduce(name, event)]
        return []

    def _add(self, name: str, event: Event) -> list[Signed]:
        row = Order(event.time, event.order, event.order % BROKERS, event.volume, event.price)
        earlier = self.books[name].pop(event.order, None)
        self.books[name][event.order] = row
        return [*([] if earlier is None else [Signed(name, earlier, -1)]), Signed(name, row, 1)]

    def _reduce(self, name: str, event: Event) -> list[Signed]:
        found = self.books[name].pop(event.order, None)
        if found is None:
            return []
        left = found.volume - event.volume if event.action == "E" else 0
        if left <= 0:
            return [Signed(name, found, -1)]
        rest = found._replace(volume=left)
        self.books[name][event.order] = rest
        return [Signed(name, found, -1), Signed(name, rest, 1)]


def events_of(lines: Iterable[str]) -> Iterator[Event]:
    """Read the lines of a trace.

    Raises:
        ValueError: a line is not of five fields, of which all but the action are whole numbers.
    """
    for number, line in enumerate(lines, 1):
        fields = line.strip().split(",")
        if len(fields) != len(Event._fields):
            raise ValueError(f"line {number} of the trace has {len(fields)} fields instead of {len(Event._fields)}: {line.strip()!r}")
        time, order, action, volume, price = fields
        yield Event(int(float(time)), int(order), action.strip(), int(float(volume)), int(float(price)))


def trace_file(name: str) -> Path | None:
    """Return the file of a trace where the environment names its folder, and None where it does not."""
    folder = os.environ.get("IMP_ORDER_BOOK")
    path = None if not folder else Path(folder, name, "finance.csv")
    return path if path is not None and path.exists() else None


def net(changes: Iterable[Signed]) -> Counter[tuple[str, Order]]:
    """Return changes summed by book and row, without those that cancel out: what one commit of them does."""
    found: Counter[tuple[str, Order]] = Counter()
    for change in changes:
        found[change.book, change.row] += change.weight
    return Counter({key: weight for key, weight in found.items() if weight})


def table_of(rows: Iterable[Order]) -> pa.Table:
    """Return rows of a book as columns."""
    given = list(rows)
    return pa.table([pa.array([row[place] for row in given], each.type) for place, each in enumerate(SCHEMA)], schema=SCHEMA)


@dataclass(frozen=True, slots=True)
class Market:
    """What a made trace is like: prices lie on ``levels`` ticks of ``tick`` around ``middle``, so that many orders tie."""

    middle: int = 200_000
    tick: int = 500
    levels: int = 12
    volumes: tuple[int, ...] = (1, 5, 10, 10, 20, 20, 50, 100, 100, 400)


def made_trace(seed: int, events: int, market: Market | None = None) -> list[str]:
    """Return lines of a trace of our own: bids and asks on ticks, parts and whole orders that leave, unknown ids and ignored actions.

    Some prices are far from all others, as in real traces, and some orders have no volume.
    """
    chance, setting = random.Random(f"order book {seed}"), market or Market()
    lines: list[str] = []
    known: list[int] = []
    time, order = 34_200_000, 30_000
    for _ in range(events):
        time += chance.choice([0, 1, 7, 250])
        order += chance.randint(1, 9)
        action = chance.choices("BSEDFTXC", weights=(30, 30, 10, 20, 4, 2, 2, 2))[0]
        if action in ("B", "S"):
            known.append(order)
            volume = 0 if chance.random() < 0.04 else chance.choice(setting.volumes)
            lines.append(f"{time},{order},{action},{volume},{_price(chance, setting, action)}")
            continue
        # One in eight is of an order that nobody has added.
        wanted = chance.choice(known) if known and chance.random() < 0.875 else order
        if action in ("D", "F") and wanted in known and chance.random() < 0.9:
            known.remove(wanted)
        lines.append(f"{time},{wanted},{action},{chance.choice(setting.volumes)},0")
    return lines


def _price(chance: random.Random, market: Market, action: str) -> int:
    if chance.random() < 0.05:
        return market.middle // 20 if action == "B" else market.middle * 20
    side = -1 if action == "B" else 1
    return market.middle + side * market.tick * (chance.randrange(market.levels) - 2)
