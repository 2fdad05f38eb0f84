"""Hostile strings in real Spark: as values, constants, names and data; what Spark refuses is refused although a sketch is there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import imp_driver
from imp_driver.parse.literals import bind_text
from imp_driver.reasons import Decision, Reason
from imp_driver.spark import local
from imp_driver.values.options import Options
from imp_driver.values.quoting import has_variable, quoted_name, quoted_text
from tests.hostile import CHOSEN, spark_text, strings

TEXTS = tuple(strings(len(CHOSEN) + 200))
NAMES = [text for text in TEXTS if text and not has_variable(text)]
"""More than 400 and 350, many to a statement."""


def chunks(values: Sequence[str], size: int = 80) -> Iterator[list[str]]:
    remaining = iter(values)
    while part := list(islice(remaining, size)):
        yield part


@pytest.fixture
def plain(engine: imp_driver.Connection) -> Iterator[imp_driver.Cursor]:
    with engine.cursor() as cursor:
        yield cursor


def row(cursor: imp_driver.Cursor, text: str, parameters: object = None) -> list[object]:
    [found] = cursor.execute(text, parameters).fetchall()
    return list(found)


def test_values_arrive_as_they_are(plain: imp_driver.Cursor) -> None:
    for part in chunks(TEXTS):
        markers = ", ".join("?" * len(part))
        assert row(plain, f"SELECT {markers}", part) == part
        assert row(plain, bind_text(f"SELECT {markers}", part)) == part
        assert row(plain, f"SELECT {', '.join(map(quoted_text, part))}") == part
        written = " AND ".join(f"? <=> {quoted_text(text)}" for text in part)
        assert row(plain, f"SELECT {written}", part) == [True]


def test_names_are_read_as_they_are(plain: imp_driver.Cursor) -> None:
    for part in chunks(NAMES):
        plain.execute(f"SELECT {', '.join(f'{place} AS {quoted_name(name)}' for place, name in enumerate(part))}")
        assert [each[0] for each in plain.description or ()] == part
    for name in CHOSEN:
        if name and not has_variable(name) and len(name) < 200:
            inner = f"(SELECT 7 AS {quoted_name(name)}) AS {quoted_name(name)}"
            assert row(plain, f"SELECT {quoted_name(name)}.{quoted_name(name)} FROM {inner}") == [7]


def test_the_tests_own_reading_of_quotes_is_that_of_spark(plain: imp_driver.Cursor) -> None:
    found = [f"'{text}'" for text in TEXTS if spark_text(f"'{text}'") is not None]
    assert len(found) > 150
    for part in chunks(found):
        assert row(plain, f"SELECT {', '.join(part)}") == [spark_text(text) for text in part]


def test_spark_replaces_variables_in_text_and_not_in_values(cursor: imp_driver.Cursor) -> None:
    assert row(cursor, "SELECT '${spark.app.name}', 1") == ["imp_driver", 1]
    assert row(cursor, "SELECT ?, '\\u0024{spark.app.name}'", ["${spark.app.name}"]) == ["${spark.app.name}"] * 2


@pytest.fixture
def table(cursor: imp_driver.Cursor) -> Iterator[str]:
    """A table whose text keys are hostile, clustered by them."""
    keys = [text for text in TEXTS if text.strip() and len(text) < 200]
    cursor.execute("CREATE TABLE hostile (g STRING, x INT) USING DELTA")
    cursor.executemany("INSERT INTO hostile VALUES (?, ?)", [(key, place % 7) for place, key in enumerate(keys * 15)])
    cursor.execute("CLUSTER SKETCH TABLE hostile BY g FILES 16")
    yield "hostile"
    cursor.execute("DROP TABLE hostile")


def test_sketches_over_hostile_keys(cursor: imp_driver.Cursor, table: str) -> None:
    """The cursor compares every answer with the plain one."""
    query = f"SELECT g, sum(x) FROM {table} GROUP BY g HAVING sum(x) > ?"
    decisions = set()
    for low in (47, 46, 48):
        cursor.execute(query, [low]).fetchall()
        assert cursor.sketch_report is not None
        decisions.add(cursor.sketch_report.decision)
    assert Decision.CAPTURED in decisions
    for key in ("${spark.app.name}", "\x0001", "' OR 1=1 -- "):
        of_one = f"SELECT g, sum(x) FROM {table} WHERE g >= ? AND g <= ? GROUP BY g HAVING sum(x) > 1"
        cursor.execute(of_one, [key, key])
        assert {each[0] for each in cursor.fetchall()} <= {key}
        cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(key, 5)])
        assert [each[0] for each in cursor.execute(of_one, [key, key]).fetchall()] == [key]


def test_ranges_say_variables_with_an_escape(cursor: imp_driver.Cursor) -> None:
    cursor.execute("CREATE TABLE variables (g STRING, x INT) USING DELTA")
    rows = [("${spark.app.name}" + f"{number:04d}", number % 5) for number in range(1_000)]
    cursor.executemany("INSERT INTO variables VALUES (?, ?)", rows)
    cursor.execute("CLUSTER SKETCH TABLE variables BY g FILES 16")
    query = "SELECT g, sum(x) AS s FROM variables GROUP BY g ORDER BY g DESC LIMIT 3"
    for _ in range(2):
        assert [each[0] for each in cursor.execute(query).fetchall()] == [rows[-1][0], rows[-2][0], rows[-3][0]]
    report = cursor.sketch_report
    assert report is not None
    assert (report.decision, report.reason) == (Decision.FRESH, Reason.FILTERED)
    assert "\\u0024{spark.app.name}" in report.executed_sql
    cursor.execute("SELECT g, sum(x) FROM variables WHERE g > '${spark.app.name}' GROUP BY g HAVING sum(x) > 3").fetchall()
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.reason is Reason.UNSUPPORTED_EXPRESSION
    cursor.execute("DROP TABLE variables")


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """Keep the process from reading a folder: by its rights, or by its name where the user may read everything."""
    away = folder.with_name("away")
    rights = folder.stat().st_mode
    folder.chmod(0)
    may_read_everything = os.access(folder, os.R_OK)
    if may_read_everything:
        folder.rename(away)
    try:
        yield
    finally:
        if may_read_everything:
            away.rename(folder)
        folder.chmod(rights)


def test_what_spark_cannot_read_is_refused_and_hidden_although_a_sketch_is_there(cursor: imp_driver.Cursor, warehouse: Path) -> None:
    name = "spark_catalog.default.closed"
    cursor.execute("CREATE TABLE closed (g INT, x INT) USING DELTA")
    cursor.executemany("INSERT INTO closed VALUES (?, ?)", [(number // 10, number % 7) for number in range(2_000)])
    cursor.execute("CLUSTER SKETCH TABLE closed BY g FILES 16")
    query = "SELECT g, sum(x) FROM closed GROUP BY g HAVING sum(x) > 35"
    assert cursor.execute(query).fetchall()
    assert name in [each[2] for each in cursor.execute("SHOW SKETCHES").fetchall()]
    assert cursor.execute(f"EXPLAIN SKETCH {query}").fetchall()[0][0].startswith("Template")
    with closed(warehouse / "closed"):
        with pytest.raises(imp_driver.Error):
            cursor.execute(query).fetchall()
        assert name not in [each[2] for each in cursor.execute("SHOW SKETCHES").fetchall()]
        lines = [each[0] for each in cursor.execute(f"EXPLAIN SKETCH {query}").fetchall()]
        assert any("NOT_PERMITTED" in line for line in lines)
        assert not any("version" in line for line in lines)
    assert cursor.execute(query).fetchall()
    cursor.execute("DROP TABLE closed")


def test_a_session_says_what_may_be_read(spark: SparkSession, plain: imp_driver.Cursor, warehouse: Path) -> None:
    session = local.open_session(Options(warehouse=str(warehouse)))
    plain.execute("CREATE OR REPLACE TABLE readable USING DELTA AS SELECT 1 AS a")
    plain.execute("CREATE OR REPLACE VIEW over_it AS SELECT a FROM readable")
    assert session.may_read(("readable",))
    assert session.may_read(("spark_catalog", "default", "over_it"))
    plain.execute("DROP TABLE readable")
    assert not session.may_read(("readable",))
    assert not session.may_read(("over_it",))
    for name in CHOSEN:
        assert not session.may_read((name or "${x}",))
    plain.execute("DROP VIEW over_it")
    session.close()
