"""Functions, casts and decimal arithmetic in process against values and types that Spark 4.2 gave (tests/spark compares more of them)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.dataflow.expression.arithmetic import arithmetic, to_double
from imp_driver.dataflow.expression.comparison import compare
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.values.decimal_types import adjusted, compared_type, result_type
from imp_driver.values.expressions import Arithmetic, Cast, Column, Comparison, Constant, Function, KeyReference, parts_of, with_parts
from tests.operators.function_cases import LEFT_TO_SPARK, ROW, VALUES, value
from tests.operators.model import budget


@pytest.mark.parametrize(("text", "expected", "kind"), VALUES)
def test_value_and_type(text: str, expected: Any, kind: pa.DataType) -> None:
    assert value(text) == (expected, kind)


@pytest.mark.parametrize("text", LEFT_TO_SPARK)
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
