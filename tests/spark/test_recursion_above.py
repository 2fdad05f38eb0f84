"""What Spark alone computes above a recursion, on Spark: handed over with the rows of the recursion, or refused with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.reasons import ServedBy
from tests.spark.reports import report_of

REACH = "WITH RECURSIVE reach(x, y) AS (SELECT a, b FROM above_link UNION SELECT r.x, l.b FROM reach r JOIN above_link l ON r.y = l.a) "


@pytest.fixture(scope="module")
def connection(warehouse: Path) -> Iterator[imp_driver.Connection]:
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        values = ", ".join(f"({each}, {(each * 5 + 1) % 12})" for each in range(12))
        connection.execute(f"CREATE OR REPLACE TABLE above_link AS SELECT * FROM VALUES {values} AS t(a, b)").close()
        connection.execute(f"CREATE OR REPLACE INCREMENTAL VIEW above_view AS {REACH} SELECT x, y FROM reach").close()
        yield connection
        connection.execute("DROP VIEW above_view").close()


def ask(connection: imp_driver.Connection, text: str, values: Any = None) -> tuple[list[Any], ServedBy]:
    with connection.execute(text, values) as cursor:
        return sorted(map(tuple, cursor.fetchall())), report_of(cursor).served_by


@pytest.mark.parametrize("source", [f"{REACH}SELECT {{}} FROM reach", "SELECT {} FROM above_view", "SELECT {} FROM default.above_view v"])
def test_rows_are_those_of_the_recursion(connection: imp_driver.Connection, source: str) -> None:
    known, served_by = ask(connection, source.format("x, y"))
    assert served_by is ServedBy.STATE
    found, served_by = ask(connection, source.format("hex(x), y") + " WHERE x < ? AND soundex(CAST(y AS STRING)) IS NOT NULL", [7])
    assert (found, served_by) == (sorted((f"{x:X}", y) for x, y in known if x < 7), ServedBy.STATE_AND_SPARK)


def test_a_view_that_nobody_could_read_is_not_made(connection: imp_driver.Connection) -> None:
    with pytest.raises(imp_driver.NotSupportedError, match=r"`above_hex` is not made: UNKNOWN_FUNCTION: hex.*CREATE MATERIALIZED VIEW"):
        connection.execute("CREATE INCREMENTAL VIEW above_hex AS SELECT hex(x) AS h FROM above_view")
    with pytest.raises(imp_driver.NotSupportedError, match="UNKNOWN_FUNCTION: hex"):
        connection.execute("EXPLAIN WHY SELECT hex(x) AS h FROM above_view")


def test_names_in_hints_stay_in_transactions(connection: imp_driver.Connection) -> None:
    text = (
        "SELECT 'abcdefghijklmnopqrstuvwxyz0123456789' AS t, hex(s) FROM (SELECT /*+ BROADCAST(above_link) */ above_link.a AS s "
        "FROM above_link JOIN above_link AS other ON above_link.a = other.b)"
    )
    expected = ask(connection, text)[0]
    connection.execute("BEGIN").close()
    try:
        assert ask(connection, text)[0] == expected
    finally:
        connection.execute("ROLLBACK").close()
