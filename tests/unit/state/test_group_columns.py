"""Columns of groups: what is in them stays as it was, whatever becomes of the groups."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt, Values
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.aggregate.touched import MOST_STEPS, TouchedSlots
from imp_driver.snapshot.vector import TableState, Vector
from imp_driver.state import group_columns
from imp_driver.state.group_columns import ColumnCache, NotThere, ReadGroups
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ProjectedRows, ValueForm
from imp_driver.values.codes import IntegerArray
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, Row, budget, operations, step
from tests.operators.test_group import KEYS, SPECIFICATIONS, rows_of
from tests.operators.twin import canonical


def _vector(version: int) -> Vector:
    return {"/t": TableState("t", version, None)}


def _seen(groups: ReadGroups, specification: AggregateSpecification) -> list[object]:
    places = np.flatnonzero(groups.alive)
    values = groups.value_as(specification, 0, places)
    # The first time it is read from the state, from the second on from a copy.
    one = RollUp(np.zeros(len(places), dtype=np.int64), 1)
    _, whole = (groups.rolled_up(specification, 0, places, one) for _ in range(2))
    keys = [map(canonical, groups.key_values(each, places).to_pylist()) for each in (0, 1)]
    spread = [] if values.spread is None else values.spread.tolist()
    return [
        *map(list, keys),
        list(map(canonical, values.array.to_pylist())),
        values.exact.tolist(),
        spread,
        whole.exact.tolist(),
        list(map(canonical, whole.array.to_pylist())),
        *(_together(groups, keys, some) for some in (places, places[::2]) for keys in ((0,), (1,), (1, 0))),
    ]


def _together(groups: ReadGroups, keys: tuple[int, ...], places: IntegerArray) -> list[object]:
    """Return of how many of some groups coarser ones are, by their keys."""
    for _ in range(2):
        fallen, found = groups.together(keys, places)
    assert all(len(key) == fallen.count for key in found)
    named = zip(*(map(canonical, key.to_pylist()) for key in found), strict=True)
    sizes = dict(zip(named, fallen.sizes.tolist(), strict=True))
    # Each group falls to where its own keys are.
    own = zip(*(map(canonical, groups.key_values(key, places).to_pylist()) for key in keys), strict=True)
    assert list(own) == [list(sizes)[number] for number in fallen.numbers]
    return sorted(sizes.items(), key=repr)


@pytest.mark.parametrize("place", range(len(SPECIFICATIONS)))
@budget(10)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_a_step_changes_no_column(place: int, data: st.DataObject, seed: int) -> None:
    chance = random.Random(seed)
    kind = chance.choice(sorted(KEYS))
    block = Block((KEYS[kind][0], pa.int64()), (SPECIFICATIONS[place],), RangePartition(KEYS[kind][0], ()))
    rows = rows_of(kind).map(lambda row: (row[0], (row[1][place],)))
    current: list[Row] = data.draw(st.lists(rows, max_size=8))
    cache = ColumnCache()
    with suppress(StateCorrupt):
        state, kept = block.capture(current, chance).state, []
        for version, changes in enumerate(data.draw(operations(rows).map(lambda deltas: [each[:2] for each in deltas]))):
            kept.append((cache.of(state, _vector(version)), _seen(cache.of(state, _vector(version)), SPECIFICATIONS[place])))
            assert cache.at(_vector(version)) is not None
            assert cache.at(_vector(version + 1)) is None
            state.apply(block.delta(step(current, changes, chance)))
            assert [_seen(groups, SPECIFICATIONS[place]) for groups, _ in kept] == [seen for _, seen in kept]


@pytest.mark.parametrize("place", range(len(SPECIFICATIONS)))
@budget(10)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_columns_that_are_taken_over_are_those_that_are_made_anew(place: int, data: st.DataObject, seed: int) -> None:
    chance = random.Random(seed)
    kind = chance.choice(sorted(KEYS))
    block = Block((KEYS[kind][0], pa.int64()), (SPECIFICATIONS[place],), RangePartition(KEYS[kind][0], ()))
    rows = rows_of(kind).map(lambda row: (row[0], (row[1][place],)))
    current: list[Row] = data.draw(st.lists(rows, max_size=8))
    cache = ColumnCache()
    with suppress(StateCorrupt), patch.object(group_columns, "MOST_TOUCHED", 0):
        state = block.capture(current, chance).state
        for version, changes in enumerate(data.draw(operations(rows).map(lambda deltas: [each[:2] for each in deltas]))):
            assert _seen(cache.of(state, _vector(version)), SPECIFICATIONS[place]) == _seen(
                ColumnCache().of(state, _vector(version)), SPECIFICATIONS[place]
            )
            # Now and then nobody reads between two steps.
            for _ in range(chance.choice([1, 1, 2])):
                state.apply(block.delta(step(current, changes, chance)))
                changes = []


def test_only_what_was_touched_is_computed_anew() -> None:
    cache, count = ColumnCache(), 100
    specification = AggregateSpecification(AccumulatorKind.SUM_INTEGER, ValueForm.TOTAL, pa.int64())
    parts = {(0, "sum"): pa.array(range(count), pa.decimal128(38, 0)), (0, "count"): pa.array([1] * count)}
    state = GroupState.capture([pa.array(range(count), pa.int32())], pa.array([1] * count), parts, (specification,), (pa.int32(),))
    places = np.arange(count)
    before = cache.of(state, _vector(1)).value_as(specification, 0, places).array
    state.apply(ProjectedRows((pa.array([3, 200], pa.int32()),), (pa.array([10, 7]),), np.array([1, 1])))
    read: list[int] = []
    whole = GroupState.value_as

    def counted(self: GroupState, specification: AggregateSpecification, index: int, slots: IntegerArray, groups: object = None) -> Values:
        read.append(len(slots))
        return whole(self, specification, index, slots)

    with patch.object(GroupState, "value_as", counted):
        after = cache.of(state, _vector(2)).value_as(specification, 0, np.arange(count + 1)).array
    assert read == [2]
    assert before.to_pylist() == list(range(count))
    assert after.to_pylist() == [13 if each == 3 else each for each in range(count)] + [7]


def test_marks_of_another_state_and_of_long_ago_tell_nothing() -> None:
    touched, other = TouchedSlots(), TouchedSlots()
    mark = touched.mark
    assert other.since(mark) is None
    for number in range(MOST_STEPS):
        touched.note(np.array([number, 0]))
    found = touched.since(mark)
    assert found is not None
    assert found.tolist() == list(range(MOST_STEPS))
    touched.note(np.array([1]))
    assert touched.since(mark) is None
    assert touched.since(touched.mark) is not None


def _state() -> GroupState:
    """Return groups whose keys are numbered in their order."""
    keys, specification = pa.array(range(10), pa.int32()), SPECIFICATIONS[0]
    return GroupState.capture([keys], pa.array([1] * 10), {}, (specification,), (pa.int32(),))


def test_who_does_not_hold_the_relation_reads_what_is_there() -> None:
    cache, state = ColumnCache(), _state()
    cache.of(state, _vector(1)).key_values(0, np.arange(10))
    groups = cache.at(_vector(1))
    assert groups is not None
    assert groups.key_values(0, np.array([7, 2])).to_pylist() == [7, 2]
    with pytest.raises(NotThere):
        groups.value_as(SPECIFICATIONS[0], 0, np.arange(10))


FEW = np.array([3, 8])
READS: dict[str, Callable[[ReadGroups], pa.Array]] = {
    "keys": lambda groups: groups.key_values(0, FEW),
    "values": lambda groups: groups.value_as(SPECIFICATIONS[0], 0, FEW).array,
    "together": lambda groups: groups.together((0,), FEW)[1][0],
    "coarser": lambda groups: groups.rolled_up(SPECIFICATIONS[0], 0, FEW, RollUp(np.zeros(2, dtype=np.int64), 1)).array,
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_of_few_groups_is_kept_when_it_is_asked_for_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_columns, "QUICKLY_MADE", 1)
    read, cache, state = READS[name], ColumnCache(), _state()
    held = cache.of(state, _vector(1))
    free = cache.at(_vector(1))
    assert free is not None
    for _ in range(2):
        # Who is turned away has not read it.
        with pytest.raises(NotThere):
            read(free)
    first, alone = read(held), cache.memory
    with pytest.raises(NotThere):
        read(free)
    assert cache.memory == alone
    assert read(held) == first
    assert cache.memory > alone
    assert read(free) == first
    cache.clear()
    assert (cache.memory, cache.at(_vector(1))) == (0, None)
