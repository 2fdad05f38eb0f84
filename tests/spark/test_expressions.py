"""Expressions that are computed in process: types and values are Spark's, and aggregates of them are captured and maintained."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlglot

import imp_driver
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.parse.statement import DIALECT, parse
from imp_driver.plan.convert import row_expression
from imp_driver.plan.types import infer
from imp_driver.reasons import Decision, Reason
from tests.spark.stream_of_changes import Stream

_numbers = itertools.count()

COLUMNS = {
    "k": pa.int32(),
    "a": pa.int32(),
    "b": pa.int64(),
    "m": pa.decimal128(12, 2),
    "f": pa.float64(),
    "s": pa.string(),
    "d": pa.date32(),
}
ROWS = """
    (1, 0, 0L, 0.00BD, 0.0D, '', DATE'2000-02-29'),
    (1, 3, 9007199254740993L, 12.34BD, 1.5D, 'PROMO tin', DATE'1582-10-15'),
    (2, -3, -1L, -0.05BD, CAST('NaN' AS DOUBLE), 'a%b_c', DATE'1582-10-04'),
    (2, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, 2147483647, 7L, 9999999999.99BD, -0.0D, 'x' || chr(10) || 'y', DATE'0001-01-01'),
    (3, 7, 7L, 7.00BD, CAST('Infinity' AS DOUBLE), 'äö', DATE'9999-12-31')
"""


@pytest.fixture
def table(cursor: imp_driver.Cursor) -> str:
    name = f"expressions{next(_numbers)}"
    names = ", ".join(COLUMNS)
    source = f"SELECT CAST(k AS INT) k, a, b, CAST(m AS DECIMAL(12, 2)) m, f, s, d FROM VALUES {ROWS} AS t({names})"
    cursor.execute(f"CREATE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(3, k) */ * FROM ({source})")
    return name


EXPRESSIONS = (
    "CASE WHEN a > 1 THEN 1 ELSE 0 END",
    "CASE WHEN a > 1 THEN m ELSE 0 END",
    "CASE WHEN a > 1 THEN m WHEN b = 7 THEN b END",
    "CASE a WHEN 3 THEN f WHEN 7 THEN 1 ELSE b END",
    "CASE WHEN s LIKE 'PROMO%' THEN m * (1 - m) ELSE 0.5 END",
    "CASE WHEN f IS NULL THEN 'none' ELSE s END",
    "CASE WHEN d > DATE'1900-01-01' THEN d END",
    "IF(a = 3 OR b IS NULL, b, a)",
    "COALESCE(a, b, 5)",
    "COALESCE(m, 0)",
    "COALESCE(f, a)",
    "NULLIF(a, 3)",
    "NULLIF(s, '')",
    "a / 4",
    "b / 3",
    "f / 3",
    "a / (f + 10)",
    "year(d)",
    "month(d) * 100 + day(d)",
    "EXTRACT(year FROM d)",
    "b + 2 * CASE WHEN k = 1 THEN 1 ELSE 2 END",
)
CONDITIONS = (
    "s LIKE 'PROMO%'",
    "s NOT LIKE '%_c'",
    "s LIKE 'x_y'",
    "s LIKE '%'",
    "s LIKE 'ä_'",
    "CASE WHEN a > 1 THEN f > 1 ELSE s = '' END",
)
LEFT_TO_SPARK = ("a / 0", "a / f", "m / 0", "COALESCE(s, 1)", "year(CAST(d AS TIMESTAMP))", "s LIKE 'a\\\\%b%'", "a + 1")


@pytest.mark.parametrize("is_ansi", [True, False])
def test_values_and_types_are_those_of_spark(cursor: imp_driver.Cursor, table: str, is_ansi: bool) -> None:
    cursor.execute(f"SET spark.sql.ansi.enabled = {is_ansi}")
    # As users have it: with code that is generated for each plan.
    cursor.execute("SET spark.sql.codegen.wholeStage = true")
    cursor.execute("SET spark.sql.codegen.factoryMode = FALLBACK")
    try:
        rows = cursor.execute(f"SELECT * FROM {table}").fetch_arrow_table().cast(pa.schema(COLUMNS.items()))
        texts = EXPRESSIONS + CONDITIONS
        selected = ", ".join(f"{text} AS value_{place}" for place, text in enumerate(texts))
        found = cursor.execute(f"SELECT {selected} FROM {table}").fetch_arrow_table()
        for text, expected in zip(texts, found.columns, strict=True):
            node = sqlglot.parse_one(text, read="spark")
            values = computed(rows, row_expression(node, COLUMNS))
            kind = pa.bool_() if text in CONDITIONS else infer(node, dict(COLUMNS))
            assert kind == expected.type, text
            assert _plain(values.cast(kind)) == _plain(expected), text
    finally:
        for name in ("ansi.enabled", "codegen.wholeStage", "codegen.factoryMode"):
            cursor.execute(f"RESET spark.sql.{name}")


@pytest.mark.parametrize("text", LEFT_TO_SPARK)
def test_what_depends_on_settings_or_rounding_is_left_to_spark(cursor: imp_driver.Cursor, table: str, text: str) -> None:
    rows = cursor.execute(f"SELECT * FROM {table}").fetch_arrow_table().cast(pa.schema(COLUMNS.items()))
    with pytest.raises(NotEvaluable):
        computed(rows, row_expression(sqlglot.parse_one(text, read="spark"), COLUMNS))


def _plain(values: Any) -> list[str]:
    found = values.to_pylist()
    return sorted(str("nan" if isinstance(each, float) and math.isnan(each) else each) for each in found)


HAVING = (
    "sum(CASE WHEN a > 1 THEN 1 ELSE 0 END) > 1",
    "sum(CASE WHEN s LIKE 'p%' THEN m ELSE 0 END) > 3",
    "count_if(a > 1) >= 2",
    "count(*) FILTER (WHERE a > 1 AND s IS NOT NULL) >= 2",
    "max(b) FILTER (WHERE a < 3) > 40",
    "count(DISTINCT a) FILTER (WHERE b > 3) >= 3",
    "sum(a) / count(*) > 2",
    "sum(CASE WHEN a > 1 THEN 1 ELSE 0 END) / count(*) > 0.45D",
    "sum(COALESCE(a, 100)) > 100",
    "min(year(d)) > 2006",
)


CHANGES = (
    "INSERT INTO {} VALUES (15, 3, 41, 2, 'p', DATE'2010-01-01'), (16, NULL, NULL, NULL, NULL, NULL), "
    "(30, 4, 99, 3, 'pp', DATE'2020-01-01')",
    "DELETE FROM {} WHERE k = 17 AND a > 1",
    "UPDATE {} SET a = 3, s = 'pr' WHERE k = 18",
)


@pytest.fixture(scope="module")
def stream(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stream]:
    """A query for each condition of ``HAVING``, asked before and after each change."""
    name = f"expressions{next(_numbers)}"
    source = (
        "SELECT CAST(id DIV 8 AS INT) AS k, CAST(id % 5 AS INT) AS a, id AS b, CAST(id % 3 AS DECIMAL(12, 2)) AS m, "
        "IF(id % 4 = 0, 'pq', 'q') AS s, date_add(DATE'2000-01-01', CAST(id * 20 AS INT)) AS d FROM range(160)"
    )
    with closing(Stream(warehouse, tmp_path_factory.mktemp("stores"))) as stream:
        stream.run(f"CREATE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(10, k) */ * FROM ({source})")
        for _ in stream.turns([change.format(name) for change in CHANGES]):
            for having in HAVING:
                stream.ask(having, f"SELECT k, count(*) FROM {name} GROUP BY k HAVING {having} AND k > 14")
        yield stream


@pytest.mark.parametrize("having", HAVING)
def test_aggregates_of_such_expressions_are_maintained(stream: Stream, having: str) -> None:
    first, *later = stream.reports(having)
    assert (first.decision, first.reason) == (Decision.CAPTURED, Reason.FILTERED)
    assert [(report.decision, report.reason) for report in later] == [(Decision.MAINTAINED, Reason.FILTERED)] * len(CHANGES)


LITERALS = ("'it''s'", "''''", "'a\"\"b'", '"a""b\'\'c"', r"'it\'s'", r"'\''''", r"'a\\'", r"'tab\there'", "'a' 'b'", r"'\u00e4\101\%'")


def test_strings_are_read_as_spark_reads_them(cursor: imp_driver.Cursor) -> None:
    for literal in LITERALS:
        tree = parse(f"SELECT {literal}").tree
        assert tree is not None
        [expected] = cursor.execute(f"SELECT {literal}").fetchall()[0]
        [again] = cursor.execute(f"SELECT {tree.expressions[0].sql(dialect=DIALECT)}").fetchall()[0]
        assert again == expected, literal


UNITS = (
    "trunc(d, 'Q')",
    "trunc(d, 'w')",
    "trunc(d, 'MM')",
    "date_trunc('Q', z)",
    "date_trunc('M', z)",
    "date_trunc('MM', z)",
    "date_trunc('week', z)",
)


def test_units_are_read_as_spark_reads_them(cursor: imp_driver.Cursor) -> None:
    source = "(SELECT DATE'2024-05-06' AS d, TIMESTAMP'2024-05-06 07:08:09' AS z)"
    for text in UNITS:
        again = sqlglot.parse_one(text, read=DIALECT).copy().sql(dialect=DIALECT)
        [one] = cursor.execute(f"SELECT {text} FROM {source}").fetchall()
        [other] = cursor.execute(f"SELECT {again} FROM {source}").fetchall()
        assert one == other, text


@pytest.mark.parametrize("literal", LITERALS[:6])
def test_rows_chosen_by_a_quoted_text(cursor: imp_driver.Cursor, literal: str) -> None:
    name = f"expressions{next(_numbers)}"
    without_quotes = f"translate({literal}, '\\'\"', '')"
    source = f"SELECT CAST(id DIV 8 AS INT) AS k, IF(id % 2 = 0, {literal}, {without_quotes}) AS s FROM range(160)"
    cursor.execute(f"CREATE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(10, k) */ * FROM ({source})")
    cursor.execute(f"INSERT INTO {name} SELECT 19, {literal} FROM range(5)")
    text = f"SELECT k, count(*) FROM {name} WHERE s = {literal} GROUP BY k HAVING count(*) > 4"
    assert cursor.execute(text).fetchall() == [(19, 9)]
    cursor.execute(f"INSERT INTO {name} SELECT 3, {literal} FROM range(1)")
    assert sorted(cursor.execute(text).fetchall()) == [(3, 5), (19, 9)]


def test_a_sum_that_overflows_by_a_change_is_an_error_with_a_sketch_too(cursor: imp_driver.Cursor) -> None:
    # Not compared with the plain query, which raises by itself.
    cursor.sketch = "lazy"
    cursor.execute("SET spark.sql.ansi.enabled = true")
    cursor.execute("CREATE TABLE overflowing (k INT, v BIGINT) USING DELTA")
    cursor.execute("SET spark.sql.files.maxRecordsPerFile = 10")
    cursor.execute("INSERT INTO overflowing SELECT CAST(id DIV 10 AS INT), 1 FROM range(0, 640, 1, 1)")
    cursor.execute("INSERT INTO overflowing VALUES (5, 100)")
    text = "SELECT k, sum(v) FROM overflowing GROUP BY k HAVING sum(v) > 20"
    assert cursor.execute(text).fetchall() == [(5, 110)]
    cursor.execute("INSERT INTO overflowing VALUES (5, 9223372036854775800), (63, 1000)")
    for _ in range(2):
        with pytest.raises(imp_driver.DataError, match="ARITHMETIC_OVERFLOW"):
            cursor.execute(text).fetchall()
    cursor.execute("DELETE FROM overflowing WHERE v > 1000")
    assert sorted(cursor.execute(text).fetchall()) == [(5, 110), (63, 1010)]


def test_years_that_arrow_cannot_count_are_those_of_spark(cursor: imp_driver.Cursor) -> None:
    cursor.execute("CREATE TABLE far (c INT, d DATE) USING DELTA")
    cursor.execute("SET spark.sql.files.maxRecordsPerFile = 10")
    cursor.execute("INSERT INTO far SELECT CAST(id DIV 10 AS INT), DATE'2000-01-01' FROM range(0, 640, 1, 1)")
    text = "SELECT c, count(*) FROM far WHERE year(d) > 40000 GROUP BY c HAVING count(*) > 1"
    assert cursor.execute(text).fetchall() == []
    cursor.execute("INSERT INTO far SELECT 9, date_add(DATE'9999-12-31', 15000000) FROM range(3)")
    for _ in range(2):
        assert cursor.execute(text).fetchall() == [(9, 3)]
