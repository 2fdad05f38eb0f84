"""Queries over order books, and what each of them is by its definition, in plain Python over whole numbers and fractions.

VWAP, MST, PSP, AXFINDER are those of the DBToaster benchmark in standard SQL, EQ is example 2.1 of the RPAI paper. SQ1, SQ1B, SQ2, NQ1
and NQ2 are only described in that paper: the texts are our readings. A sum of no rows is NULL, as in SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from tests.soundness.order_book import Order

Rows: TypeAlias = list[tuple[int | None, ...]]
Orders: TypeAlias = Sequence[Order]
Number: TypeAlias = int | Fraction | None

_THREE_QUARTERS, _HALF, _QUARTER, _LITTLE = Fraction(3, 4), Fraction(1, 2), Fraction(1, 4), Fraction(1, 10_000)
_APART = 1_000


@dataclass(frozen=True, slots=True)
class BookQuery:
    """``rows`` gives the rows of the text over bids and asks, in any order. ``slow`` takes the cube of the number of orders."""

    name: str
    text: str
    rows: Callable[[Orders, Orders], Rows]
    slow: bool = False


def total(values: Iterable[int]) -> int | None:
    """SUM: of no values it is NULL."""
    given = list(values)
    return sum(given) if given else None


def times(factor: Fraction, value: int | None) -> Number:
    return None if value is None else factor * value


def less(one: Number, other: Number) -> bool:
    """Say whether ``one < other`` is true; beside NULL it is not."""
    return one is not None and other is not None and one < other


def volume(orders: Iterable[Order]) -> int | None:
    return total(each.volume for each in orders)


def _worth(orders: Iterable[Order]) -> Rows:
    return [(total(each.price * each.volume for each in orders),)]


def _vwap(bids: Orders, asks: Orders) -> Rows:
    least = times(_THREE_QUARTERS, volume(bids))
    return _worth(bid for bid in bids if less(least, volume(other for other in bids if other.price <= bid.price)))


def _sq1(bids: Orders, asks: Orders) -> Rows:
    def passes(bid: Order) -> bool:
        above = volume(other for other in bids if other.price > bid.price)
        return less(times(_THREE_QUARTERS, above), volume(other for other in bids if other.price <= bid.price))

    return _worth(filter(passes, bids))


def _sq1b(bids: Orders, asks: Orders) -> Rows:
    def passes(bid: Order) -> bool:
        own = volume(other for other in bids if other.broker_id == bid.broker_id)
        return less(times(_THREE_QUARTERS, own), volume(other for other in bids if other.price <= bid.price))

    return _worth(filter(passes, bids))


def _sq2(bids: Orders, asks: Orders) -> Rows:
    least = times(_THREE_QUARTERS, volume(bids))
    return _worth(bid for bid in bids if less(least, volume(other for other in bids if 2 * other.price <= bid.price + 10_000)))


def _nq1(bids: Orders, asks: Orders) -> Rows:
    least, quarter = times(_THREE_QUARTERS, volume(bids)), times(_QUARTER, volume(bids))
    counted = [other for other in bids if less(quarter, volume(third for third in bids if third.price <= other.price))]
    return _worth(bid for bid in bids if less(least, volume(other for other in counted if other.price <= bid.price)))


def _nq2(bids: Orders, asks: Orders) -> Rows:
    least = times(_THREE_QUARTERS, volume(bids))

    def is_counted(other: Order, bid: Order) -> bool:
        own = times(_QUARTER, volume(third for third in bids if third.price <= bid.price))
        return less(own, volume(fourth for fourth in bids if fourth.price <= other.price))

    def counted(bid: Order) -> int | None:
        return volume(other for other in bids if other.price <= bid.price and is_counted(other, bid))

    return _worth(bid for bid in bids if less(least, counted(bid)))


def _eq(bids: Orders, asks: Orders) -> Rows:
    half = times(_HALF, volume(bids))

    def passes(bid: Order) -> bool:
        own = volume(other for other in bids if other.price == bid.price)
        return half is not None and half == own

    return _worth(filter(passes, bids))


def _mst(bids: Orders, asks: Orders) -> Rows:
    def best(orders: Orders) -> list[Order]:
        most = times(_QUARTER, volume(orders))
        return [each for each in orders if less(volume(other for other in orders if other.price > each.price), most)]

    best_asks, best_bids = best(asks), best(bids)
    found: dict[int, list[int]] = {}
    for bid in best_bids:
        found.setdefault(bid.broker_id, []).extend(ask.price * ask.volume - bid.price * bid.volume for ask in best_asks)
    return [(broker, sum(values)) for broker, values in found.items() if values]


def _psp(bids: Orders, asks: Orders) -> Rows:
    def large(orders: Orders) -> list[Order]:
        least = times(_LITTLE, volume(orders))
        return [each for each in orders if less(least, each.volume)]

    large_asks = large(asks)
    return [(total(ask.price - bid.price for bid in large(bids) for ask in large_asks),)]


def _axfinder(bids: Orders, asks: Orders) -> Rows:
    found: dict[int, int] = {}
    for bid in bids:
        for ask in asks:
            if bid.broker_id == ask.broker_id and abs(ask.price - bid.price) > _APART:
                found[bid.broker_id] = found.get(bid.broker_id, 0) + ask.volume - bid.volume
    return list(found.items())


_WORTH = "SELECT SUM(b.price * b.volume) AS worth FROM bids b WHERE"
_ALL = "0.75 * (SELECT SUM(b1.volume) FROM bids b1)"
_BELOW = "(SELECT SUM(b2.volume) FROM bids b2 WHERE b2.price <= b.price)"
_NESTED = (
    "(SELECT SUM(b2.volume) FROM bids b2 WHERE b2.price <= b.price AND "
    "0.25 * (SELECT SUM(b3.volume) FROM bids b3) < (SELECT SUM(b4.volume) FROM bids b4 WHERE b4.price <= b2.price))"
)
# Spark knows names of one level out alone, so each order has its own sum beside it (Spark 4.2 resolves that, and has no plan for it).
_WITH_BELOW = "(SELECT o.price, o.volume, (SELECT SUM(p.volume) FROM bids p WHERE p.price <= o.price) AS below FROM bids o)"
_BEST = "0.25 * (SELECT SUM({0}1.volume) FROM {1} {0}1) > (SELECT SUM({0}2.volume) FROM {1} {0}2 WHERE {0}2.price > {0}.price)"
_LARGE = "{0}.volume > 0.0001 * (SELECT SUM({0}1.volume) FROM {1} {0}1)"

QUERIES: tuple[BookQuery, ...] = (
    BookQuery("VWAP", f"{_WORTH} {_ALL} < {_BELOW}", _vwap),
    BookQuery(
        "MST",
        "SELECT b.broker_id, SUM(a.price * a.volume - b.price * b.volume) AS mst FROM bids b, asks a "
        f"WHERE {_BEST.format('a', 'asks')} AND {_BEST.format('b', 'bids')} GROUP BY b.broker_id",
        _mst,
    ),
    BookQuery(
        "PSP",
        f"SELECT SUM(a.price - b.price) AS psp FROM bids b, asks a WHERE {_LARGE.format('b', 'bids')} AND {_LARGE.format('a', 'asks')}",
        _psp,
    ),
    BookQuery("SQ1", f"{_WORTH} 0.75 * (SELECT SUM(b1.volume) FROM bids b1 WHERE b1.price > b.price) < {_BELOW}", _sq1),
    BookQuery("SQ1B", f"{_WORTH} 0.75 * (SELECT SUM(b1.volume) FROM bids b1 WHERE b1.broker_id = b.broker_id) < {_BELOW}", _sq1b),
    BookQuery("SQ2", f"{_WORTH} {_ALL} < (SELECT SUM(b2.volume) FROM bids b2 WHERE 2 * b2.price <= b.price + 10000)", _sq2),
    BookQuery("NQ1", f"{_WORTH} {_ALL} < {_NESTED}", _nq1),
    BookQuery(
        "NQ2",
        f"SELECT SUM(b.price * b.volume) AS worth FROM {_WITH_BELOW} b WHERE {_ALL} < (SELECT SUM(b2.volume) FROM {_WITH_BELOW} b2 "
        "WHERE b2.price <= b.price AND 0.25 * b.below < b2.below)",
        _nq2,
        slow=True,
    ),
    BookQuery(
        "EQ",
        f"{_WORTH} 0.5 * (SELECT SUM(b1.volume) FROM bids b1) = (SELECT SUM(b2.volume) FROM bids b2 WHERE b2.price = b.price)",
        _eq,
    ),
    BookQuery(
        "AXFINDER",
        "SELECT b.broker_id, SUM(a.volume - b.volume) AS axfinder FROM bids b, asks a "
        f"WHERE b.broker_id = a.broker_id AND (a.price - b.price > {_APART} OR b.price - a.price > {_APART}) GROUP BY b.broker_id",
        _axfinder,
    ),
)
QUERY_OF: Mapping[str, BookQuery] = {query.name: query for query in QUERIES}

PUBLISHED: Mapping[str, Rows] = {
    "VWAP": [(28_916_017_900,)],
    "PSP": [(76_452_380_068_302,)],
    "AXFINDER": list(enumerate([2_446_668, -648_039, -5_363_809, 864_240, 8_384_852, 3_288_320, -2_605_617, 243_551, 1_565_128, 995_180])),
}
"""What the DBToaster benchmark publishes for the trace of 5,000 lines."""
