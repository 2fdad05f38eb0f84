"""Constants and arithmetic against exact fractions and Python's doubles (the twin). Stateless, hence no recomputation."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.bounds.interval import Family, Interval, NumberForm, arithmetic, constant, from_codes
from imp_driver.dataflow.bounds.truth import compare
from tests.operators.answers import calculated, compared
from tests.operators.model import budget, inside
from tests.operators.twin import NAN, canonical

small = st.integers(-1000, 1000) | st.decimals(-1000, 1000, places=2) | st.decimals(-1, 1, places=5)
large = st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, Decimal(2**53 + 1) / 10, Decimal("0.1"), Decimal("1E+20")])
exact = small | large
doubles = st.floats(-1e6, 1e6) | st.sampled_from([0.1, 0.3, 1e300, math.nan, math.inf, -0.0, 2.0**53])
OPERATORS = ["=", "<>", "<", "<=", ">", ">=", "<=>"]


@budget(300)
@given(left=exact | doubles, right=exact | doubles, operator=st.sampled_from(OPERATORS))
def test_constants_compare_as_spark_compares_them(left: Any, right: Any, operator: str) -> None:
    truth = compare(operator, constant(left), constant(right))
    outcome = compared(operator, canonical(left), canonical(right))
    assert truth.may_be_true[0] if outcome else truth.may_be_false[0]


@budget(200)
@given(left=small, right=small, operator=st.sampled_from(OPERATORS))
def test_small_exact_constants_are_decided(left: Any, right: Any, operator: str) -> None:
    truth = compare(operator, constant(left), constant(right))
    assert truth.must_be_true[0] == compared(operator, left, right)
    assert truth.may_be_true[0] == compared(operator, left, right)


@budget(400)
@given(left=exact | doubles, right=exact | doubles, operator=st.sampled_from(["+", "-", "*"]))
def test_arithmetic_holds_the_result(left: Any, right: Any, operator: str) -> None:
    result = arithmetic(operator, constant(left), constant(right))
    value = calculated(operator, canonical(left), canonical(right))
    scale = result.form.scale if result.form else 0
    assert inside(math.nan if value is NAN else value, result.lower[0], result.upper[0], scale)


def _wide(value: Any) -> Interval:
    """Return a number as a BIGINT column has it: a constant may be of a narrower type, which overflows."""
    return from_codes(pa.int64(), np.array([value]), np.array([False])) if isinstance(value, int) else constant(value)


@pytest.mark.parametrize(
    ("kind", "value", "operator", "other", "is_known"),
    [
        (pa.int16(), 8, "+", 32_760, False),
        (pa.int16(), 7, "+", 32_760, True),
        (pa.int8(), 8, "+", 120, False),
        (pa.int8(), 32, "*", 4, False),
        (pa.int8(), 31, "*", 4, True),
        (pa.int32(), 32, "*", 4, True),
        (pa.int64(), 2**40, "+", 1, True),
        (pa.int8(), 100, "+", 1_000, True),
    ],
)
def test_a_constant_may_be_as_narrow_as_the_column(kind: pa.DataType, value: int, operator: str, other: int, is_known: bool) -> None:
    result = arithmetic(operator, from_codes(kind, np.array([value]), np.array([False])), constant(other))
    assert bool(np.isfinite(result.lower[0]) and np.isfinite(result.upper[0])) is is_known


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_the_negative_of_the_least_number_is_unknown(kind: pa.DataType) -> None:
    least = from_codes(kind, np.array([-(2 ** (kind.bit_width - 1))]), np.array([False]))
    assert not np.isfinite(arithmetic("-", constant(0), least).lower[0])


@budget(200)
@given(left=small, right=small, operator=st.sampled_from(["+", "-", "*"]))
def test_arithmetic_on_small_exact_numbers_is_exact(left: Any, right: Any, operator: str) -> None:
    result = arithmetic(operator, _wide(left), _wide(right))
    assert result.form is not None
    if result.form.scale <= 6:
        assert result.lower[0] == result.upper[0]
        assert Fraction(result.lower[0]) == calculated(operator, left, right) * 10**result.form.scale


def number(lower: float, upper: float, form: NumberForm | None) -> Interval:
    return Interval(Family.NUMBER, np.array([lower]), np.array([upper]), np.array([False]), np.array([True]), form=form)


@pytest.mark.parametrize(
    ("value", "form"),
    [(2.0**31 - 1, NumberForm(10, 0, 32)), (2.0**62, NumberForm(20, 0, 64)), (1e30, NumberForm(32, 0, 0)), (1e308, None)],
    ids=["int", "bigint", "decimal", "double"],
)
def test_overflow_risk_is_unknown(value: float, form: NumberForm | None) -> None:
    result = arithmetic("*", number(value, value, form), number(1e3, 1e3, form))
    assert result.lower[0] == -math.inf
    assert result.upper[0] != result.upper[0]
    assert result.may_be_null[0]


def test_product_of_signs_takes_all_corners() -> None:
    form = NumberForm(20, 0, 64)
    result = arithmetic("*", number(-2, 3, form), number(-5, 7, form))
    assert (result.lower[0], result.upper[0]) == (-15, 21)
    result = arithmetic("-", number(-2, 3, form), number(-5, 7, form))
    assert (result.lower[0], result.upper[0]) == (-9, 8)


def test_unknown_operator_is_refused() -> None:
    with pytest.raises(ValueError, match="operator"):
        arithmetic("%", constant(1), constant(2))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1", 1),
        (True, 1),
        (datetime.date(2000, 1, 1), datetime.datetime(2000, 1, 1)),
        (datetime.datetime(2000, 1, 1), datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)),
        (datetime.date(2000, 1, 1), "2000-01-01"),
    ],
)
def test_families_that_spark_casts_are_not_decided(left: Any, right: Any) -> None:
    truth = compare("=", constant(left), constant(right))
    assert (truth.may_be_true[0], truth.may_be_false[0], truth.may_be_null[0]) == (True, True, True)


@pytest.mark.parametrize(
    ("lesser", "greater"),
    [
        ("a", "a\0"),
        ("\uffff", "\U0001f600"),
        (False, True),
        (datetime.date(1969, 12, 31), datetime.date(1970, 1, 1)),
        (datetime.datetime(2000, 1, 1, microsecond=1), datetime.datetime(2000, 1, 1, microsecond=2)),
        (1e308, math.inf),
        (math.inf, math.nan),
        (0.1, Decimal("0.11")),
    ],
)
def test_values_of_one_family_are_ordered(lesser: Any, greater: Any) -> None:
    assert compare("<", constant(lesser), constant(greater)).must_be_true[0]
    assert not compare(">=", constant(lesser), constant(greater)).may_be_true[0]


def test_large_integer_against_float_depends_on_settings() -> None:
    single = Interval(Family.NUMBER, np.array([2.0**24]), np.array([2.0**24]), np.array([False]), np.array([True]), single=True)
    # As FLOAT 2**24 + 1 rounds to 2**24.
    assert compare("=", single, constant(2**24 + 1)).may_be_true[0]
    assert compare("=", single, constant(2**24)).must_be_true[0]
    assert not compare("=", single, constant(2.0**24 + 1)).may_be_true[0]
