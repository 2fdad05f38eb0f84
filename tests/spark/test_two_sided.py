"""Groups over operators where both sides decide which rows there are follow changes in process, while Spark's own rows are compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Decision, ServedBy
from tests.spark.reports import report_of

TABLES = (
    "CREATE TABLE two_orders USING DELTA AS SELECT id, CAST(id % 7 AS INT) AS shop, CAST(id * 1.37 AS DECIMAL(10, 2)) AS price, "
    "date_add(DATE '2024-01-01', CAST(id % 5 AS INT)) AS day, IF(id % 9 = 0, NULL, concat('town', id % 3)) AS town FROM range(60)",
    "CREATE TABLE two_returns USING DELTA AS SELECT id + 20 AS id, CAST(id % 9 AS INT) AS shop, "
    "CAST(id * 1.37 AS DECIMAL(10, 2)) AS price, date_add(DATE '2024-01-02', CAST(id % 4 AS INT)) AS day, "
    "concat('town', id % 4) AS town FROM range(30)",
)
CHANGES = (
    "INSERT INTO two_orders VALUES (100, NULL, 5.00, DATE '2024-01-03', 'town3'), (101, 8, NULL, NULL, NULL), (102, 2, 0, NULL, 'town1')",
    "DELETE FROM two_returns WHERE shop IN (2, 8)",
    "INSERT INTO two_returns VALUES (101, 8, 9.99, NULL, NULL), (102, 2, 0, NULL, 'town1'), (102, 2, 0, NULL, 'town1')",
    "UPDATE two_returns SET town = 'town9', shop = shop + 1 WHERE town IS NULL OR id % 3 = 0",
)
QUERIES = (
    "SELECT coalesce(o.shop, r.shop) AS shop, count(o.id) AS n, sum(r.price) AS p FROM two_orders o FULL OUTER JOIN two_returns r "
    "ON o.shop = r.shop AND o.price > r.price GROUP BY coalesce(o.shop, r.shop)",
    "SELECT r.town, count(*) AS n FROM two_orders o FULL JOIN two_returns r ON o.id = r.id WHERE o.id IS NULL OR r.day > DATE '2024-01-02' "
    "GROUP BY r.town",
    "SELECT shop, count(*) AS n FROM (SELECT shop, town FROM two_orders EXCEPT ALL SELECT shop, town FROM two_returns) GROUP BY shop",
    "SELECT town, max(day) AS last FROM (SELECT town, day FROM two_orders INTERSECT SELECT town, day FROM two_returns) GROUP BY town",
    "SELECT shop, sum(price) AS p FROM two_orders WHERE town NOT IN (SELECT town FROM two_returns WHERE price > 5) GROUP BY shop",
    "SELECT o.shop, count(*) AS n FROM two_orders o LEFT JOIN two_returns r ON r.price > o.price AND r.day <= o.day GROUP BY o.shop",
    "SELECT shop, count(*) AS n FROM two_orders WHERE EXISTS (SELECT 1 FROM two_returns WHERE shop = 8) GROUP BY shop",
)


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", policy="incremental") as connection:
        cursor = connection.cursor()
        for table in TABLES:
            cursor.execute(table)
        yield cursor


def test_changes_on_both_sides_are_followed(cursor: imp_driver.Cursor) -> None:
    decisions: dict[str, list[tuple[ServedBy, Decision]]] = {query: [] for query in QUERIES}
    for change in ("SELECT 1", *CHANGES):
        cursor.execute(change)
        for query in QUERIES:
            cursor.execute(query).fetchall()
            decisions[query].append((report_of(cursor).served_by, report_of(cursor).decision))
    followed = {(ServedBy.STATE, Decision.MAINTAINED), (ServedBy.STATE, Decision.FRESH)}
    for first, *later in decisions.values():
        assert first[1] is Decision.CAPTURED
        assert set(later) <= followed, decisions
        assert (ServedBy.STATE, Decision.MAINTAINED) in later
