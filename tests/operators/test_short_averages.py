"""Averages of decimals of few digits are those of doubles, rounded from their digits: halves go where the double lies."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.aggregate.short_averages import short_averages
from imp_driver.plan.aggregate import sum_kind
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm

COUNTS = st.sampled_from([1, 2, 3, 7, 32, 160, 800, 4_000, 20_000, 999_999_937]) | st.integers(1, 10**9)
"""Of many of them halves have exactly one digit more than averages."""


@given(st.lists(st.tuples(st.integers(-(2**53) + 1, 2**53 - 1) | st.integers(-(10**9), 10**9), COUNTS), min_size=1), st.integers(0, 11))
def test_they_are_those_of_doubles(pairs: list[tuple[int, int]], scale: int) -> None:
    # No average has more digits than its values.
    pairs = [(abs(value) % (count * 10**11) * (1 if value > 0 else -1), count) for value, count in pairs]
    sums, counts = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    expected = []
    for value, count in pairs:
        double = float(value) / count / 10.0**scale
        expected.append(int(Decimal(repr(double)).quantize(Decimal(1).scaleb(-scale - 4), ROUND_HALF_UP).scaleb(scale + 4)))
    assert short_averages(sums, counts, scale).tolist() == expected


def test_a_half_of_which_the_double_lies_below() -> None:
    """The mean of 800 values, 409,462.41 / 800, is 511.8280125 exactly; Spark 4.2 gives 511.828012."""
    assert short_averages(np.array([40_946_241]), np.array([800]), 2).tolist() == [511_828_012]


def _state(precision: int, magnitude: float | None) -> GroupState:
    kind = pa.decimal128(precision, 2)
    specification = AggregateSpecification(AccumulatorKind.SUM_WIDE_DECIMAL, ValueForm.AVERAGE, kind)
    parts = {(0, "sum"): pa.array([Decimal("409462.41")] * 2, pa.decimal128(38, 2)), (0, "count"): pa.array([800, 10**6 * 800])}
    if magnitude is not None:
        parts[0, "magnitude"] = pa.array([409462.41, magnitude])
    return GroupState.capture([pa.array([0, 1])], pa.array([800, 10**6 * 800]), parts, (specification,), (pa.int64(),))


@pytest.mark.parametrize(("magnitude", "known"), [(None, [True, False]), (409462.41, [True, True]), (1e14, [True, False])])
def test_what_doubles_do_not_add_exactly_is_not_known(magnitude: float | None, known: list[bool]) -> None:
    state = _state(10, magnitude)
    values = state.value_at(0, np.arange(2))
    assert values.exact.tolist() == known
    assert values.array[0].as_py() == Decimal("511.828012")
    together = state.value_as(state_specification(10), 0, np.arange(2), RollUp(np.zeros(2, np.int64), 1))
    assert together.exact.tolist() == [magnitude == 409462.41]
    interval = state.aggregate_interval(0)
    assert interval.lower[0] <= 511_828_012 / 1e6 <= interval.upper[0] or interval.lower[0] <= 511_828_012 <= interval.upper[0]


def state_specification(precision: int) -> AggregateSpecification:
    return AggregateSpecification(AccumulatorKind.SUM_WIDE_DECIMAL, ValueForm.AVERAGE, pa.decimal128(precision, 2))


def test_which_decimals_are_few_digits() -> None:
    assert sum_kind(pa.decimal128(11, 2), is_average=True) is AccumulatorKind.SUM_WIDE_DECIMAL
    assert sum_kind(pa.decimal128(12, 2), is_average=True) is AccumulatorKind.SUM_DECIMAL
    assert sum_kind(pa.decimal128(11, 2), is_average=False) is AccumulatorKind.SUM_DECIMAL
