"""The statements of docs/nested-aggregates.md as they stand: rows of plain Spark, after a commit, from where the page says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.answer.nested import followed
from imp_driver.reasons import ServedBy
from tests.seeds import of_today

PAGE = (Path(__file__).parents[2] / "docs" / "nested-aggregates.md").read_text(encoding="utf-8")
STATEMENTS = [
    statement.strip() for block in re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL) for statement in block.split(";\n") if statement.strip()
]
QUERIES = [each for each in STATEMENTS if "vwap FROM vwap" not in each and not each.startswith("CREATE")]
EXPLAINED = re.findall(r"^\| ``(subquery by .*?)`` \|", PAGE, re.MULTILINE)
VWAP = QUERIES[0]
ORDERS = (
    "SELECT CAST(id AS INT) AS id, CAST(id % 5 AS INT) AS broker, CAST({from_price} + (id * 7 % 13) / 4 AS DECIMAL(10, 2)) AS price, "
    "CAST(1 + id * 11 % 40 AS INT) AS volume, date_add(DATE'2025-03-01', CAST(id % 9 AS INT)) AS day FROM range({rows})"
)


@pytest.fixture(scope="module")
def both(warehouse: Path) -> Iterator[tuple[imp_driver.Cursor, imp_driver.Cursor]]:
    """A cursor of the driver and one of plain Spark, in a schema with the tables of the page."""
    path = str(warehouse)
    with imp_driver.connect(warehouse=path, policy="incremental") as connection, imp_driver.connect(warehouse=path, sketch="off") as plain:
        cursors = connection.cursor(), plain.cursor()
        cursors[0].execute("CREATE SCHEMA IF NOT EXISTS nested_aggregates")
        for cursor in cursors:
            cursor.execute("USE nested_aggregates")
        for table, price, rows in (("bids", 100, 90), ("asks", 101, 60)):
            cursors[0].execute(f"CREATE TABLE {table} USING DELTA AS {ORDERS.format(from_price=price, rows=rows)}")
        brokers = "SELECT CAST(id AS INT) AS id, concat('b', id) AS name, CAST(id * 100 AS INT) AS cap FROM range(5)"
        cursors[0].execute(f"CREATE TABLE brokers USING DELTA AS {brokers}")
        yield cursors


@pytest.mark.parametrize("part", of_today(range(4), 4))
def test_a_quarter_of_the_queries_each_day(both: tuple[imp_driver.Cursor, imp_driver.Cursor], part: int) -> None:
    driver, plain = both
    queries = QUERIES[part::4]
    assert len(queries) >= 4
    wanted = {text: ServedBy.SPARK if text.startswith("-- by Spark") else ServedBy.STATE for text in queries}
    for text in queries:
        driver.execute(text).fetchall()
    driver.execute(f"DELETE FROM bids WHERE id % 10 = {part}")
    rows = {text: (Counter(driver.execute(text).fetchall()), _served_by(driver)) for text in queries}
    assert rows == {text: (Counter(plain.execute(text).fetchall()), wanted[text]) for text in queries}


def _served_by(cursor: imp_driver.Cursor) -> ServedBy | None:
    return None if cursor.sketch_report is None else cursor.sketch_report.served_by


def test_a_view_and_what_would_be(both: tuple[imp_driver.Cursor, imp_driver.Cursor]) -> None:
    [view] = [each for each in STATEMENTS if each.startswith("CREATE")]
    [supposed] = [each for each in STATEMENTS if each.startswith("WHAT IF")]
    driver = both[0]
    driver.execute(view)
    try:
        [[before]] = driver.execute(VWAP).fetchall()
        assert driver.execute("SELECT vwap FROM vwap").fetchall() == [(before,)]
        # The order that would come is the whole of the final quartile.
        [[then]] = driver.execute(supposed).fetchall()
        assert before < then == 250
        assert driver.execute("SELECT vwap FROM vwap").fetchall() == [(before,)]
    finally:
        driver.execute("DROP INCREMENTAL VIEW vwap")


def test_a_table_of_other_types_is_not_followed_from_the_one_before(
    both: tuple[imp_driver.Cursor, imp_driver.Cursor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed, "LEAST_GROUPS", 0)
    driver, plain = both
    text = "SELECT sum(b.volume) AS v, count(*) AS n FROM typed b WHERE 10 < (SELECT sum(c.volume) FROM typed c WHERE c.price <= b.price)"
    for kind in ("DECIMAL(12, 2)", "DECIMAL(12, 3)", "BIGINT", "DECIMAL(20, 0)"):
        driver.execute(f"CREATE OR REPLACE TABLE typed (price INT, volume {kind})")
        driver.execute("INSERT INTO typed VALUES (1, 2), (2, 3), (3, 4), (4, 5), (5, 30)")
        for price in (9, 8, 7):
            assert driver.execute(text).fetchall() == plain.execute(text).fetchall()
            assert _served_by(driver) is ServedBy.STATE
            driver.execute(f"INSERT INTO typed VALUES ({price}, 1)")
        assert driver.execute(text).fetchall() == plain.execute(text).fetchall()


def test_explain_says_what_the_page_says(both: tuple[imp_driver.Cursor, imp_driver.Cursor]) -> None:
    told = [str(row) for text in QUERIES for row in both[0].execute(f"EXPLAIN INCREMENTAL {_plain(text)}").fetchall()]
    assert len(EXPLAINED) == 4
    assert [line for line in EXPLAINED if not any(line in row for row in told)] == []


def _plain(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))
