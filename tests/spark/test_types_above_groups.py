"""What only Spark knows of types and settings, above groups and in constants: shadow mode compares every answer with Spark's own rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Reason
from tests.seeds import of_today

TABLES = (
    "CREATE TABLE padded (a CHAR(5), n INT) USING DELTA",
    "INSERT INTO padded VALUES ('a', 1), ('b', 2)",
    "CREATE TABLE shorter (z CHAR(3), s STRING) USING DELTA",
    "INSERT INTO shorter VALUES ('a', 'a')",
    "CREATE TABLE local_times (k INT, tn TIMESTAMP_NTZ) USING DELTA",
    "INSERT INTO local_times VALUES (1, TIMESTAMP_NTZ'2024-03-31 02:30:00'), (2, TIMESTAMP_NTZ'2024-03-31 12:00:00')",
    "CREATE TABLE words (s STRING) USING DELTA",
    "INSERT INTO words VALUES ('today')",
    "CREATE TABLE days (k INT, d DATE) USING DELTA",
    "INSERT INTO days VALUES (1, DATE'2024-01-01'), (2, DATE'2999-01-01')",
    "CREATE TABLE r1 (a INT) USING DELTA",
    "INSERT INTO r1 VALUES (1), (2)",
    "CREATE TABLE r2 (b INT, s STRING) USING DELTA",
    "INSERT INTO r2 VALUES (1, 'a'), (2, 'b')",
    "CREATE TABLE r3 (c INT) USING DELTA",
    "INSERT INTO r3 VALUES (2), (3)",
)
PADDED = (
    "SELECT a, count(*) AS c FROM padded GROUP BY a HAVING a = 'a'",
    "SELECT a, CASE WHEN a = 'b' THEN 1 ELSE 0 END AS z FROM padded GROUP BY a",
    "SELECT x.a, y.z FROM (SELECT a, count(*) AS c FROM padded GROUP BY a) x "
    "JOIN (SELECT z, count(*) AS c FROM shorter GROUP BY z) y ON x.a = y.z",
    "SELECT a, row_number() OVER (ORDER BY a) AS r FROM padded GROUP BY a HAVING a = 'a'",
    "SELECT * FROM (SELECT DISTINCT a FROM padded) q WHERE a IN ('a', 'x')",
    "SELECT a, n, count(*) AS c FROM padded GROUP BY ROLLUP (a, n) HAVING a = 'a'",
    "SELECT n, count(*) AS c FROM padded WHERE a = (SELECT min(s) FROM shorter) GROUP BY n",
    "SELECT n, count(*) AS c FROM padded WHERE a > (SELECT min(s) FROM shorter) GROUP BY n",
    "SELECT n, count(*) AS c FROM padded WHERE a = 'a' GROUP BY n",
)
LOCAL = (
    "SELECT tn, k, count(*) AS c FROM local_times GROUP BY tn, k",
    "SELECT tn, hour(date_trunc('hour', tn)) AS h FROM local_times GROUP BY tn",
    "SELECT k, count(*) AS c FROM local_times WHERE hour(date_trunc('hour', tn)) = 3 GROUP BY k",
    "SELECT date_trunc('day', max(tn)) AS m, count(*) AS c FROM local_times",
    "SELECT k, count(*) AS c FROM local_times WHERE date_trunc('hour', tn) > TIMESTAMP_NTZ'2024-03-31 02:00:00' GROUP BY k",
    "SELECT date_trunc('hour', tn) AS h, count(*) AS c FROM local_times WHERE tn > date_add(DATE'2024-03-29', 2) GROUP BY 1",
    "SELECT k, count(*) AS c FROM local_times WHERE tn >= date_add(DATE'2024-03-29', 1) AND tn < date_add(DATE'2024-03-29', 3) GROUP BY k",
)
PAIRED = (
    "SELECT count(*) AS c, sum(r2.b) AS t FROM r1, r2",
    "SELECT count(*) AS c FROM r1 LEFT SEMI JOIN r2 ON r2.b > 1",
    "SELECT 1 AS o FROM r2 HAVING true",
)


@pytest.fixture(scope="module")
def connection(warehouse: Path) -> Iterator[imp_driver.Connection]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", policy="incremental") as connection:
        connection.execute("CREATE SCHEMA types_above")
        connection.execute("USE types_above")
        for text in TABLES:
            connection.execute(text)
        yield connection


def _asked(connection: imp_driver.Connection, texts: tuple[str, ...]) -> list[imp_driver.SketchReport]:
    reports = []
    with connection.cursor() as cursor:
        for text in texts:
            cursor.execute(text).fetchall()
            assert cursor.sketch_report is not None
            reports.append(cursor.sketch_report)
    return reports


def test_char_is_compared_by_spark(connection: imp_driver.Connection) -> None:
    _asked(connection, PADDED)
    connection.execute("INSERT INTO padded VALUES ('a', 3), (NULL, 4)")
    _asked(connection, PADDED)


@pytest.mark.parametrize("zone", of_today(["Europe/Berlin", "UTC"]))
def test_times_without_zone_become_instants_in_date_trunc(connection: imp_driver.Connection, zone: str) -> None:
    connection.execute(f"SET TIME ZONE '{zone}'")
    for _ in range(2):
        assert Reason.INTERNAL not in [each.reason for each in _asked(connection, LOCAL)]
        connection.execute("INSERT INTO local_times VALUES (3, TIMESTAMP_NTZ'2024-03-31 00:00:00')")
    connection.execute("SET TIME ZONE 'UTC'")


@pytest.mark.parametrize("ansi", of_today(["false", "true"]))
def test_a_text_that_is_computed_is_no_literal(connection: imp_driver.Connection, ansi: str) -> None:
    connection.execute(f"SET spark.sql.ansi.enabled = {ansi}")
    text = "SELECT k, count(*) AS c FROM days WHERE d < (SELECT max(s) FROM words) GROUP BY k"
    for _ in range(2):
        if ansi == "true":
            with pytest.raises(imp_driver.DataError, match="CAST_INVALID_INPUT"):
                _asked(connection, (text,))
        else:
            assert connection.execute(text).fetchall() == []
    connection.execute("SET spark.sql.ansi.enabled = true")


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("spark.sql.ansi.relationPrecedence", "SELECT a, b, c, count(*) AS n FROM r1, r2 RIGHT JOIN r3 ON b = c GROUP BY a, b, c"),
        (
            "spark.sql.legacy.groupingIdWithAppendedUserGroupBy",
            "SELECT b, s, grouping_id() AS g, count(*) AS n FROM r2 GROUP BY b, s GROUPING SETS ((s), (b))",
        ),
    ],
)
def test_settings_that_give_texts_another_meaning_are_seen(connection: imp_driver.Connection, setting: str, text: str) -> None:
    connection.execute(f"SET {setting} = true")
    assert [each.reason for each in _asked(connection, (text,))] == [Reason.UNSUPPORTED_SETTING]
    connection.execute(f"SET {setting} = false")
    _asked(connection, (text,))


def test_rows_of_which_nothing_is_read_count(connection: imp_driver.Connection) -> None:
    for number in range(3):
        assert Reason.INTERNAL not in [each.reason for each in _asked(connection, PAIRED)]
        connection.execute(f"INSERT INTO r1 VALUES ({10 + number})")
