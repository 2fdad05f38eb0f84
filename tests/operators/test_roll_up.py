"""Groups that fall together, added up from what the accumulators hold: against the twin, computed from the rows themselves."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.aggregates import AggregateSpecification, ValueForm
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, Row, budget, leaves_64_bits, operations, step
from tests.operators.test_group import KEYS, SPECIFICATIONS, rows_of
from tests.operators.test_group_rows import lost_at_capture, must_be_exact, value_of
from tests.operators.twin import canonical


def coarser(state: GroupState, modulus: int) -> tuple[IntegerArray, RollUp]:
    """Leave out the groups whose second key is NULL, and put those together whose first keys have numbers of one remainder."""
    slots = np.flatnonzero(state.alive & state_mask(state))
    return slots, RollUp(np.array([number_of(key, modulus) for key in first_keys(state, slots)], dtype=np.int64), modulus)


def state_mask(state: GroupState) -> BooleanArray:
    mask = np.zeros(len(state.alive), dtype=bool)
    living = np.flatnonzero(state.alive)
    mask[living] = state.key_values(1, living).is_valid().to_numpy(zero_copy_only=False)
    return mask


def first_keys(state: GroupState, slots: IntegerArray) -> list[object]:
    return [canonical(key) for key in state.key_values(0, slots).to_pylist()]


def number_of(key: object, modulus: int) -> int:
    return len(repr(key)) % modulus


@pytest.mark.parametrize("place", range(len(SPECIFICATIONS)))
@budget(15)
@given(data=st.data(), seed=st.integers(0, 2**32), modulus=st.integers(1, 3))
def test_coarser_groups_are_those_of_their_rows(place: int, data: st.DataObject, seed: int, modulus: int) -> None:
    chance = random.Random(seed)
    kind = chance.choice(sorted(KEYS))
    specification = SPECIFICATIONS[place]
    block = Block((KEYS[kind][0], pa.int64()), (specification,), RangePartition(KEYS[kind][0], ()))
    rows = rows_of(kind).map(lambda row: (row[0], (row[1][place],)))
    current: list[Row] = data.draw(st.lists(rows, max_size=12))
    if leaves_64_bits(block, [], [(row, 1) for row in current]):
        return
    state = block.capture(current, chance).state
    lost = lost_at_capture(block, current)
    for changes in [[], *data.draw(operations(rows).map(lambda deltas: [each[:2] for each in deltas]))]:
        try:
            state.apply(block.delta(step(current, changes, chance)))
        except StateCorrupt:
            return
        slots, groups = coarser(state, modulus)
        found = state.value_as(specification, 0, slots, groups)
        every = np.flatnonzero(state.alive)
        copied = state.copy_of(specification, 0, every).rolled_up(state.rows[slots], np.searchsorted(every, slots), groups)
        for number in range(modulus):
            if found.exact[number] and copied.exact[number]:
                assert canonical(copied.array[number].as_py()) == canonical(found.array[number].as_py())
            values = [row[1][0] for row in current if row[0][1] is not None and number_of(canonical(row[0][0]), modulus) == number]
            if found.exact[number]:
                assert canonical(found.array[number].as_py()) == canonical(value_of(specification, values, chance))
            else:
                assert lost or not must_be_exact(specification, values) or is_dry(specification, len(current))


def is_dry(specification: AggregateSpecification, rows: int) -> bool:
    """Say whether the buffer of an extremum may have lost all its values: not of so few rows."""
    return specification.kind in (K.MINIMUM, K.MAXIMUM) and rows > 16


@pytest.mark.parametrize(("other", "expected"), [(7, 7), (15, 15), (16, None), (50, None)])
def test_a_dry_minimum_matters_where_its_bound_is_below_what_is_known(other: int, expected: int | None) -> None:
    """Of 40 values the 16 least go, after which only the bound of the rest is known, 15."""
    block = Block((pa.int32(),), (AggregateSpecification(K.MINIMUM, ValueForm.TOTAL, pa.int64()),), RangePartition(pa.int32(), ()))
    rows: list[Row] = [((1,), (value,)) for value in range(40)]
    state = block.capture([*rows, ((2,), (other,))], random.Random(1)).state
    state.apply(block.delta([(((1,), (value,)), -1) for value in range(16)]))
    slots = np.flatnonzero(state.alive)
    found = state.value_as(block.specifications[0], 0, slots, RollUp(np.zeros(len(slots), dtype=np.int64), 1))
    assert found.exact.tolist() == [expected is not None]
    assert expected is None or found.array.to_pylist() == [expected]
