"""Nested aggregates over order books on Spark: their definitions, types and NULLs are plain Spark's, and answers of the driver the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Reason
from tests.seeds import WIDE
from tests.soundness.order_book import BOOKS, OrderBook, Signed, events_of, made_trace
from tests.soundness.order_queries import QUERIES, QUERY_OF
from tests.spark.reports import report_of

_CREATE = "CREATE TABLE {} (t BIGINT, id BIGINT, broker_id INT, volume BIGINT, price BIGINT) USING DELTA"
_BEYOND_SPARK = {"NQ2"}
"""It reads a name from two levels further out, which Spark 4.2 does not resolve."""
_ROUNDS, _EVENTS = (20, 20) if WIDE else (2, 25)
_TYPED = (
    "SELECT SUM(o.m) / 7.0 AS yearly FROM typed o WHERE o.a < (SELECT 0.2 * AVG(i.a) FROM typed i WHERE i.g = o.g)",
    "SELECT SUM(o.m * o.a) AS f, AVG(o.m) AS e FROM typed o "
    "WHERE 0.75 * (SELECT SUM(i.m) FROM typed i) < (SELECT SUM(i.m) FROM typed i WHERE i.d <= o.d)",
    "SELECT o.g, MAX(o.d) AS f FROM typed o WHERE o.m > 0.5 * (SELECT AVG(i.m) FROM typed i WHERE i.w > o.w) GROUP BY o.g",
    "SELECT o.g, SUM(o.a) AS f FROM typed o GROUP BY o.g HAVING SUM(o.a) >= (SELECT SUM(i.a) FROM typed i WHERE i.g <= o.g)",
)
_ROWS = """
    (1, 1, 0.10BD, 1.5D, DATE'2024-01-31'), (1, 9, 0.25BD, 0.25D, DATE'2024-02-01'), (1, 0, NULL, 2.0D, DATE'2024-02-01'),
    (2, 3, 99999999.99BD, NULL, NULL), (2, NULL, 0.01BD, 3.0D, DATE'2024-02-29'), (NULL, 4, 0.02BD, 0.25D, DATE'1999-12-31'),
    (3, -2, -0.06BD, 1.5D, DATE'2024-02-29'), (3, 12, 0.10BD, 1.5D, DATE'2024-01-31')
"""


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="lazy", answers="on") as connection:
        yield connection.cursor()


def _commit(cursor: imp_driver.Cursor, name: str, changes: list[Signed], book: OrderBook) -> None:
    """Commit what some events have changed in a book: rows that leave, then rows that come."""
    touched = {change.row.id for change in changes if change.book == name}
    if not touched:
        return
    cursor.execute(f"DELETE FROM {name} WHERE id IN ({', '.join(map(str, touched))})")
    rows = [str(tuple(order)) for number, order in book.books[name].items() if number in touched]
    if rows:
        cursor.execute(f"INSERT INTO {name} VALUES {', '.join(rows)}")


def test_answers_are_those_of_the_definitions(cursor: imp_driver.Cursor) -> None:
    book, events = OrderBook(), list(events_of(made_trace(1, _ROUNDS * _EVENTS)))
    for name in BOOKS:
        cursor.execute(_CREATE.format(name))
    for number in range(_ROUNDS):
        changes = [change for event in events[number * _EVENTS : (number + 1) * _EVENTS] for change in book.apply(event)]
        for name in BOOKS:
            _commit(cursor, name, changes, book)
        for query in QUERIES:
            if query.name in _BEYOND_SPARK:
                continue
            rows = [tuple(row) for row in cursor.execute(query.text).fetchall()]
            assert Counter(rows) == Counter(query.rows(book.bids, book.asks)), (query.name, report_of(cursor))
            assert report_of(cursor).reason is not Reason.INTERNAL
            assert cursor.description is not None
            assert cursor.description[-1][1] == "bigint", query.name


def test_a_name_from_two_levels_further_out_is_unknown_to_spark(warehouse: Path, cursor: imp_driver.Cursor) -> None:
    with imp_driver.connect(warehouse=str(warehouse), sketch="off") as connection, pytest.raises(imp_driver.Error, match=r"b`\.`price"):
        connection.cursor().execute(QUERY_OF["NQ2"].text)


@pytest.fixture(scope="module")
def shadow(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    """A cursor that compares each answer, values and types, with the plain one."""
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="on") as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE typed (g INT, a INT, m DECIMAL(10, 2), w DOUBLE, d DATE) USING DELTA")
        yield cursor


def test_types_of_numbers_are_those_of_spark(shadow: imp_driver.Cursor) -> None:
    shadow.execute(f"INSERT INTO typed VALUES {_ROWS}")
    for change in (None, "UPDATE typed SET a = a + 7, m = m + 0.01 WHERE g = 1", *(("DELETE FROM typed",) if WIDE else ())):
        if change is not None:
            shadow.execute(change)
        for text in _TYPED:
            shadow.execute(text).fetchall()
            assert report_of(shadow).reason is not Reason.INTERNAL, text
