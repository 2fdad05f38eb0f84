"""Window functions over groups and over rows that are kept: shadow mode compares every answer with Spark's own rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import ServedBy

GROUPS = "SELECT g, d, count(*) AS c, sum(m) AS m, sum(x) AS x, max(s) AS s, avg(i) AS a FROM typed GROUP BY g, d"
FUNCTIONS = (
    "sum(m) OVER ()",
    "avg(c) OVER (PARTITION BY g)",
    "sum(x) OVER (PARTITION BY d)",
    "max(x) OVER (PARTITION BY g)",
    "count(s) OVER (PARTITION BY g ORDER BY d)",
    "sum(m) OVER (PARTITION BY g ORDER BY d)",
    "sum(c) OVER (ORDER BY g, d ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING)",
    "avg(c) OVER (ORDER BY g DESC, d)",
    "min(d) OVER (ORDER BY g, d ROWS UNBOUNDED PRECEDING)",
    "max(s) OVER (ORDER BY g, d ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "rank() OVER (ORDER BY x DESC)",
    "rank() OVER (PARTITION BY d ORDER BY m DESC NULLS LAST)",
    "dense_rank() OVER (ORDER BY c)",
    "percent_rank() OVER (ORDER BY c, s)",
    "cume_dist() OVER (PARTITION BY g ORDER BY c)",
    "row_number() OVER (ORDER BY g, d)",
    "ntile(4) OVER (ORDER BY d, g)",
    "ntile(100) OVER (ORDER BY d, g)",
    "lag(s) OVER (PARTITION BY g ORDER BY d)",
    "lead(m, 2, 0) OVER (ORDER BY g, d)",
    "first_value(s) OVER (PARTITION BY g ORDER BY d DESC)",
    "last_value(d) OVER (PARTITION BY g ORDER BY d ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "nth_value(s, 2) OVER (ORDER BY g, d)",
)
ALONE = (
    "SELECT g, sum(m) / sum(sum(m)) OVER () AS share FROM typed GROUP BY g",
    "SELECT g, sum(m), sum(sum(m)) OVER (ORDER BY g) AS running FROM typed GROUP BY g ORDER BY g",
    "SELECT * FROM (SELECT g, d, rank() OVER (PARTITION BY d ORDER BY sum(m) DESC) AS r FROM typed GROUP BY g, d) q WHERE r <= 2",
    "SELECT month(d) AS t, count(*) AS c, lag(count(*)) OVER (ORDER BY month(d)) AS b FROM typed GROUP BY month(d)",
)
OF_SPARK = (
    "row_number() OVER (ORDER BY c)",
    "sum(x) OVER (ORDER BY g, d)",
    "lag(s) IGNORE NULLS OVER (ORDER BY g, d)",
    "sum(c) OVER (ORDER BY c RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "first_value(s) OVER (ORDER BY c)",
)


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", policy="incremental") as connection:
        connection.execute("CREATE SCHEMA windows").close()
        connection.execute("USE windows").close()
        connection.execute("CREATE TABLE typed (i INT, g INT, d DATE, m DECIMAL(10, 2), x DOUBLE, s STRING) USING DELTA").close()
        connection.execute(
            "INSERT INTO typed SELECT id, nullif(id % 4, 3), date_add(DATE'2024-01-30', CAST(id % 5 AS INT)), id * 1.25, sqrt(id), "
            "nullif(concat('s', id % 6), 's2') FROM range(60)"
        ).close()
        yield connection.cursor()


def _served(cursor: imp_driver.Cursor, text: str) -> ServedBy:
    cursor.execute(text).fetchall()
    assert cursor.sketch_report is not None
    return cursor.sketch_report.served_by


def test_they_come_from_groups_after_changes_too(cursor: imp_driver.Cursor) -> None:
    texts = [*(f"SELECT g, d, {each} AS w FROM ({GROUPS}) q" for each in FUNCTIONS), *ALONE]
    for change in ("", "DELETE FROM typed WHERE i % 7 = 3"):
        if change:
            cursor.execute(change)
        for text in texts:
            assert _served(cursor, text) is ServedBy.STATE, (change, text, cursor.sketch_report)
            kinds = [each[1] for each in cursor.description or ()]
            assert kinds == [each[1] for each in cursor.connection.execute(text + " -- again").description or ()]


def test_views_with_windows_are_followed(cursor: imp_driver.Cursor) -> None:
    query = "SELECT i, s, row_number() OVER (PARTITION BY s ORDER BY i) AS r, sum(m) OVER (ORDER BY i) AS m FROM typed WHERE i < 12"
    cursor.execute(f"CREATE INCREMENTAL VIEW numbered POLICY INCREMENTAL AS {query}")
    for change in ("INSERT INTO typed VALUES (-2, 2, NULL, 7, 1.5, 's0')", "UPDATE typed SET m = m + 1, i = i + 20 WHERE i > 5"):
        cursor.execute(change)
        assert _served(cursor, "SELECT * FROM numbered") is ServedBy.STATE
    cursor.execute("DROP INCREMENTAL VIEW numbered")


def test_what_hangs_on_the_order_of_ties_is_left_to_spark(cursor: imp_driver.Cursor) -> None:
    for each in OF_SPARK:
        assert _served(cursor, f"SELECT g, d, {each} AS w FROM ({GROUPS}) q") is not ServedBy.STATE, each
