"""Queries that ask for the day, in zones in which it is never the same one; shadow mode compares their rows with Spark's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import ServedBy
from tests.spark.reports import report_of

ZONES = ("Pacific/Kiritimati", "-11:00")
QUERIES = (
    "SELECT k, count(*) AS c FROM days WHERE d >= current_date() GROUP BY k",
    "SELECT d, d = current_date AS is_today, datediff(curdate(), d) AS age, count(*) AS c FROM days GROUP BY d",
    "SELECT count(*) AS c, current_date() FROM days WHERE d BETWEEN date_sub(current_date(), 3) AND current_date() - INTERVAL 1 DAY",
)


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", policy="incremental") as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE SCHEMA todays")
        cursor.execute("USE todays")
        cursor.execute("CREATE TABLE days (k INT, d DATE) USING DELTA")
        cursor.execute("INSERT INTO days SELECT CAST(id % 3 AS INT), date_sub(current_date(), CAST(id - 6 AS INT)) FROM range(12)")
        yield cursor


def test_the_day_is_that_of_the_session_s_zone(cursor: imp_driver.Cursor) -> None:
    rows = []
    for zone in ZONES:
        cursor.execute(f"SET TIME ZONE '{zone}'")
        for text in QUERIES:
            cursor.execute(text)
            rows.append(cursor.fetchall())
            again = cursor.execute(text).fetchall()
            assert sorted(map(repr, again)) == sorted(map(repr, rows[-1]))
            assert report_of(cursor).served_by is ServedBy.STATE, (zone, text, report_of(cursor).not_answered)
    # 25 hours apart: a clock without a zone would not do.
    assert sorted(map(repr, rows[0])) != sorted(map(repr, rows[len(QUERIES)]))


def test_names_are_those_of_spark(cursor: imp_driver.Cursor) -> None:
    cursor.execute(QUERIES[-1])
    assert cursor.description is not None
    assert [each[0] for each in cursor.description] == ["c", "current_date()"]
