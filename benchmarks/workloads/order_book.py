"""The finance queries of the RPAI paper through Delta and the driver: after each commit of a hundred orders, beside plain Spark.

Orders of a made book: prices of 1,400 steps, volumes of whole numbers. A commit brings fifty orders and takes fifty away, of one of
its sides. From execute to fetchall. SQ1, SQ2 and NQ1 are readings of what the paper only describes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from random import Random

from benchmarks.answering import ANSWERS, PLAIN, Connections, answered, opened
from benchmarks.harness import ask
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns

SCHEMA = "order_book"
SIDES = ("bids", "asks")
SIZES = (10_000, 100_000)
CHANGED = 100
_PRICES, _VOLUMES, _BROKERS = 1_400, 100, 10
_ALL = "(SELECT SUM(a.volume) FROM bids a)"
_BELOW = "(SELECT SUM(c.volume) FROM bids c WHERE c.price <= b.price)"
QUERIES: Mapping[str, str] = {
    "VWAP": f"SELECT SUM(b.price * b.volume) AS v FROM bids b WHERE 0.75 * {_ALL} < {_BELOW}",
    "SQ1": "SELECT SUM(b.price * b.volume) AS v FROM bids b WHERE "
    f"0.75 * (SELECT SUM(a.volume) FROM bids a WHERE a.price > b.price) < {_BELOW}",
    "SQ2": f"SELECT SUM(b.price * b.volume) AS v FROM bids b WHERE 0.75 * {_ALL} < "
    "(SELECT SUM(c.volume) FROM bids c WHERE 2 * c.price <= b.price + 10000)",
    "NQ1": f"SELECT SUM(b.price * b.volume) AS v FROM bids b WHERE 0.75 * {_ALL} < (SELECT SUM(c.volume) FROM bids c "
    "WHERE c.price <= b.price AND 0.25 * (SELECT SUM(d.volume) FROM bids d) < "
    "(SELECT SUM(e.volume) FROM bids e WHERE e.price <= c.price))",
    "EQ": f"SELECT SUM(b.price * b.volume) AS v FROM bids b WHERE 0.001 * {_ALL} <= "
    "(SELECT SUM(c.volume) FROM bids c WHERE c.price = b.price)",
    "MST": "SELECT b.broker_id, SUM(a.price * a.volume - b.price * b.volume) AS v FROM bids b, asks a WHERE "
    "0.01 * (SELECT SUM(c.volume) FROM asks c) > (SELECT SUM(d.volume) FROM asks d WHERE d.price > a.price) AND "
    "0.01 * (SELECT SUM(e.volume) FROM bids e) > (SELECT SUM(f.volume) FROM bids f WHERE f.price > b.price) GROUP BY b.broker_id",
    "PSP": "SELECT SUM(a.price - b.price) AS v FROM bids b, asks a WHERE b.volume > 0.0001 * (SELECT SUM(c.volume) FROM bids c) "
    "AND a.volume > 0.0001 * (SELECT SUM(d.volume) FROM asks d)",
}
"""MST takes a hundredth of each side, and not a fourth: plain Spark makes every pair of what passes."""
_SMALL_ALONE = ("PSP",)
"""Of a larger book plain Spark makes thousands of millions of pairs."""


def run(journal: Journal, plan: Plan, warehouse: str, *, is_quick: bool) -> None:
    """Measure one case per size of the book and query; ``is_quick`` leaves out the larger book."""
    for rows in SIZES[:1] if is_quick else SIZES:
        with opened(warehouse, f"{SCHEMA}_{rows}") as connections:
            book = _Book(connections, rows)
            book.create()
            for query, text in QUERIES.items():
                if rows == SIZES[0] or query not in _SMALL_ALONE:
                    book.measure(journal, plan, query, text)


@dataclass(slots=True)
class _Book:
    """Half of the rows are bids, half asks; new orders have new ids."""

    connections: Connections
    rows: int
    changes: int = 0

    def create(self) -> None:
        for number, side in enumerate(SIDES):
            self.connections.plain.execute(
                f"CREATE OR REPLACE TABLE {side} USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') AS SELECT id AS t, id, "
                f"id % {_BROKERS} AS broker_id, 1 + pmod(hash(id, {number}), {_VOLUMES}) AS volume, "
                f"CAST(10000 + pmod(hash(id, {number}, 1), {_PRICES}) AS BIGINT) AS price FROM range({self.rows // 2})"
            ).close()

    def measure(self, journal: Journal, plan: Plan, query: str, text: str) -> None:
        self.connections.forget()
        page = journal.page({"query": query, "rows": self.rows, "delta": CHANGED})
        ways: dict[str, Way] = {
            PLAIN: partial(self._ask, PLAIN, text),
            ANSWERS: partial(self._ask, ANSWERS, text),
        }
        take_turns(page, plan, Work(ways, self._change))

    def _ask(self, system: str, text: str) -> Turn:
        connection = self.connections.plain if system == PLAIN else self.connections.answers
        return answered(ask(connection, text))

    def _change(self) -> None:
        self.changes += 1
        chance = Random(self.changes)
        side = SIDES[self.changes % 2]
        gone = ", ".join(str(chance.randrange(self.rows // 2)) for _ in range(CHANGED // 2))
        new = ", ".join(
            f"({number}, {number}, {number % _BROKERS}, {1 + chance.randrange(_VOLUMES)}, {10_000 + chance.randrange(_PRICES)})"
            for number in range(self.rows * self.changes, self.rows * self.changes + CHANGED // 2)
        )
        self.connections.plain.execute(f"DELETE FROM {side} WHERE id IN ({gone})").close()
        self.connections.plain.execute(f"INSERT INTO {side} VALUES {new}").close()
