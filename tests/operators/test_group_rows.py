"""Rows of groups in Spark's types, and the Z-set that a delta makes of them, against the twin and against a start from nothing."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.values.aggregates import OF_MULTISETS, AggregateSpecification, ValueForm
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.ranges import RangePartition
from imp_driver.values.tables import ZSet
from tests.operators.model import Block, Row, budget, leaves_64_bits, operations, step
from tests.operators.test_group import KEYS, MONEY, SPECIFICATIONS, rows_of
from tests.operators.twin import aggregate, canonical, summed_once

Bag = Counter[tuple[Any, ...]]

TYPES = {
    K.COUNT_ROWS: pa.int64(),
    K.COUNT: pa.int64(),
    K.COUNT_DISTINCT: pa.int64(),
    K.SUM_INTEGER: pa.int64(),
    K.SUM_LONG: pa.int64(),
    K.AVERAGE_INTEGER: pa.float64(),
    K.SUM_FLOAT: pa.float64(),
    K.SUM_FLOAT_EXACT: pa.float64(),
    K.PERCENTILE: pa.float64(),
    K.VARIANCE: pa.float64(),
}
"""Spark's, of aggregates whose type is not that of their argument."""


def bag_of(zset: ZSet) -> Bag:
    found: Bag = Counter()
    columns = [column.to_pylist() for column in zset.rows.columns]
    for row, weight in zip(zip(*columns, strict=True), zset.weights.tolist(), strict=True):
        found[tuple(map(canonical, row))] += weight
    return found


def value_of(specification: AggregateSpecification, values: list[Any], chance: random.Random) -> Any:
    """Return what rows have: Spark's value, but for doubles the correctly rounded sum."""
    present = [value for value in values if value is not None]
    if specification.kind is K.SUM_DISTINCT:
        return value_of(summed_once(specification), list({canonical(value): value for value in present}.values()), chance)
    if specification.kind is K.VARIANCE:
        return variance_of(present, specification.form)
    if specification.kind is not K.SUM_FLOAT_EXACT or not present or not all(map(math.isfinite, present)):
        return aggregate(specification, values, chance)
    total = math.fsum(present)
    return total / len(present) if specification.form is ValueForm.AVERAGE else total


def variance_of(present: list[Any], form: ValueForm) -> float | None:
    """Return the nearest double of a variance, or its square root."""
    divisor = len(present) - (form in (ValueForm.SAMPLE_VARIANCE, ValueForm.SAMPLE_DEVIATION))
    if not present or divisor < 1:
        return None
    mean = sum(map(Fraction, present), Fraction(0)) / len(present)
    variance = float(sum(((Fraction(value) - mean) ** 2 for value in present), Fraction(0)) / divisor)
    return math.sqrt(variance) if form in (ValueForm.POPULATION_DEVIATION, ValueForm.SAMPLE_DEVIATION) else variance


def twin(block: Block, rows: list[Row], chance: random.Random) -> Bag:
    found: Bag = Counter()
    for key, group in block.groups(rows).items():
        values = [
            canonical(value_of(specification, [row[1][place] for row in group], chance))
            for place, specification in enumerate(block.specifications)
        ]
        found[(*key, *values)] = 1
    return found


def difference(new: Bag, old: Bag) -> Bag:
    found = Counter(new)
    found.subtract(old)
    return Counter({row: weight for row, weight in found.items() if weight})


def must_be_exact(specification: AggregateSpecification, values: list[Any]) -> bool:
    present = [value for value in values if value is not None]
    if not present or specification.kind in (K.COUNT_ROWS, K.COUNT, K.COUNT_DISTINCT, K.SUM_INTEGER):
        return True
    if specification.kind is K.SUM_DISTINCT:
        return must_be_exact(summed_once(specification), list({canonical(value): value for value in present}.values()))
    if specification.kind is K.VARIANCE:
        return sum(Fraction(value) ** 2 for value in present) < 2**120
    if specification.kind in (K.MINIMUM, K.MAXIMUM, K.BOOLEAN_AND, K.BOOLEAN_OR) or specification.kind in OF_MULTISETS:
        return True
    if specification.kind is K.AVERAGE_INTEGER:
        return bool(sum(map(abs, present)) < 2**52)
    if specification.kind is K.SUM_LONG:
        return bool(sum(map(abs, present)) < 2**62)
    if specification.kind is K.SUM_WIDE_DECIMAL:
        return bool(sum(map(abs, present)) < 10**34)
    return specification.kind is K.SUM_DECIMAL and specification.argument_type == MONEY


def lost_at_capture(block: Block, rows: list[Row]) -> set[Any]:
    """Return the groups whose captured sum, of values or of squares, may have overflowed: it comes back only when the group does."""
    [specification] = block.specifications
    if specification.kind not in (K.SUM_WIDE_DECIMAL, K.VARIANCE):
        return set()
    return {key for key, group in block.groups(rows).items() if not must_be_exact(specification, [row[1][0] for row in group])}


@pytest.mark.parametrize("place", range(len(SPECIFICATIONS)))
@budget(12)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_rows_and_their_changes_are_those_of_the_twin(place: int, data: st.DataObject, seed: int) -> None:
    chance = random.Random(seed)
    kind = chance.choice(sorted(KEYS))
    specification = SPECIFICATIONS[place]
    block = Block((KEYS[kind][0], pa.int64()), (specification,), RangePartition(KEYS[kind][0], ()))
    rows = rows_of(kind).map(lambda row: (row[0], (row[1][place],)))
    # Few enough that no buffer of an extremum runs dry.
    current = data.draw(st.lists(rows, max_size=4))
    state = block.capture(current, chance).state
    lost = lost_at_capture(block, current)
    for changes in data.draw(operations(rows).map(lambda deltas: [each[:2] for each in deltas])):
        old, before = twin(block, current, chance), list(current)
        signed = step(current, changes, chance)
        new = twin(block, current, chance)
        if leaves_64_bits(block, before, signed):
            with pytest.raises(StateCorrupt, match="leaves 64 bits"):
                state.apply(block.delta(signed))
            state, lost = block.capture(current, chance).state, lost_at_capture(block, current)
            continue
        change = state.apply(block.delta(signed))
        again = GroupState.empty(block.specifications, block.key_types)
        if leaves_64_bits(block, [], [(row, 1) for row in current]):
            continue
        again.apply(block.delta([(row, 1) for row in current]))
        for key, group in block.groups(current).items():
            values = [row[1][0] for row in group]
            for each in (state, again):
                found = each.rows_at(np.array([_slot(each, key)]))
                assert found is not None or not must_be_exact(specification, values) or (each is state and key in lost)
                if found is not None:
                    assert bag_of(found) == twin(block, group, chance)
                    assert found.rows.schema.types[-1] == _type(specification)
        if not lost and all(must_be_exact(specification, [row[1][0] for row in group]) for group in block.groups(current).values()):
            whole = state.rows_at(np.flatnonzero(state.alive))
            assert whole is not None
            assert bag_of(whole) == new
        if change is not None:
            assert bag_of(change) == difference(new, old)


def _slot(state: GroupState, key: tuple[Any, ...]) -> int:
    living = np.flatnonzero(state.alive)
    keys = zip(*(map(canonical, state.key_values(place, living).to_pylist()) for place in range(len(key))), strict=True)
    return int(dict(zip(keys, living.tolist(), strict=True))[key])


def _type(specification: AggregateSpecification) -> pa.DataType:
    argument = specification.argument_type
    if specification.kind is K.SUM_DISTINCT:
        return _type(summed_once(specification))
    if specification.kind is K.SUM_DECIMAL:
        assert argument is not None
        more = 4 if specification.form is ValueForm.AVERAGE else 0
        return pa.decimal128(argument.precision + (4 if more else 10), argument.scale + more)
    return TYPES.get(specification.kind, argument)


def is_doubtful(values: list[float | None]) -> bool:
    """Say whether what is left below the finest grid might decide a sum: near the middle between two doubles, or next to nothing."""
    exact = sum((Fraction(value) for value in values if value is not None), Fraction(0))
    nearest = float(exact)
    return abs(nearest) < 1e-3 or abs(exact - Fraction(nearest)) > Fraction(math.ulp(nearest)) * Fraction(2**20 - 1, 2**21)


@pytest.mark.parametrize("form", [ValueForm.TOTAL, ValueForm.AVERAGE])
@budget(25)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_sums_of_usual_doubles_are_known_after_any_changes(form: ValueForm, data: st.DataObject, seed: int) -> None:
    """Prices, measures and large numbers with signs: what comes and goes leaves the sum that a new capture would have, to the last bit."""
    chance = random.Random(seed)
    block = Block((pa.int32(),), (AggregateSpecification(K.SUM_FLOAT_EXACT, form, pa.float64()),), RangePartition(pa.int32(), ()))
    numbers = st.none() | st.sampled_from([0.1, -0.1, 19.99, 1e9 + 0.01, -1e15, 1e15, 2.5e-3, 123456.789]) | st.floats(-1e12, 1e12)
    rows = st.tuples(st.tuples(st.integers(0, 1)), st.tuples(numbers))
    current = data.draw(st.lists(rows, max_size=6))
    state = block.capture(current, chance).state
    for changes in data.draw(operations(rows).map(lambda deltas: [each[:2] for each in deltas])):
        state.apply(block.delta(step(current, changes, chance)))
        known = state.rows_at(np.flatnonzero(state.alive))
        assert known is not None or any(is_doubtful([row[1][0] for row in group]) for group in block.groups(current).values())
        if known is not None:
            assert bag_of(known) == twin(block, current, chance)


MINIMUM = Block((pa.int32(),), (AggregateSpecification(K.MINIMUM, ValueForm.TOTAL, pa.int64()),), RangePartition(pa.int32(), ()))


def test_a_minimum_that_is_known_between_bounds_only_is_no_row() -> None:
    state = MINIMUM.capture([((1,), (value,)) for value in range(40)], random.Random(1)).state
    assert state.apply(MINIMUM.delta([(((1,), (value,)), -1) for value in range(16)])) is None
    assert state.rows_at(np.array([0])) is None
    # The delta was applied all the same.
    assert state.total_rows == 24


def test_a_delta_that_cancels_changes_no_row() -> None:
    state = MINIMUM.capture([((1,), (5,)), ((1,), (7,))], random.Random(1)).state
    change = state.apply(MINIMUM.delta([(((1,), (7,)), -1), (((1,), (9,)), 1), (((2,), (3,)), 1)]))
    assert change is not None
    assert bag_of(change) == {(2, 3): 1}
    change = state.apply(MINIMUM.delta([(((1,), (5,)), -1), (((2,), (3,)), -1)]))
    assert change is not None
    assert bag_of(change) == {(1, 5): -1, (1, 9): 1, (2, 3): -1}
