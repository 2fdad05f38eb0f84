"""Constants and arithmetic that Spark computes otherwise than they are written: casts that round, wrap or fail, and narrow integers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from tests.spark.reports import report_of

OVER_GROUPS = (
    "SELECT d, count(*) AS n FROM z_constants GROUP BY d HAVING d = CAST('2.46' AS DECIMAL(3,1))",
    "SELECT w, sum(d) AS v FROM z_constants GROUP BY w HAVING sum(d) BETWEEN 9.9 AND CAST('9.96' AS DECIMAL(3,1))",
    "SELECT w, sum(d) AS v FROM z_constants GROUP BY w HAVING sum(d) = CAST('6.96' AS DECIMAL)",
    "SELECT w, count(*) AS n FROM z_constants GROUP BY w HAVING NOT w <=> try_cast(300 AS TINYINT) AND w > 60",
    "SELECT ti, count(*) AS n FROM z_constants GROUP BY ti HAVING ti > -128Y AND ti < 5",
)
OVER_GROUPS_THAT_WRAP = (
    "SELECT sm, count(*) AS n FROM z_constants GROUP BY sm HAVING sm + 32760S < 0",
    "SELECT ti, count(*) AS n FROM z_constants GROUP BY ti HAVING ti * 4Y < 0 AND ti > 0",
    "SELECT w, max(ti) AS m FROM z_constants GROUP BY w HAVING max(ti) + 120Y < 0 AND max(ti) > 0",
    "SELECT sm, count(*) AS n FROM z_constants GROUP BY sm HAVING -sm < -32000",
    "SELECT w, sum(w) AS v FROM z_constants GROUP BY w HAVING sum(w) > CAST(3000000000 AS INT) AND w > 60",
    "SELECT w, count(*) AS n FROM z_constants GROUP BY w HAVING count(*) = CAST(259 AS TINYINT)",
    "SELECT w, sum(i) AS v FROM z_constants GROUP BY w HAVING (sum(i) > CAST('1_0' AS DOUBLE)) IS NULL AND w > 60",
)
OVER_CHANGED_ROWS = (
    "SELECT w, count(*) AS n FROM z_constants WHERE sm + 32767S < 0 GROUP BY w HAVING count(*) > 4",
    "SELECT w, count(*) AS n FROM z_constants WHERE d = CAST('2.46' AS DECIMAL(3,1)) GROUP BY w HAVING count(*) > 4",
    "SELECT w, max(i) AS m FROM z_constants WHERE i > CAST(4294967296 AS INT) GROUP BY w HAVING max(i) > 1000",
)


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off") as connection:
        cursor = connection.cursor()
        rows = (
            "CAST(id DIV 4 AS SMALLINT) AS sm, CAST(id DIV 4 AS TINYINT) AS ti, CAST((id DIV 4) * 0.25 AS DECIMAL(8,2)) AS d, "
            "CAST(id DIV 4 AS INT) AS w, CAST(id AS INT) AS i"
        )
        cursor.execute(f"CREATE TABLE z_constants USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(6, w) */ {rows} FROM range(256)")
        cursor.execute("INSERT INTO z_constants SELECT -32768S, -128Y, -3.00, -2147483648, 1 FROM range(3)")
        yield cursor


def test_groups(cursor: imp_driver.Cursor) -> None:
    for text in OVER_GROUPS:
        cursor.execute(text).fetchall()
        assert report_of(cursor).reason.name not in ("INTERNAL", "CAPTURE_FAILED"), text


def test_groups_and_changed_rows_where_numbers_wrap(cursor: imp_driver.Cursor) -> None:
    cursor.execute("SET spark.sql.ansi.enabled = false")
    for text in OVER_GROUPS_THAT_WRAP + OVER_CHANGED_ROWS:
        cursor.execute(text).fetchall()
        assert report_of(cursor).reason.name not in ("INTERNAL", "CAPTURE_FAILED"), text
    cursor.execute("INSERT INTO z_constants SELECT 10S, 10Y, 2.50, 10, 5000 FROM range(3)")
    for text in OVER_CHANGED_ROWS:
        cursor.execute(text).fetchall()
        assert report_of(cursor).reason.name not in ("INTERNAL", "CAPTURE_FAILED"), text
