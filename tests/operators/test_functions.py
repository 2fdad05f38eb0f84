"""Functions, casts and decimal arithmetic in process against values and types that Spark 4.2 gave (tests/spark compares more of them)."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.dataflow.expression.arithmetic import arithmetic, to_double
from imp_driver.dataflow.expression.comparison import compare
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.convert import row_expression
from imp_driver.plan.types import infer
from imp_driver.values.decimal_types import adjusted, compared_type, result_type
from imp_driver.values.expressions import Arithmetic, Cast, Column, Comparison, Constant, Function, KeyReference, parts_of, with_parts
from tests.operators.model import budget

COLUMNS = {
    "y": pa.int8(),
    "a": pa.int32(),
    "b": pa.int64(),
    "m": pa.decimal128(12, 2),
    "q": pa.decimal128(38, 4),
    "f": pa.float64(),
    "s": pa.string(),
    "d": pa.date32(),
    "n": pa.timestamp("us"),
}
ROW = (
    -128,
    -7,
    5,
    Decimal("12.35"),
    Decimal("1234.5678"),
    2.5,
    " abc ",
    datetime.date(2024, 2, 29),
    datetime.datetime(1969, 12, 31, 23, 59, 58),
)


def value(text: str, row: tuple[Any, ...] = ROW) -> tuple[Any, pa.DataType]:
    rows = pa.table([pa.array([each], kind) for each, kind in zip(row, COLUMNS.values(), strict=True)], names=list(COLUMNS))
    node = sqlglot.parse_one(text, read=DIALECT)
    found = computed(rows, row_expression(node, COLUMNS))
    assert infer(node, COLUMNS) == found.type
    return found[0].as_py(), found.type


@pytest.mark.parametrize(
    ("text", "expected", "kind"),
    [
        ("100.00 * q / q", Decimal("100.000000"), pa.decimal128(38, 6)),
        ("m / 7.0", Decimal("1.764286"), pa.decimal128(17, 6)),
        ("m / 3", Decimal("4.116667"), pa.decimal128(16, 6)),
        ("0.2 * m", Decimal("2.470"), pa.decimal128(14, 3)),
        ("1 - m", Decimal("-11.35"), pa.decimal128(13, 2)),
        ("m * a", Decimal("-86.45"), pa.decimal128(23, 2)),
        ("m / f", 12.35 / 2.5, pa.float64()),
        ("m % 0.7", Decimal("0.45"), pa.decimal128(2, 2)),
        ("a % 4", -3, pa.int32()),
        ("pmod(a, 4)", 1, pa.int32()),
        ("a div 2", -3, pa.int64()),
        ("round(m, 1)", Decimal("12.4"), pa.decimal128(12, 1)),
        ("bround(m, 1)", Decimal("12.4"), pa.decimal128(12, 1)),
        ("round(a, -1)", -10, pa.int32()),
        ("round(f)", 3.0, pa.float64()),
        ("bround(f)", 2.0, pa.float64()),
        ("floor(m)", Decimal("12"), pa.decimal128(11, 0)),
        ("ceil(f)", 3, pa.int64()),
        ("-m", Decimal("-12.35"), pa.decimal128(12, 2)),
        ("abs(a)", 7, pa.int32()),
        ("sign(a)", -1.0, pa.float64()),
        ("greatest(a, b)", 5, pa.int64()),
        ("least(m, a)", Decimal("-7.00"), pa.decimal128(12, 2)),
        ("upper(s)", " ABC ", pa.string()),
        ("trim(s) || '!'", "abc!", pa.string()),
        ("substring(s, -9, 6)", " a", pa.string()),
        ("left(s, 2)", " a", pa.string()),
        ("right(s, 2)", "c ", pa.string()),
        ("lpad(s, 7, '*')", "** abc ", pa.string()),
        ("length(s)", 5, pa.int32()),
        ("replace(s, ' ')", "abc", pa.string()),
        ("contains(s, 'bc')", True, pa.bool_()),
        ("d + INTERVAL '1' YEAR", datetime.date(2025, 2, 28), pa.date32()),
        ("d - INTERVAL '90' DAY", datetime.date(2023, 12, 1), pa.date32()),
        ("date_sub(d, 1)", datetime.date(2024, 2, 28), pa.date32()),
        ("add_months(d, -12)", datetime.date(2023, 2, 28), pa.date32()),
        ("last_day(d)", datetime.date(2024, 2, 29), pa.date32()),
        ("trunc(d, 'WEEK')", datetime.date(2024, 2, 26), pa.date32()),
        ("trunc(d, 'quarter')", datetime.date(2024, 1, 1), pa.date32()),
        ("datediff(d, DATE'2023-12-31')", 60, pa.int32()),
        ("dayofweek(d)", 5, pa.int32()),
        ("weekday(d)", 3, pa.int32()),
        ("EXTRACT(WEEK FROM d)", 9, pa.int32()),
        ("quarter(n)", 4, pa.int32()),
        ("hour(n) * 100 + second(n)", 2358, pa.int32()),
        ("CAST(n AS DATE)", datetime.date(1969, 12, 31), pa.date32()),
        ("CAST(m AS INT)", 12, pa.int32()),
        ("CAST(m AS DECIMAL(5, 1))", Decimal("12.4"), pa.decimal128(5, 1)),
        ("CAST(m AS STRING)", "12.35", pa.string()),
        ("CAST(d AS STRING)", "2024-02-29", pa.string()),
        ("CAST(NULL AS INT)", None, pa.int32()),
        ("CASE WHEN b = 5 THEN 0 ELSE a / (b - 5) END", 0.0, pa.float64()),
        ("q = m", False, pa.bool_()),
    ],
)
def test_value_and_type(text: str, expected: Any, kind: pa.DataType) -> None:
    assert value(text) == (expected, kind)


@pytest.mark.parametrize(
    "text",
    [
        "m / 0",
        "a % 0",
        "pmod(b, 0)",
        "a div (b - 5)",
        "-y",
        "abs(y)",
        "y - 1Y",
        "m * 1L",
        "NULL / m",
        "q * 10000000000000000000000000000000",
        "upper('ä' || s)",
        "round(2.675D, 2)",
        "CAST(a * 2 AS DECIMAL(1, 0))",
        "CAST(b * 100 AS TINYINT)",
        "CAST(f AS DECIMAL(10, 2))",
        "CAST(f AS STRING)",
        "CAST(s AS INT)",
        "CAST(a AS TIMESTAMP_NTZ)",
        "concat(s, a)",
        "d + INTERVAL '8000' YEAR",
        "d + INTERVAL '1' HOUR",
        "n + INTERVAL '1' DAY",
        "d - d",
        "d + b",
        "trunc(d, 'day')",
        "EXTRACT(SECOND FROM n)",
        "date_trunc('month', n)",
        "substring(s, a, 1)",
        "year(CAST(d AS TIMESTAMP))",
        "a IN (1, 2.5D)",
        "s LIKE 'a/%' ESCAPE '/'",
        "CAST('1.5' AS DECIMAL(2, 1)) / m",
        "ceil(f * 1e30D)",
    ],
)
def test_what_is_not_certain_is_left_to_spark(text: str) -> None:
    with pytest.raises(NotEvaluable):
        value(text)


def test_signs_of_long_decimals_are_sparks() -> None:
    # Spark rounds to 34 digits where it changes a sign.
    row = (*ROW[:4], Decimal("9999999999999999999999999999999999.9999"), *ROW[5:])
    for text in ("-q", "abs(q)"):
        with pytest.raises(NotEvaluable):
            value(text, row)


def test_upper_case_of_nothing_but_null() -> None:
    assert value("upper(s)", (*ROW[:6], None, *ROW[7:])) == (None, pa.string())


decimals = st.builds(lambda digits, scale: Decimal(digits).scaleb(-scale), st.integers(-(10**18), 10**18), st.integers(0, 6))


@budget(200)
@given(decimals, decimals, st.sampled_from("+-*/%"))
def test_decimal_results_are_rounded_once_half_away_from_zero(left: Decimal, right: Decimal, operator: str) -> None:
    one, other = pa.array([left], pa.decimal128(38, 6)), pa.array([right], pa.decimal128(25, 6))
    kind = result_type(operator, one.type, other.type)
    try:
        [found] = arithmetic(operator, one, other).to_pylist()
    except NotEvaluable:
        assert right == 0 or operator == "*"
        return
    a, b = Fraction(left), Fraction(right)
    exact = {"+": a + b, "-": a - b, "*": a * b}.get(operator)
    if exact is None:
        quotient = a / b
        exact = quotient if operator == "/" else a - b * (abs(quotient) // 1) * (-1 if quotient < 0 else 1)
    scaled = abs(exact) * 10**kind.scale
    assert abs(Fraction(found)) * 10**kind.scale == (scaled + Fraction(1, 2)) // 1
    assert (found < 0) == (exact < 0 and found != 0)


@budget(100)
@given(st.integers(-(10**37), 10**37), st.integers(0, 30))
def test_decimals_become_the_nearest_double(digits: int, scale: int) -> None:
    found = Decimal(digits).scaleb(-scale)
    kind = pa.decimal128(38, scale)
    exact = pa.array([pa.scalar(found, kind).as_py()], kind) if len(str(abs(digits))) <= 38 else None
    assert exact is not None
    assert to_double(exact).to_pylist() == [float(found)]


def test_types_beyond_38_digits() -> None:
    assert adjusted(44, 6) == pa.decimal128(38, 6)
    assert adjusted(50, 20) == pa.decimal128(38, 8)
    assert adjusted(39, 3) == pa.decimal128(38, 3)
    assert compared_type(pa.decimal128(36, 2), pa.decimal128(38, 6)) == pa.decimal128(38, 4)


def test_decimals_are_compared_by_the_places_that_spark_keeps() -> None:
    whole = pa.array([Decimal("1.00")], pa.decimal128(36, 2))
    assert compare("<", whole, pa.array([Decimal("1.000100")], pa.decimal128(38, 6))).to_pylist() == [True]
    with pytest.raises(NotEvaluable):
        compare("<", whole, pa.array([Decimal("1.000001")], pa.decimal128(38, 6)))


def test_parts_of_new_nodes_are_put_back() -> None:
    for expression in (Function("round", (Column("a"),), (1,)), Cast(Column("a"), pa.int64())):
        assert parts_of(expression) == (Column("a"),)
        assert parts_of(with_parts(expression, (Column("b"),))) == (Column("b"),)
        assert type(with_parts(expression, (Column("b"),))) is type(expression)
    assert with_parts(Function("round", (Column("a"),), (1,)), (Column("b"),)) == Function("round", (Column("b"),), (1,))


class Sevens:
    """One group, of which everything is 7."""

    def key_interval(self, index: int) -> Interval:
        return from_codes(pa.int64(), np.array([7]), np.array([False]))

    def aggregate_interval(self, index: int) -> Interval:
        return self.key_interval(index)


def test_what_may_pass_knows_a_sign() -> None:
    truth = evaluate(Comparison(">", Function("negative", (KeyReference(0),)), Constant(5)), Sevens())
    assert not truth.may_be_true.any()


@pytest.mark.parametrize(
    "inner", [Function("abs", (KeyReference(0),)), Cast(KeyReference(0), pa.int32()), Arithmetic("%", KeyReference(0), Constant(3))]
)
def test_what_may_pass_is_anything_for_other_functions(inner: Any) -> None:
    truth = evaluate(Comparison(">", inner, Constant(5)), Sevens())
    assert truth.may_be_true.all()
    assert truth.may_be_false.all()
