"""Sums of doubles: the interval must hold the answer of every order of summation, however long the state has been maintained.

The twin adds in random orders and nestings. Twin and state share Python's doubles, which are Spark's.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.capture.capture import parts_of
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.aggregates import AggregateSpecification, ValueForm
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, Row, budget, inside
from tests.operators.twin import added

DOUBLE = pa.float64()
BLOCK = Block(
    (pa.int32(),),
    (
        AggregateSpecification(K.SUM_FLOAT, ValueForm.TOTAL, DOUBLE),
        AggregateSpecification(K.SUM_FLOAT, ValueForm.AVERAGE, DOUBLE),
        AggregateSpecification(K.AVERAGE_INTEGER, ValueForm.AVERAGE, pa.int64()),
    ),
    RangePartition(pa.int32(), ()),
)


def row(value: float, whole: int = 0) -> Row:
    return (1,), (value, value, whole)


values = st.floats(-1e9, 1e9) | st.sampled_from([1e16, -1e16, 0.1, 5e-324, 1e300, -1e300])
wholes = st.integers(-(2**40), 2**40) | st.integers(-(2**61), 2**61)
pairs = st.builds(row, values, wholes)


@budget(80)
@given(
    first=st.lists(pairs, min_size=1, max_size=20),
    steps=st.lists(st.tuples(st.lists(pairs, max_size=6), st.integers(0, 6)), max_size=8),
    seed=st.integers(0, 2**32),
)
def test_every_order_of_summation_is_inside(first: list[Row], steps: list[tuple[list[Row], int]], seed: int) -> None:
    chance = random.Random(seed)
    current = list(first)
    state = BLOCK.capture(current, chance)
    for inserted, deletions in steps:
        signed = [(new, 1) for new in inserted]
        for _ in range(min(deletions, len(current) - 1)):
            signed.append((current.pop(chance.randrange(len(current))), -1))
        current += inserted
        state.apply(BLOCK.delta(signed))
    sums, averages, integer_averages = (state.aggregate_interval(index) for index in range(3))
    for _ in range(10):
        total = added([entry[1][0] for entry in current], chance)
        assert inside(total, sums.lower[0], sums.upper[0])
        assert inside(total / len(current), averages.lower[0], averages.upper[0])
        whole = added([float(entry[1][2]) for entry in current], chance) / len(current)
        assert inside(whole, integer_averages.lower[0], integer_averages.upper[0])


def test_interval_is_narrow() -> None:
    chance = random.Random(1)
    current = [row(chance.random(), chance.randrange(1000)) for _ in range(1000)]
    state = BLOCK.capture(current, chance)
    for _ in range(50):
        changed = [(row(chance.random(), 7), 1) for _ in range(20)]
        state.apply(BLOCK.delta(changed + [(current.pop(), -1) for _ in range(20)]))
    sums, integer_averages = state.aggregate_interval(0), state.aggregate_interval(2)
    assert 0 < sums.upper[0] - sums.lower[0] < 1e-9
    assert integer_averages.lower[0] == integer_averages.upper[0]
    assert state.inexact_groups == 0


def test_nonfinite_is_unknown_until_it_is_gone() -> None:
    state = BLOCK.capture([row(1.0), row(math.inf)], random.Random(0))
    assert math.isnan(state.aggregate_interval(0).upper[0])
    state.apply(BLOCK.delta([(row(math.inf), -1)]))
    assert state.aggregate_interval(0).lower.tolist() == [1.0]
    assert state.aggregate_interval(0).upper.tolist() == [1.0]


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_rows_leave_a_group_of_which_only_is_known_that_it_has_such_a_value(special: float) -> None:
    """A sum that is NaN or infinite does not tell of how many values, so a capture says all of them."""
    specifications = BLOCK.specifications[:1]
    block = Block(BLOCK.key_types, specifications, BLOCK.partition)

    def one(value: float) -> Row:
        return (1,), (value,)

    captured = pa.table({"aggregate_0_count": [3], "aggregate_0_sum": [special], "aggregate_0_magnitude": [abs(special)]})
    state = GroupState.capture(
        [pa.array([1], pa.int32())], pa.array([3]), parts_of(captured, specifications), specifications, BLOCK.key_types
    )
    for value in (1.0, special):
        state.apply(block.delta([(one(value), -1), (one(7.0), 1), (one(7.0), -1)]))
        assert math.isnan(state.aggregate_interval(0).upper[0])
    state.apply(block.delta([(one(2.0), -1), (one(5.0), 1)]))
    assert math.isnan(state.aggregate_interval(0).upper[0])
    state.apply(block.delta([(one(5.0), -1)]))
    assert not state.alive.any()
    state.apply(block.delta([(one(3.0), 1)]))
    assert state.aggregate_interval(0).lower.tolist() == [3.0]


def test_large_value_that_left_shows_as_drift() -> None:
    state = BLOCK.capture([row(1.0), row(0.1), row(1e300)], random.Random(0))
    state.apply(BLOCK.delta([(row(1e300), -1)]))
    interval = state.aggregate_interval(0)
    assert inside(1.1, interval.lower[0], interval.upper[0])
    assert state.inexact_groups == 1


def test_rounding_of_maintenance_itself_is_covered() -> None:
    state = BLOCK.capture([row(0.1)], random.Random(0))
    for sign in (1, -1):
        state.apply(BLOCK.delta([(row(1e16), sign)]))
    interval = state.aggregate_interval(0)
    assert inside(0.1, interval.lower[0], interval.upper[0])
    assert interval.lower[0] < interval.upper[0]


def test_deleting_more_than_was_summed_is_refused() -> None:
    state = BLOCK.capture([row(1.0), row(2.0)], random.Random(0))
    with pytest.raises(StateCorrupt):
        state.apply(BLOCK.delta([(row(50.0), -1)]))


ROUNDED = Block(
    BLOCK.key_types,
    tuple(AggregateSpecification(K.SUM_FLOAT_EXACT, form, DOUBLE) for form in (ValueForm.TOTAL, ValueForm.AVERAGE)),
    BLOCK.partition,
)


def _drawn(chance: random.Random, count: int, *, is_mixed: bool) -> list[Row]:
    """Values of usual sizes, whose sums lie half between two doubles once in a while."""

    def one() -> float:
        usual = chance.gauss(100, 5)
        return chance.choice([usual, chance.gauss(0, 1), chance.randrange(1000) / 100, 2.0**-14, 1e15]) if is_mixed else usual

    return [((1,), (number, number)) for number in (one() for _ in range(count))]


def test_sums_of_values_of_usual_size_are_always_known() -> None:
    chance = random.Random(3)
    halves = 0
    for number in range(150):
        current = _drawn(chance, chance.randint(1, 40), is_mixed=number % 2 == 0)
        state = ROUNDED.capture(current, chance)
        for _ in range(3):
            inserted = _drawn(chance, 3, is_mixed=number % 2 == 0)
            left = [current.pop(chance.randrange(len(current))) for _ in range(chance.randrange(2))] if len(current) > 2 else []
            current += inserted
            state.apply(ROUNDED.delta([*((each, 1) for each in inserted), *((each, -1) for each in left)]))
            numbers = [each[1][0] for each in current]
            exact = sum(map(Fraction, numbers))
            halves += abs(exact - Fraction(math.fsum(numbers))) == Fraction(math.ulp(math.fsum(numbers))) / 2
            for place, divisor in ((0, 1), (1, len(numbers))):
                found = state.state.value_at(place, np.array([0]))
                assert found.exact.all()
                assert found.array.to_pylist() == [math.fsum(numbers) / divisor]
    assert halves > 5


def test_tiny_values_are_counted_until_they_are_gone() -> None:
    tiny = [((1,), (number, number)) for number in (1e-30, 2.0**-70, 5e-324)]
    current: list[Row] = [((1,), (0.1, 0.1)), *tiny]
    state = ROUNDED.capture(current, random.Random(0))
    assert state.state.value_at(0, np.array([0])).array.to_pylist() == [0.1]
    state.apply(ROUNDED.delta([(each, -1) for each in tiny]))
    one = state.state.value_at(0, np.array([0]))
    assert one.exact.all()
    # Half between two doubles: nothing but exact sums tells the even one.
    half = math.ulp(1.0) / 2
    state.apply(ROUNDED.delta([(((1,), (0.1, 0.1)), -1), (((1,), (1.0, 1.0)), 1), (((1,), (half, half)), 1)]))
    found = state.state.value_at(0, np.array([0]))
    assert found.exact.all()
    assert found.array.to_pylist() == [1.0]
