"""Every maintained aggregate asked through the driver in shadow mode, answered from groups, before and after changes of the table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from imp_driver.reasons import Reason, ServedBy

_numbers = itertools.count()

TYPES = {
    "g": "INT",
    "n": "BIGINT",
    "i": "INT",
    "y": "TINYINT",
    "m": "DECIMAL(10, 2)",
    "w": "DECIMAL(30, 3)",
    "f": "DOUBLE",
    "r": "FLOAT",
    "b": "BOOLEAN",
    "t": "STRING",
}
ROWS = """
    (1, 10L, 3, 6Y, 1.25BD, 1.5BD, 0.5D, 0.1F, true, 'a'), (1, 10L, 5, 3Y, 1.25BD, 2.5BD, 0.5D, 0.3F, true, 'b'),
    (1, -4L, 5, -1Y, 7.00BD, NULL, 2.25D, 0.1F, NULL, NULL), (1, NULL, NULL, NULL, NULL, 1.5BD, NULL, NULL, NULL, 'a'),
    (2, 7L, 1, 127Y, 0.10BD, 3.125BD, 1.0D, 2.5F, false, 'a'), (2, 9L, 2, 1Y, 0.10BD, 3.125BD, -0.0D, 2.5F, true, 'a'),
    (2, 9L, 2, 1Y, 0.35BD, 9.999BD, 0.0D, -1.0F, true, 'c'),
    (2, 11L, 4, -128Y, 100.05BD, 12345678901234567890.125BD, 0.125D, 0.7F, true, 'd'),
    (3, 1007L, 2147483647, 5Y, 99999999.99BD, 0.001BD, 0.1D, 1.1F, false, 'x'),
    (3, 1009L, -2147483648, 6Y, -99999999.99BD, 0.002BD, 0.5D, 1.1F, NULL, 'y'),
    (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 42L, 42, 42Y, 42BD, 42BD, 42D, 42F, true, 'only')
"""
GROUPS = (
    "sum(DISTINCT n), avg(DISTINCT n), sum(DISTINCT i), sum(DISTINCT y), count(DISTINCT n), sum(DISTINCT m), avg(DISTINCT m)",
    "sum(DISTINCT f), avg(DISTINCT f), sum(DISTINCT r), min(DISTINCT n), max(DISTINCT t), count(DISTINCT t), sum(DISTINCT n + i)",
    "count(DISTINCT n, t), count(DISTINCT b, i, m), count(DISTINCT t, y) FILTER (WHERE n > 8)",
    "sum(DISTINCT n) FILTER (WHERE b), count(DISTINCT i), avg(DISTINCT i), sum(n), avg(m)",
    "bool_and(b), every(b), bool_or(b), any(b), some(n > 8), every(n > 8 OR t IS NULL), bool_and(b) FILTER (WHERE n > 8)",
    "bool_or(DISTINCT b), bool_and(n > i)",
    "count(n, t), count(n, b, m), count(t, 1), count(*), count(n + i, t)",
    "var_pop(n), var_samp(n), variance(i), stddev(n), std(i), stddev_pop(y), stddev_samp(y), var_pop(m), stddev(m), var_samp(m)",
    "stddev_pop(n) FILTER (WHERE i > 1), var_samp(n - i)",
    "sum(w), sum(w) FILTER (WHERE b), sum(m * m * m), sum(w * (1 - m)), sum(CAST(m AS DECIMAL(38, 2)))",
    "median(n), median(i), median(y), median(m), median(w), median(f), median(r), median(n) FILTER (WHERE b)",
    "percentile(n, 0.25), percentile(i, 0.3), percentile(m, 0.9), percentile(w, 0.1), percentile(f, 1), percentile(r, 0)",
    "percentile(n, 3e-1), percentile(y, 0.7)",
    "percentile_cont(0.3) WITHIN GROUP (ORDER BY n), percentile_cont(0.3) WITHIN GROUP (ORDER BY n DESC), "
    "percentile_disc(0.3) WITHIN GROUP (ORDER BY n), percentile_disc(0.3) WITHIN GROUP (ORDER BY n DESC)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY m), "
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY f DESC NULLS FIRST) FILTER (WHERE b), percentile_cont(0.75) WITHIN GROUP (ORDER BY w)",
    "bit_and(n), bit_or(n), bit_xor(n), bit_and(y), bit_or(y), bit_xor(y), bit_xor(i), bit_or(DISTINCT i)",
)
ALL = ", ".join(GROUPS)
BY_GROUP, TOGETHER = f"SELECT g, {ALL} FROM {{t}} GROUP BY g ORDER BY g", f"SELECT {ALL} FROM {{t}}"
QUERIES = (
    BY_GROUP,
    f"{TOGETHER} WHERE g < 3 OR g = 5",
    "SELECT g, median(n) AS m FROM {t} GROUP BY g HAVING sum(DISTINCT n) > 10 AND bool_or(b) ORDER BY m DESC, g LIMIT 2",
    "SELECT g, stddev(n) AS s FROM {t} GROUP BY g HAVING stddev(n) > 1.5 ORDER BY g",
    "SELECT max(m), bool_and(a), median(m) FROM (SELECT g, median(n) AS m, bool_or(b) AS a FROM {t} GROUP BY g)",
)
CHANGES = (
    "INSERT INTO {t} SELECT * FROM VALUES (1, 10L, 8, 7Y, -3.75BD, 2.5BD, -1e3D, 9.5F, false, 'z'), "
    "(6, 1L, 1, 1Y, 1BD, 1BD, 1D, 1F, NULL, 'n'), (6, 2L, 2, 2Y, 2BD, 2BD, 2D, 2F, NULL, NULL)",
    "UPDATE {t} SET n = n + i, m = m / 2, b = NOT b WHERE g IN (2, 3)",
    "DELETE FROM {t} WHERE t = 'a' OR g = 5",
)


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="on") as connection:
        yield connection.cursor()


@pytest.fixture
def table(cursor: imp_driver.Cursor) -> str:
    name = f"aggregates{next(_numbers)}"
    columns = ", ".join(f"CAST({each} AS {kind}) AS {each}" for each, kind in TYPES.items())
    cursor.execute(f"CREATE TABLE {name} USING DELTA AS SELECT {columns} FROM VALUES {ROWS} AS v({', '.join(TYPES)})")
    return name


def ask(cursor: imp_driver.Cursor, text: str) -> list[tuple[object, ...]]:
    """Return the rows, which shadow mode has compared with Spark's, and check that they are from groups."""
    rows = cursor.execute(text).fetchall()
    report = cursor.sketch_report
    assert report is not None
    assert (report.served_by, text) == (ServedBy.STATE, text), report
    return rows


def test_all_aggregates_are_answered_before_and_after_changes(cursor: imp_driver.Cursor, table: str, engine: imp_driver.Connection) -> None:
    plain = engine.cursor()
    for query in QUERIES:
        text = query.format(t=table)
        found, expected = ask(cursor, text), plain.execute(text).fetchall()
        assert cursor.description == plain.description
        assert [list(map(type, row)) for row in found] == [list(map(type, row)) for row in expected]
    for change in CHANGES:
        cursor.execute(change.format(t=table))
        ask(cursor, BY_GROUP.format(t=table))
    for query in QUERIES[1:]:
        ask(cursor, query.format(t=table))
    cursor.execute(f"DELETE FROM {table}")
    assert len(ask(cursor, TOGETHER.format(t=table))) == 1


NOT_MAINTAINED = (
    "any_value(n)",
    "first(n)",
    "collect_list(n)",
    "approx_count_distinct(n)",
    "mode(n)",
    "percentile(n, 0.5, 2)",
    "percentile(n, array(0.5))",
    "median(DISTINCT n)",
    "stddev(f)",
    "var_pop(w)",
    "count(DISTINCT n, f)",
    "skewness(n)",
)
REFUSALS = (Reason.UNSUPPORTED_AGGREGATE, Reason.NON_DETERMINISTIC, Reason.UNKNOWN_FUNCTION, Reason.UNSUPPORTED_EXPRESSION)


def test_what_is_not_maintained_is_sparks(cursor: imp_driver.Cursor, table: str) -> None:
    for function in NOT_MAINTAINED:
        cursor.execute(f"SELECT g, {function} AS v FROM {table} WHERE n > 9 AND g < 2 GROUP BY g ORDER BY g").fetchall()
        report = cursor.sketch_report
        assert report is not None
        assert (report.served_by, function) == (ServedBy.SPARK, function)
        assert report.not_answered is not None
        assert (report.not_answered.reason in REFUSALS, function) == (True, function), report


def test_settings_that_change_an_aggregate_leave_queries_to_spark(warehouse: Path, table: str) -> None:
    with imp_driver.connect(warehouse=str(warehouse), answers="on") as connection:
        cursor = connection.cursor()
        text = f"SELECT g, var_samp(n) AS v FROM {table} GROUP BY g HAVING count(*) = 1 ORDER BY g"
        cursor.execute("SET spark.sql.legacy.statisticalAggregate = true")
        try:
            assert repr(cursor.execute(text).fetchall()) == "[(4, None), (5, nan)]"
            assert cursor.sketch_report is not None
            assert cursor.sketch_report.reason is Reason.UNSUPPORTED_SETTING
        finally:
            cursor.execute("SET spark.sql.legacy.statisticalAggregate = false")
        assert cursor.execute(text).fetchall() == [(4, None), (5, None)]
