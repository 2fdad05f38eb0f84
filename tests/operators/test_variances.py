"""Variances: that Spark's own value lies within the spread however it merges, NULL of one value, and sums that had overflowed.

The two random checks of model.py run in test_group.py. Measured of Spark 4.2: var_samp and stddev_samp of one value are NULL, var_pop and
stddev_pop 0.0, all of no values NULL; decimals and integers are converted to DOUBLE first.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.limbs import as_integers, carried, squares_of
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.aggregates import AggregateSpecification, ValueForm
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, OneCut, Row
from tests.operators.test_group_rows import variance_of
from tests.operators.twin import merged_variance

FORMS = (ValueForm.POPULATION_VARIANCE, ValueForm.SAMPLE_VARIANCE, ValueForm.POPULATION_DEVIATION, ValueForm.SAMPLE_DEVIATION)
SLOT = np.array([0])


def block_of(form: ValueForm, argument: pa.DataType | None = None) -> Block:
    return Block((pa.int32(),), (AggregateSpecification(K.VARIANCE, form, argument or pa.int64()),), RangePartition(pa.int32(), ()))


def rows_of(values: list[int | None]) -> list[Row]:
    return [((1,), (value,)) for value in values]


def value_at(state: OneCut) -> tuple[float | None, float]:
    """Return the value of the only group, which is exact, and its spread."""
    found = state.state.value_at(0, SLOT)
    assert found.exact.tolist() == [True]
    assert found.spread is not None
    return found.array[0].as_py(), float(found.spread[0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [0, 1000, 10**9, 2**53 + 1, 2**58])
def test_what_spark_may_find_is_within_the_spread(form: ValueForm, offset: int) -> None:
    chance = random.Random(offset)
    for _ in range(60):
        values: list[int | None] = [offset + chance.randint(-(10 ** chance.randint(0, 6)), 1000) for _ in range(chance.randint(2, 60))]
        value, spread = value_at(block_of(form).capture(rows_of(values), chance))
        assert value == variance_of(values, form)
        for _ in range(8):
            other = merged_variance([float(each) for each in values if each is not None], form, chance)
            assert other is not None
            assert value is not None
            assert abs(Fraction(other) - Fraction(value)) <= Fraction(spread)


@pytest.mark.parametrize("form", FORMS)
def test_spread_is_small_where_values_are_not_nearly_equal(form: ValueForm) -> None:
    chance = random.Random(3)
    values: list[int | None] = [chance.randint(0, 1000) for _ in range(2000)]
    value, spread = value_at(block_of(form).capture(rows_of(values), chance))
    assert value is not None
    assert spread < 2.5e-10 * value


@pytest.mark.parametrize(("form", "one"), [(FORMS[0], 0.0), (FORMS[1], None), (FORMS[2], 0.0), (FORMS[3], None)])
def test_of_one_value_and_of_none(form: ValueForm, one: float | None) -> None:
    state = block_of(form).capture(rows_of([7, None]), random.Random(1))
    assert value_at(state) == (one, 0.0)
    state.apply(block_of(form).delta([(((1,), (7,)), -1)]))
    assert value_at(state) == (None, 0.0)
    interval = state.aggregate_interval(0)
    assert interval.may_be_null[0]
    assert not interval.may_be_value[0]


def test_squares_that_overflowed_are_unknown_until_the_group_is_empty() -> None:
    block, least = block_of(ValueForm.POPULATION_VARIANCE), -(2**63)
    state = block.capture(rows_of([least, least, 5]), random.Random(1))
    assert state.state.value_at(0, SLOT).exact.tolist() == [False]
    assert state.aggregate_interval(0).upper.tolist() != state.aggregate_interval(0).lower.tolist()
    state.apply(block.delta([(((1,), (least,)), -2), (((1,), (None,)), 1)]))
    assert state.state.value_at(0, SLOT).exact.tolist() == [False]
    state.apply(block.delta([(((1,), (5,)), -1)]))
    state.apply(block.delta([(((1,), (value,)), 1) for value in (1, 2, 3)]))
    assert value_at(state)[0] == 2 / 3


def test_sums_that_grow_beyond_38_digits_here_stay_exact() -> None:
    block, chance = block_of(ValueForm.POPULATION_DEVIATION), random.Random(1)
    state = block.capture(rows_of([2**62, 0]), chance)
    state.apply(block.delta([(((1,), (-(2**63),)), 1), (((1,), (2**63 - 1,)), 1)]))
    assert value_at(state)[0] == variance_of([2**62, 0, -(2**63), 2**63 - 1], ValueForm.POPULATION_DEVIATION)
    state.apply(block.delta([(((1,), (-(2**63),)), -1), (((1,), (2**63 - 1,)), -1)]))
    assert value_at(state)[0] == float(2**61)


def test_contradicting_delta_is_refused_and_changes_nothing() -> None:
    block = block_of(ValueForm.POPULATION_VARIANCE)
    state = block.capture(rows_of([1, 2]), random.Random(1))
    before = state.snapshot()
    with pytest.raises(StateCorrupt, match="other numbers"):
        state.apply(block.delta([(((1,), (5,)), -1)]))
    with pytest.raises(StateCorrupt, match="other numbers"):
        state.apply(block.delta([(((1,), (1,)), -2)]))
    assert state.snapshot() == before


@pytest.mark.parametrize("value", [0, 1, -1, 2**32 - 1, 2**32, -(2**62), 2**63 - 1, -(2**63)])
def test_squares_of_integers(value: int) -> None:
    assert as_integers(carried(squares_of(np.array([value], dtype=np.int64)))).tolist() == [value**2]


def test_a_deviation_is_the_root_of_the_variance() -> None:
    values: list[int | None] = [3, 4, 8]
    variance, _ = value_at(block_of(ValueForm.SAMPLE_VARIANCE).capture(rows_of(values), random.Random(1)))
    deviation, _ = value_at(block_of(ValueForm.SAMPLE_DEVIATION).capture(rows_of(values), random.Random(1)))
    assert variance == 7.0
    assert deviation == math.sqrt(7.0)
