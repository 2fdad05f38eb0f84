"""The first rows of orders by keys of each type: kept up to a threshold that Spark finds, compared with Spark's own rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.answer import tops
from imp_driver.reasons import ServedBy
from imp_driver.state import thresholds

PATIENCE = 120.0
"""Seconds for a capture in the background, on a busy machine."""
KEYS = ("n DESC", "small", "m DESC", "d DESC NULLS FIRST", "t NULLS LAST", "moment DESC", "there", "n % 100 DESC")
BY_SPARK = "n % 100 DESC"
ROW = (
    "CAST({0} AS BIGINT) AS n, CAST({0} % 7 - 3 AS SMALLINT) AS small, CAST({0} * 1.37 AS DECIMAL(30, 2)) AS m, "
    "date_add(DATE'2024-02-20', CAST({0} % 50 AS INT)) AS d, CASE WHEN {0} % 6 > 0 THEN concat('käse ', {0} % 40) END AS t, "
    "timestamp_seconds(1711846800 + {0} * 600) AS moment, TIMESTAMP_NTZ'2024-03-31 00:00:00' + make_dt_interval(0, 0, {0} * 7) AS there"
)


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", policy="incremental") as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE TABLE firsts USING DELTA AS SELECT {ROW.format('id')} FROM range(200)")
        yield cursor


@pytest.fixture(autouse=True)
def many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tops, "FEW_GROUPS", 20)
    monkeypatch.setattr(thresholds, "_LEAST_ROWS", 12)


@pytest.mark.parametrize(("zone", "new"), [("UTC", 500), ("Europe/Berlin", 600)])
def test_first_rows_come_from_few_that_are_kept(cursor: imp_driver.Cursor, zone: str, new: int) -> None:
    """Shadow mode compares the rows of every answer with Spark's."""
    cursor.execute(f"SET spark.sql.session.timeZone = {zone}")
    texts = {key: f"SELECT n, t, m, d, moment, there FROM firsts ORDER BY {key}, n LIMIT 3" for key in KEYS}
    missing = set(KEYS) - {BY_SPARK}
    end = time.monotonic() + PATIENCE
    while missing and time.monotonic() < end:
        missing = {key for key in missing if _served_by(cursor, texts[key]) is not ServedBy.STATE}
    assert missing == set()
    cursor.execute(f"INSERT INTO firsts SELECT {ROW.format('id')} FROM VALUES (-{new}L), ({new}L), ({new + 1}L) AS v(id)")
    cursor.execute(f"DELETE FROM firsts WHERE n = {new // 3} OR d = DATE'2024-04-09'")
    assert {key for key in KEYS if _served_by(cursor, texts[key]) is not ServedBy.STATE} == {BY_SPARK}


def _served_by(cursor: imp_driver.Cursor, text: str) -> ServedBy:
    cursor.execute(text).fetchall()
    assert cursor.sketch_report is not None
    return cursor.sketch_report.served_by
