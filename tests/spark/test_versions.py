"""Readers of old versions on Spark: what the driver takes a version or time for is what Spark takes it for."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import imp_driver
from imp_driver.reasons import Decision, Reason
from imp_driver.values.report import SketchReport
from tests.seeds import of_today

QUERY = "SELECT g, sum(v) AS total FROM versions_t GROUP BY g HAVING sum(v) > 252000 ORDER BY g"


@pytest.fixture(scope="module")
def table(engine: imp_driver.Connection) -> list[datetime.datetime]:
    """Make a table of four versions; return a time after each of them."""
    cursor = engine.cursor()
    rows = "SELECT /*+ REPARTITION_BY_RANGE(10, g) */ CAST(id % 50 AS INT) AS g, id AS v FROM range(5000)"
    cursor.execute(f"CREATE TABLE versions_t USING DELTA AS {rows}")
    moments = [datetime.datetime.now(datetime.UTC)]
    for text in (
        "INSERT INTO versions_t VALUES (3, 1000000)",
        "DELETE FROM versions_t WHERE g = 7",
        "UPDATE versions_t SET v = v + 1 WHERE g = 9",
    ):
        # Times of commits have milliseconds.
        time.sleep(0.01)
        cursor.execute(text)
        moments.append(datetime.datetime.now(datetime.UTC))
    return moments


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off") as connection:
        yield connection.cursor()


def _rows(spark: SparkSession, text: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in spark.sql(text).collect()]


def _report(cursor: imp_driver.Cursor) -> SketchReport:
    assert cursor.sketch_report is not None
    return cursor.sketch_report


def _asked(cursor: imp_driver.Cursor, text: str = QUERY) -> list[tuple[Any, ...]]:
    return list(cursor.execute(text).fetchall())


def test_each_version_has_the_rows_that_spark_gives_it(
    cursor: imp_driver.Cursor, spark: SparkSession, table: list[datetime.datetime]
) -> None:
    assert _asked(cursor) == _rows(spark, QUERY)
    decisions = []
    for number, moment in enumerate(table):
        for clause in (f"VERSION AS OF {number}", f"TIMESTAMP AS OF '{moment:%Y-%m-%dT%H:%M:%S.%fZ}'"):
            text = QUERY.replace("versions_t", f"versions_t {clause}")
            if "TIMESTAMP" in clause and number == len(table) - 1:
                continue
            assert _asked(cursor, text) == _rows(spark, text)
            decisions.append((_report(cursor).decision, _report(cursor).reason))
    assert decisions[:-1] == [(Decision.NOT_USED, Reason.OLD_VERSION)] * 6
    assert decisions[-1] == (Decision.FRESH, Reason.FILTERED)


def test_a_time_finds_the_sketch_of_its_version(cursor: imp_driver.Cursor, spark: SparkSession, table: list[datetime.datetime]) -> None:
    _asked(cursor)
    cursor.execute("INSERT INTO versions_t VALUES (11, 500000)")
    _asked(cursor)
    text = QUERY.replace("versions_t", f"versions_t TIMESTAMP AS OF '{table[-1]:%Y-%m-%d %H:%M:%S.%f+00:00}'")
    assert _asked(cursor, text) == _rows(spark, text)
    assert (_report(cursor).decision, _report(cursor).version) == (Decision.FRESH, 3)


def test_a_time_that_spark_refuses_is_refused_in_the_same_way(cursor: imp_driver.Cursor, table: list[datetime.datetime]) -> None:
    for moment in ("1999-01-01", "2999-01-01"):
        with pytest.raises(imp_driver.Error, match="DELTA_TIMESTAMP"):
            _asked(cursor, QUERY.replace("versions_t", f"versions_t TIMESTAMP AS OF '{moment}'"))


@pytest.mark.parametrize(("zone", "hours"), of_today([("Asia/Tokyo", 9), ("America/Los_Angeles", -8)]))
def test_a_time_means_the_same_version_with_a_sketch_and_without(cursor: imp_driver.Cursor, warehouse: Path, zone: str, hours: int) -> None:
    """Delta shifts a time by the offset of the session's zone, once where the literal has a zone of its own and twice where it has none."""
    table = f"versions_in_{zone.partition('/')[2].lower()}"
    query = "SELECT g, sum(v) AS total FROM {} GROUP BY g HAVING sum(v) > 4500 ORDER BY g"
    with imp_driver.connect(warehouse=str(warehouse), sketch="off") as connection:
        plain = connection.cursor()
        for each in (cursor, plain):
            each.execute(f"SET TIME ZONE '{zone}'")
        plain.execute(f"CREATE TABLE {table} AS SELECT /*+ REPARTITION_BY_RANGE(5, g) */ id DIV 10 AS g, id AS v FROM range(500)")
        _asked(cursor, query.format(table))
        for row in ("(3, 9000)", "(4, 9000)"):
            plain.execute(f"INSERT INTO {table} VALUES {row}")
            _asked(cursor, query.format(table))
        moments = {number: moment for number, moment, *_ in plain.execute(f"DESCRIBE HISTORY {table}").fetchall()}
        read = set()
        for shift in (0, hours, 2 * hours):
            for own_zone in ("", "Z"):
                moment = moments[1].astimezone(datetime.UTC).replace(tzinfo=None) + datetime.timedelta(hours=shift)
                text = query.format(f"{table} TIMESTAMP AS OF '{moment}{own_zone}'")
                try:
                    expected = plain.execute(text).fetchall()
                except imp_driver.Error as error:
                    with pytest.raises(type(error), match="DELTA_TIMESTAMP"):
                        _asked(cursor, text)
                    continue
                assert _asked(cursor, text) == expected
                read.add((shift, own_zone, _report(cursor).decision, _report(cursor).version))
    assert read == {(2 * hours, "", Decision.FRESH, 1), (hours, "Z", Decision.FRESH, 1)}


def test_a_transaction_reads_one_version_whatever_others_write(
    cursor: imp_driver.Cursor, engine: imp_driver.Connection, table: list[datetime.datetime]
) -> None:
    joined = "SELECT count(*) FROM versions_t JOIN versions_t AS u ON versions_t.g = u.g AND u.v = 1000000 WHERE versions_t.v < 60"
    cursor.execute("BEGIN")
    before, total = _asked(cursor), _asked(cursor, joined)
    engine.cursor().execute("DELETE FROM versions_t WHERE g = 3")
    assert (_asked(cursor), _asked(cursor, joined)) == (before, total)
    cursor.execute("INSERT INTO versions_t VALUES (60, 2000000)")
    assert (60, 2000000) in _asked(cursor)
    cursor.execute("COMMIT")
    after = _asked(cursor)
    assert 3 not in [g for g, _ in after]
    assert (60, 2000000) in after


def test_the_option_reads_the_past(warehouse: Path, spark: SparkSession, table: list[datetime.datetime]) -> None:
    past = QUERY.replace("versions_t", "versions_t VERSION AS OF 1")
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off", snapshot=table[1]) as connection:
        cursor = connection.cursor()
        assert _asked(cursor) == _rows(spark, past)
        assert _asked(cursor, "SELECT count(*) FROM versions_t") == [(5001,)]
        with pytest.raises(imp_driver.NotSupportedError, match="cannot write"):
            cursor.execute("DELETE FROM versions_t")


def test_own_updates_are_seen_at_once(cursor: imp_driver.Cursor, table: list[datetime.datetime]) -> None:
    _asked(cursor)
    for number in range(3):
        cursor.execute("INSERT INTO versions_t VALUES (?, 7000000)", (100 + number,))
        assert (100 + number, 7000000) in _asked(cursor)
        assert _report(cursor).decision is Decision.MAINTAINED
