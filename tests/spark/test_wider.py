"""Groups over a star of tables answer queries that read fewer of them, while Spark's own rows are compared."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.answer.wider import WIDER
from imp_driver.reasons import Decision, ServedBy

PATIENCE = 120.0
"""Seconds until it was seen whether columns are unique, on a busy machine."""
STAR = (
    "star_sales f JOIN star_shops s ON f.shop = s.id JOIN star_towns t ON s.town = t.name "
    "LEFT JOIN star_items i ON i.code = f.item AND i.lot = f.lot"
)
TABLES = (
    "CREATE TABLE star_sales USING DELTA AS SELECT id, CAST(id % 4 AS INT) AS shop, CAST(id % 3 AS SMALLINT) AS item, "
    "CAST(id % 2 AS INT) AS lot, CAST(id * 1.37 AS DECIMAL(10, 2)) AS price, id / 7 AS f FROM range(120)",
    "CREATE TABLE star_shops USING DELTA AS SELECT id, concat('town', CAST(id % 2 AS STRING)) AS town FROM range(5)",
    "CREATE TABLE star_towns USING DELTA AS SELECT * FROM VALUES "
    "('town0', 'north'), ('town1', 'south'), (NULL, NULL), (NULL, 'x') AS v(name, region)",
    "CREATE TABLE star_items USING DELTA AS SELECT a.id AS code, b.id AS lot FROM range(2) a CROSS JOIN range(3) b",
)
WIDE = f"SELECT f.shop, f.item, t.region, sum(f.price) AS p, count(*) AS n, sum(f.f) AS x FROM {STAR} GROUP BY f.shop, f.item, t.region"
NARROW = (
    "SELECT shop, sum(price) AS p, count(*) AS n, sum(f) AS x FROM star_sales GROUP BY shop",
    "SELECT sum(price) AS p, max(item) AS last FROM star_sales WHERE shop IN (1, 2) OR item = 0",
    "SELECT item, count(DISTINCT shop) AS k FROM star_sales GROUP BY item ORDER BY item",
    "SELECT t.region, sum(f.price) AS p FROM star_sales f JOIN star_shops s ON s.id = f.shop "
    "JOIN star_towns t ON t.name = s.town GROUP BY t.region",
    "SELECT f.shop, avg(f.price) AS p FROM star_sales f LEFT JOIN star_shops s ON f.shop = s.id GROUP BY f.shop",
)


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", policy="incremental") as connection:
        cursor = connection.cursor()
        for table in TABLES:
            cursor.execute(table)
        yield cursor


def _asked(cursor: imp_driver.Cursor, text: str) -> imp_driver.SketchReport:
    cursor.execute(text).fetchall()
    assert cursor.sketch_report is not None
    return cursor.sketch_report


def _is_wide(report: imp_driver.SketchReport) -> bool:
    return report.served_by is ServedBy.STATE and report.detail.startswith(WIDER)


def _until_wide(cursor: imp_driver.Cursor, text: str) -> None:
    """Ask until what is looked at in the background is known; states of the query's own would be taken before others."""
    end = time.monotonic() + PATIENCE
    while not _is_wide(report := _asked(cursor, text)):
        assert time.monotonic() < end
        cursor.execute(f"DROP STATE {report.sketch_id}")


def test_queries_of_fewer_tables_follow_through_changes(cursor: imp_driver.Cursor) -> None:
    assert _asked(cursor, WIDE).decision is Decision.CAPTURED
    for change in (
        "SELECT 1",
        "INSERT INTO star_sales VALUES (200, 3, 9, 1, 7.77, 0.1), (201, 0, NULL, NULL, NULL, NULL)",
        "UPDATE star_shops SET town = 'town1' WHERE id = 2",
    ):
        cursor.execute(change)
        for text in NARROW:
            _until_wide(cursor, text)


def test_a_row_without_a_partner_and_one_with_two(cursor: imp_driver.Cursor) -> None:
    text = "SELECT item, sum(price) AS p FROM star_sales GROUP BY item"
    _until_wide(cursor, text)
    cursor.execute("INSERT INTO star_sales VALUES (300, 77, 0, 0, 1, 1)")
    assert not _is_wide(_asked(cursor, text))
    # As many rows as before, but one shop has two.
    cursor.execute("INSERT INTO star_shops VALUES (0, 'town0')")
    cursor.execute("DELETE FROM star_sales WHERE shop = 0 AND id > 0")
    for shape in ("SELECT shop, sum(price) AS p FROM star_sales GROUP BY shop", "SELECT sum(price) AS p FROM star_sales"):
        assert not _is_wide(_asked(cursor, shape))
