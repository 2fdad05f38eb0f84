"""An order book that orders join and leave: the price of the final quartile of its volume, live, and what brokers stand apart.

``python examples/order_book.py warehouse picture.png`` draws the price as it went; without a picture, or without matplotlib
(``imp_driver[demo]``), it is shown as text.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from importlib.util import find_spec

import imp_driver

Orders = list[tuple[int, int, Decimal, int]]
BROKERS, LEVELS, ORDERS = 5, 40, 160
COLUMNS = "id INT, broker INT, price DECIMAL(10, 2), volume INT"
# The dearest orders, together with those of the same price, that make up the last quarter of all volume.
VWAP = """
SELECT sum(b.price * b.volume) AS turnover, sum(b.volume) AS volume FROM book_bid b
WHERE 0.75 * (SELECT sum(volume) FROM book_bid) < (SELECT sum(c.volume) FROM book_bid c WHERE c.price <= b.price)"""
# What asks and bids at the dear ends of the book are apart, by broker: no bid meets an ask by any condition.
SPREAD = """
SELECT b.broker, sum(a.price * a.volume - b.price * b.volume) AS spread FROM book_bid b, book_ask a
WHERE 0.25 * (SELECT sum(volume) FROM book_ask) > (SELECT coalesce(sum(c.volume), 0) FROM book_ask c WHERE c.price > a.price)
AND 0.25 * (SELECT sum(volume) FROM book_bid) > (SELECT coalesce(sum(c.volume), 0) FROM book_bid c WHERE c.price > b.price)
GROUP BY b.broker"""
CHANGES = [
    ("the book opens", ""),
    ("dear bids come", "INSERT INTO book_bid VALUES (1001, 1, 121.50, 90), (1002, 2, 122.25, 60), (1003, 1, 123.00, 150)"),
    ("a half of one is filled", "UPDATE book_bid SET volume = 75 WHERE id = 1003"),
    ("two are filled", "DELETE FROM book_bid WHERE id IN (1002, 1003)"),
    ("broker 3 cancels its bids", "DELETE FROM book_bid WHERE broker = 3"),
    ("cheap bids come", "INSERT INTO book_bid SELECT 2000 + id, 4, 95 + 0.01 * id, 300 FROM range(4)"),
    ("a bid is moved", "UPDATE book_bid SET price = 124.00 WHERE id = 1001"),
    ("asks are withdrawn", "DELETE FROM book_ask WHERE price > 138"),
]


def main(warehouse: str, picture: str | None = None) -> list[tuple[Decimal, str]]:
    """Return the price of the final quartile and what served it, at first and after each change."""
    seen: list[tuple[Decimal, str]] = []
    with imp_driver.connect(warehouse=warehouse) as connection, connection.cursor() as cursor:
        for table, cheapest in (("book_bid", 100), ("book_ask", 120)):
            properties = "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
            cursor.execute(f"CREATE OR REPLACE TABLE {table} ({COLUMNS}) USING DELTA {properties}")
            cursor.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", _book(cheapest))
        for what, change in CHANGES:
            if change:
                cursor.execute(change)
            start = time.perf_counter()
            turnover, volume = cursor.execute(VWAP).fetchall()[0]
            milliseconds = 1000 * (time.perf_counter() - start)
            report = cursor.sketch_report
            assert report is not None
            seen.append((turnover / volume, report.served_by.name))
            spreads: dict[int, Decimal] = dict(cursor.execute(SPREAD).fetchall())
            widest = max(spreads, key=lambda broker: (spreads[broker], broker))
            line = f"{what}: {seen[-1][0]:.2f} in {milliseconds:.0f} ms ({report.served_by.name}, {report.decision.name})"
            print(f"{line}, widest spread {spreads[widest]} of broker {widest}")
            bids, asks = (cursor.execute(f"SELECT * FROM {table}").fetchall() for table in ("book_bid", "book_ask"))
            final = _final(bids, Decimal("0.75"))
            assert (turnover, volume) == (sum(each[2] * each[3] for each in final), sum(each[3] for each in final))
            assert spreads == _spreads(bids, asks)
    _show([float(price) for price, _ in seen], picture)
    return seen


def _book(cheapest: int) -> Orders:
    return [(number, number * 7 % BROKERS, cheapest + Decimal(number * 11 % LEVELS) / 2, 10 + number * 13 % 50) for number in range(ORDERS)]


def _final(orders: Orders, share: Decimal) -> Orders:
    """Return the dearest orders: those up to whose price there is more than this share of the volume."""
    levels: Counter[Decimal] = Counter()
    for _, _, price, volume in orders:
        levels[price] += volume
    below = {price: sum(volume for other, volume in levels.items() if other <= price) for price in levels}
    return [each for each in orders if below[each[2]] > share * levels.total()]


def _spreads(bids: Orders, asks: Orders) -> dict[int, Decimal]:
    """Return, for each broker, the sum over all pairs of an ask and a bid at the dear ends."""
    found: dict[int, Decimal] = {}
    for _, broker, price, volume in _dear(bids):
        for _, _, other_price, other_volume in _dear(asks):
            found[broker] = found.get(broker, Decimal(0)) + other_price * other_volume - price * volume
    return found


def _dear(orders: Orders) -> Orders:
    """Return the orders above whose price there is less than a quarter of the volume."""
    total = sum(each[3] for each in orders)
    return [each for each in orders if 4 * sum(other[3] for other in orders if other[2] > each[2]) < total]


def _show(prices: Sequence[float], picture: str | None) -> None:
    """Draw the price after each change."""
    if picture is None or find_spec("matplotlib") is None:
        least, most = min(prices), max(prices)
        for number, price in enumerate(prices):
            print(f"{number:3} {price:8.2f} {'#' * (1 + round(40 * (price - least) / max(most - least, 0.01)))}")
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4))
    axes.step(range(len(prices)), prices, where="post", marker="o", markersize=3)
    axes.set(xlabel="changes of the book", ylabel="price", title="Average price of the final quartile of the volume")
    figure.tight_layout()
    figure.savefig(picture, dpi=120)
    pyplot.close(figure)
    print(f"drawn: {picture}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse", sys.argv[2] if len(sys.argv) > 2 else None)
