"""Literals keep value and type; markers are found only where Spark finds them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import sqlglot

from imp_driver.errors import DataError, NotSupportedError, ProgrammingError
from imp_driver.parse.batch_insert import batch_insert
from imp_driver.parse.dialect import SparkText
from imp_driver.parse.literals import bind_text, rendered
from imp_driver.parse.markers import by_name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (-1, "(-1)"),
        (2**31, "CAST('2147483648' AS BIGINT)"),
        (2**63, "CAST('9223372036854775808' AS DECIMAL(19, 0))"),
        (-0.0, "CAST('-0.0' AS DOUBLE)"),
        (float("nan"), "CAST('NaN' AS DOUBLE)"),
        (Decimal("-0.001"), "CAST('-0.001' AS DECIMAL(3, 3))"),
        (Decimal("1E+5"), "CAST('100000' AS DECIMAL(6, 0))"),
        ("it's", "'it\\'s'"),
        (b"\x00a", "X'0061'"),
        (True, "TRUE"),
        (None, "NULL"),
        (datetime.date(2020, 1, 2), "CAST('2020-01-02' AS DATE)"),
        (datetime.datetime(2020, 1, 2), "CAST('2020-01-02 00:00:00.000000' AS TIMESTAMP_NTZ)"),
        (datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC), "CAST('2020-01-02 00:00:00.000000+00:00' AS TIMESTAMP)"),
        ([1, None, [-2]], "array(1, NULL, array((-2)))"),
        ({"a": {"b": None}, "c": []}, "map('a', map('b', NULL), 'c', array())"),
    ],
)
def test_rendered(value: Any, text: str) -> None:
    assert rendered(value) == text


def test_dictionaries_are_maps_in_a_batch() -> None:
    batch = batch_insert("INSERT INTO t VALUES (?, ?)", [[1, {"a": 1, "b": None}], [2, {}], [3, None]])
    assert batch is not None
    assert batch.rows.schema.types == [pa.int64(), pa.map_(pa.string(), pa.int64())]
    assert batch.rows.column("p1").to_pylist() == [[("a", 1), ("b", None)], [], None]
    empty = batch_insert("INSERT INTO t VALUES (?)", [[{}]])
    assert empty is not None
    assert empty.rows.schema.types == [pa.map_(pa.string(), pa.string())]


def test_values_without_a_literal() -> None:
    with pytest.raises(NotSupportedError, match="no literal form"):
        rendered(object())
    with pytest.raises(DataError, match="38"):
        rendered(Decimal(10) ** 40)


@pytest.mark.parametrize(
    ("text", "parameters", "bound"),
    [
        ("select ?, '?' -- ?\nfrom t where a = ?", (1, "x"), "select 1, '?' -- ?\nfrom t where a = 'x'"),
        ("select :a, ':b' from t where c > :b and d in (:a)", {"a": 1, "b": -2}, "select 1, ':b' from t where c > (-2) and d in (1)"),
        ("select a::int from t limit ?", (3,), "select a::int from t limit 3"),
        ("select 1", None, "select 1"),
    ],
)
def test_bind_text(text: str, parameters: Any, bound: str) -> None:
    assert bind_text(text, parameters) == bound


@pytest.mark.parametrize(
    ("text", "parameters", "error"),
    [
        ("select ?", (1, 2), ProgrammingError),
        ("select ?, ?", (1,), ProgrammingError),
        ("select :a", {"b": 1}, ProgrammingError),
        ("select :a", (1,), ProgrammingError),
        ("select ?", {"a": 1}, ProgrammingError),
        ("select col:field, :a", {"a": 1}, NotSupportedError),
    ],
)
def test_bind_text_refuses(text: str, parameters: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        bind_text(text, parameters)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("select ?, '?' -- ?\nfrom t where a=?and b", "select :imp_0, '?' -- ?\nfrom t where a=:imp_1 and b"),
        ("select * from t timestamp as of ? where a in (?)", "select * from t timestamp as of :imp_0 where a in (:imp_1)"),
        ("select `?`, -?, ?::int", "select `?`, -:imp_0, :imp_1::int"),
        ("limit ?offset ?", "limit :imp_0 offset :imp_1"),
        ("select trim(both ? from a) sort by ?", "select trim(both :imp_0 from a) sort by :imp_1"),
    ],
)
def test_markers_get_names_in_their_order(text: str, named: str) -> None:
    assert by_name(text, ["x", "y"][: named.count(":imp_")]) == (named, {"imp_0": "x", "imp_1": "y"})


@pytest.mark.parametrize(
    ("text", "values"),
    [("select ?", (1, 2)), ("select ?, ?", (1,)), ("select a ?", (1,)), ("select (a) ?, ?", (1, 2)), ("select 'x", (1,))],
)
def test_markers_without_a_value_are_refused(text: str, values: tuple[int, ...]) -> None:
    with pytest.raises(ProgrammingError):
        by_name(text, values)


def test_batch_insert_keeps_the_expressions() -> None:
    batch = batch_insert("INSERT INTO t (a, b) VALUES (?, upper(?)) ;", [(1, "x"), (2.5, None)])
    assert batch is not None
    assert batch.text == f"INSERT INTO t (a, b) SELECT `p0`, upper(`p1`) FROM {batch.view}"
    assert batch.rows.to_pylist() == [{"p0": 1.0, "p1": "x"}, {"p0": 2.5, "p1": None}]
    named = batch_insert("insert into t values (:x, :y + :x)", [{"x": 1, "y": Decimal("2.50")}, {"x": 3, "y": 4}])
    assert named is not None
    assert named.rows.to_pylist() == [{"p_x": 1, "p_y": Decimal("2.50")}, {"p_x": 3, "p_y": Decimal("4.00")}]


@pytest.mark.parametrize(
    "text",
    [
        "update t set a = ?",
        "insert into t values (1, 2)",
        "insert into t values (?), (?)",
        "insert into t select ?",
        "insert overwrite t values (?)",
        "insert into t values (?) returning a",
        "select 'unclosed",
    ],
)
def test_other_statements_are_not_batched(text: str) -> None:
    assert batch_insert(text, [(1,)]) is None


def test_batch_insert_refuses_rows_that_do_not_fit() -> None:
    with pytest.raises(ProgrammingError, match="Row 2"):
        batch_insert("insert into t values (?, ?)", [(1, 2), (3,)])
    with pytest.raises(ProgrammingError, match="Row 1"):
        batch_insert("insert into t values (:a)", [{"b": 1}])
    with pytest.raises(DataError, match="Row 3"):
        batch_insert("insert into t values (?)", [(1,), (2,), ("x",)])


@pytest.mark.parametrize(
    ("text", "rendered_text"),
    [
        ("-128Y", "CAST(-128 AS TINYINT)"),
        ("-32768S", "CAST(-32768 AS SMALLINT)"),
        ("1 - - 9223372036854775808L", "1 - CAST(-9223372036854775808 AS BIGINT)"),
        ("-CAST(-5 AS INT)", "-CAST(-5 AS INT)"),
        ("-CAST('5' AS INT)", "-CAST('5' AS INT)"),
        ("-1.5D", "-CAST(1.5 AS DOUBLE)"),
        ("-2147483648", "-2147483648"),
        ("-x", "-x"),
    ],
)
def test_the_least_number_of_a_type_is_one_literal(text: str, rendered_text: str) -> None:
    assert sqlglot.parse_one(text, read=SparkText).sql(dialect=SparkText) == rendered_text
