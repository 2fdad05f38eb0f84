"""The queries computed from nothing at each change, as by a program for one query: one sort and one pass, no loop in a loop.

Rows hold no NULL and no volume below 1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

Rows: TypeAlias = Sequence[tuple[Any, ...]]
Tables: TypeAlias = Mapping[str, Rows]
Results: TypeAlias = dict[Any, tuple[Any, ...]]


class _Book:
    """Volume and turnover by price, in the order of prices, and the sums up to each."""

    def __init__(self, rows: Rows) -> None:
        volumes: dict[int, int] = {}
        turnovers: dict[int, int] = {}
        for _, _, _, volume, price in rows:
            volumes[price] = volumes.get(price, 0) + volume
            turnovers[price] = turnovers.get(price, 0) + volume * price
        self.prices = sorted(volumes)
        self.turnovers = [turnovers[price] for price in self.prices]
        self.up_to = list(accumulate([volumes[price] for price in self.prices]))
        self.whole = self.up_to[-1] if self.up_to else 0

    def passing(self, keep: Callable[[int, int], bool]) -> Results:
        """Sum the turnovers of the prices for which a condition holds; it is given the place and the volume up to the price."""
        found = [turnover for place, (turnover, below) in enumerate(zip(self.turnovers, self.up_to, strict=True)) if keep(place, below)]
        return {(): (sum(found) if found else None,)}


def vwap(tables: Tables) -> Results:
    book = _Book(tables["bids"])
    return book.passing(lambda place, below: 3 * book.whole < 4 * below)


def sq1(tables: Tables) -> Results:
    book = _Book(tables["bids"])
    return book.passing(lambda place, below: below < book.whole and 3 * (book.whole - below) < 4 * below)


def sq1b(tables: Tables) -> Results:
    bids = tables["bids"]
    book = _Book(bids)
    of_broker: dict[Any, int] = {}
    for _, _, broker, volume, _ in bids:
        of_broker[broker] = of_broker.get(broker, 0) + volume
    below = dict(zip(book.prices, book.up_to, strict=True))
    found = [volume * price for _, _, broker, volume, price in bids if 3 * of_broker[broker] < 4 * below[price]]
    return {(): (sum(found) if found else None,)}


def sq2(tables: Tables) -> Results:
    book = _Book(tables["bids"])

    def below(place: int) -> int:
        end = bisect_right(book.prices, (book.prices[place] + 10_000) // 2)
        return book.up_to[end - 1] if end else 0

    return book.passing(lambda place, _: 3 * book.whole < 4 * below(place))


def nq1(tables: Tables) -> Results:
    book = _Book(tables["bids"])
    begin = bisect_right(book.up_to, book.whole // 4)
    before = book.up_to[begin - 1] if begin else 0
    return book.passing(lambda place, below: place >= begin and 3 * book.whole < 4 * (below - before))


def nq2(tables: Tables) -> Results:
    book = _Book(tables["bids"])

    def counted(place: int, below: int) -> int:
        begin = bisect_right(book.up_to, below // 4)
        return below - (book.up_to[begin - 1] if begin else 0) if begin <= place else 0

    return book.passing(lambda place, below: 3 * book.whole < 4 * counted(place, below))


def eq(tables: Tables) -> Results:
    own: dict[Any, int] = {}
    products: dict[Any, int] = {}
    for a, b in tables["r"]:
        own[a] = own.get(a, 0) + b
        products[a] = products.get(a, 0) + a * b
    whole = sum(own.values())
    found = [products[a] for a, volume in own.items() if 2 * volume == whole]
    return {(): (sum(found) if found else None,)}


def _upper(rows: Rows) -> Rows:
    """Return rows of the highest prices with less than a quarter of the volume above them, but not those with nothing above."""
    book = _Book(rows)
    begin = bisect_right(book.up_to, 3 * book.whole // 4)
    if not book.prices or begin >= len(book.prices) - 1:
        return []
    low, high = book.prices[begin], book.prices[-1]
    return [row for row in rows if low <= row[4] < high]


def mst(tables: Tables) -> Results:
    asks, bids = _upper(tables["asks"]), _upper(tables["bids"])
    asked = sum([row[3] * row[4] for row in asks])
    number: dict[Any, int] = {}
    bid: dict[Any, int] = {}
    for _, _, broker, volume, price in bids if asks else ():
        number[broker] = number.get(broker, 0) + 1
        bid[broker] = bid.get(broker, 0) + volume * price
    return {broker: (asked * number[broker] - len(asks) * bid[broker],) for broker in number}


def psp(tables: Tables) -> Results:
    sides = []
    for name in ("asks", "bids"):
        whole = sum([row[3] for row in tables[name]])
        prices = [row[4] for row in tables[name] if 10_000 * row[3] > whole]
        sides.append((len(prices), sum(prices)))
    (asks, asked), (bids, bid) = sides
    return {(): (asked * bids - asks * bid if asks and bids else None,)}


def q17(tables: Tables) -> Results:
    sums: dict[Any, int] = {}
    numbers: dict[Any, int] = {}
    for part, quantity, _ in tables["lineitem"]:
        sums[part] = sums.get(part, 0) + quantity
        numbers[part] = numbers.get(part, 0) + 1
    found = [cents for part, quantity, cents in tables["joined"] if part in sums and 5 * quantity * numbers[part] < sums[part]]
    return {(): (sum(found) if found else None,)}


def q18(tables: Tables) -> Results:
    sums: dict[Any, int] = {}
    for order, quantity in tables["lines"]:
        sums[order] = sums.get(order, 0) + quantity
    return {order: (quantity,) for order, quantity in sums.items() if quantity > 300}


RECOMPUTED: Mapping[str, Callable[[Tables], Results]] = {
    "VWAP": vwap,
    "MST": mst,
    "PSP": psp,
    "SQ1": sq1,
    "SQ1b": sq1b,
    "SQ2": sq2,
    "NQ1": nq1,
    "NQ2": nq2,
    "EQ": eq,
    "Q17": q17,
    "Q18": q18,
}
