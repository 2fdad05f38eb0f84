"""Rows per group and fragment of an attribute that is no group key: against a twin of counters and against capturing again (model.py)."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.sketch.cells import CapturedCells, CellCut, cell_groups
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.aggregates import AggregateSpecification, ValueForm
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, OneCut, Row, budget, operations, slots_of, step
from tests.operators.twin import canonical

SPECIFICATIONS = (
    AggregateSpecification(K.COUNT_ROWS, ValueForm.TOTAL, None),
    AggregateSpecification(K.SUM_INTEGER, ValueForm.TOTAL, pa.int64()),
    AggregateSpecification(K.MINIMUM, ValueForm.TOTAL, pa.int64()),
)
KEYS = {
    "int": (pa.int32(), st.none() | st.integers(0, 3)),
    "double": (pa.float64(), st.none() | st.sampled_from([0.0, -0.0, math.nan, 1.5])),
    "string": (pa.string(), st.none() | st.sampled_from(["", "a", "ä"])),
}
PARTITION = RangePartition(pa.int64(), (2, 4, 7))


def block_of(kind: str) -> Block:
    return Block((KEYS[kind][0], pa.int64()), SPECIFICATIONS, PARTITION, attribute=2)


def rows_of(kind: str) -> st.SearchStrategy[Row]:
    values = st.tuples(st.none(), st.none() | st.integers(-3, 3), st.none() | st.integers(0, 9))
    return st.tuples(st.tuples(KEYS[kind][1], st.none() | st.integers(0, 1)), values)


def counted(block: Block, rows: list[Row]) -> dict[tuple[Any, ...], Counter[int]]:
    """The twin: rows per fragment by group, counted from scratch and located by comparing with the bounds one after the other."""
    twin: dict[tuple[Any, ...], Counter[int]] = {}
    for row in rows:
        value = row[1][2]
        fragment = len(PARTITION.bounds) + 1 if value is None else sum(value >= bound for bound in PARTITION.bounds)
        twin.setdefault(tuple(canonical(key) for key in row[0]), Counter())[fragment] += 1
    return twin


def check_twin(block: Block, state: OneCut, rows: list[Row], chance: random.Random) -> None:
    twin = counted(block, rows)
    slots = slots_of(state)
    assert slots.keys() == twin.keys()
    assert state.total_rows == len(rows)
    total = sum(twin.values(), Counter())
    assert state.fragment_rows().tolist() == [total[fragment] for fragment in range(PARTITION.fragments)]
    everything = state.sketch(state.alive)
    assert set(everything.members().tolist()) == set(total)
    for _ in range(3):
        chosen = [key for key in slots if chance.random() < 0.4]
        retained = np.zeros(len(state.alive), dtype=bool)
        retained[[slots[key] for key in chosen]] = True
        assert set(state.sketch(retained).members().tolist()) == set().union(*(twin[key] for key in chosen))


def comparable_cells(state: OneCut) -> dict[str, tuple[int, list[tuple[int, int]]]]:
    """Return rows and cells by key."""
    columns = {name: column.to_pylist() for name, column in state.snapshot().items()}
    cells: dict[int, list[tuple[int, int]]] = {}
    for group, fragment, rows in zip(columns["cell_0_group"], columns["cell_0_fragment"], columns["cell_0_rows"], strict=True):
        cells.setdefault(group, []).append((fragment, rows))
    keys = [repr(tuple(map(canonical, key))) for key in zip(columns["key_0"], columns["key_1"], strict=True)]
    return {key: (rows, sorted(cells[group])) for group, (key, rows) in enumerate(zip(keys, columns["rows"], strict=True))}


@pytest.mark.parametrize("kind", sorted(KEYS))
@budget(60)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_stream_agrees_with_twin_and_recapture(kind: str, data: st.DataObject, seed: int) -> None:
    block, chance = block_of(kind), random.Random(seed)
    rows = data.draw(st.lists(rows_of(kind), max_size=12))
    state = block.capture(rows, chance)
    check_twin(block, state, rows, chance)
    for changes in data.draw(operations(rows_of(kind))):
        state.apply(block.delta(step(rows, changes, chance)))
        check_twin(block, state, rows, chance)
        assert comparable_cells(state) == comparable_cells(block.capture(rows, chance))
        restored = block.restore(state.snapshot())
        assert comparable_cells(restored) == comparable_cells(state)
        if chance.random() < 0.5:
            state = restored
            check_twin(block, state, rows, chance)


@pytest.mark.parametrize("seed", range(3))
def test_long_streams_of_many_groups_with_weights(seed: int) -> None:
    """Cells appear, vanish and come back by the hundred in one delta, next to others that only change."""
    chance = np.random.default_rng(seed)
    counts = CellCut.capture(
        CapturedCells(*(np.zeros(0, dtype=np.int64),) * 3), np.zeros(50, dtype=np.int64), RangePartition(pa.int64(), tuple(range(18))), ""
    )
    twin: Counter[tuple[int, int]] = Counter()
    for _ in range(60):
        before = twin.copy()
        places = list(zip(chance.integers(0, 50, 300).tolist(), chance.integers(0, 20, 300).tolist(), strict=True))
        weights = chance.integers(-2, 3, 300).tolist()
        for place, weight in zip(places, weights, strict=True):
            twin[place] += weight
        # What would fall below zero is inserted again.
        for place in [place for place, rows in twin.items() if rows < 0]:
            places.append(place)
            weights.append(-twin[place] if chance.random() < 0.7 else before[place] - twin[place])
            twin[place] += weights[-1]
        slots, fragments = (np.array([place[axis] for place in places]) for axis in range(2))
        counts.prepare(slots, fragments.astype(np.int32), np.array(weights))()
        living = {place: rows for place, rows in twin.items() if rows}
        held = counts.snapshot(np.arange(50))
        cells = list(zip(held.group.tolist(), held.fragment.tolist(), strict=True))
        assert dict(zip(cells, held.rows.tolist(), strict=True)) == living
        assert cells == sorted(cells)
        assert len(counts) == len(living)
        retained = chance.random(50) < 0.1
        expected = {fragment for slot, fragment in living if retained[slot]}
        assert set(counts.sketch(retained).members().tolist()) == expected


def row(key: int | None, attribute: int | None, value: int = 1) -> Row:
    return ((key,), (None, value, attribute))


BLOCK = Block((pa.int32(),), SPECIFICATIONS, PARTITION, attribute=2)


@pytest.mark.parametrize(
    "signed",
    [
        [(row(1, 3), -1), (row(1, 3), -1)],
        [(row(1, 9), -1), (row(1, 3), 1)],
        [(row(2, 0), 1), (row(1, 9), -1)],
        [(row(1, None), -1), (row(1, 0), 1)],
        [(row(3, 0), 1), (row(3, 9), -1)],
    ],
    ids=["more than the cell holds", "other cell of the group", "after a new group", "NULL fragment", "new group"],
)
def test_impossible_delta_changes_nothing(signed: list[tuple[Row, int]]) -> None:
    state = BLOCK.capture([row(1, 3), row(1, 0), row(2, 9)], random.Random(0))
    # With row counts alone nothing but the cells can contradict the delta.
    counted_only = replace(BLOCK, specifications=SPECIFICATIONS[:1]).restore(state.snapshot())
    delta = BLOCK.delta(signed)
    delta = type(delta)(delta.keys, delta.arguments[:1], delta.weights, delta.fragments)
    before = counted_only.snapshot()
    with pytest.raises(StateCorrupt):
        counted_only.apply(delta)
    assert counted_only.snapshot() == before
    assert counted_only.fragment_rows().tolist() == [1, 1, 0, 1, 0]


def test_slot_of_a_dead_group_hands_on_no_cells() -> None:
    state = BLOCK.capture([row(1, 0), row(1, 3), row(2, 9)], random.Random(0))
    state.apply(BLOCK.delta([(row(1, 0), -1), (row(1, 3), -1)]))
    assert state.fragment_rows().tolist() == [0, 0, 0, 1, 0]
    state.apply(BLOCK.delta([(row(5, None), 1)]))
    slot = slots_of(state)[(5,)]
    assert len(state.alive) == 2
    retained = np.arange(2) == slot
    assert state.sketch(retained).members().tolist() == [4]


@pytest.mark.parametrize("delta", [([0], [1], [2]), ([0, 1], [1, 0], [-3, 1]), ([0, 0], [1, 2], [-1, 4])], ids=["more", "dropped", "new"])
def test_prepared_delta_changes_nothing_before_its_commit(delta: tuple[list[int], list[int], list[int]]) -> None:
    cells = CapturedCells.of(pa.array([0, 1]), pa.array([1, 3]), pa.array([3, 2]))
    counts = CellCut.capture(cells, np.array([3, 2]), PARTITION, "")
    commit = counts.prepare(*map(np.array, delta))
    assert counts.snapshot(np.arange(2)).rows.tolist() == [3, 2]
    assert counts.fragment_rows().tolist() == [0, 3, 0, 2, 0]
    commit()
    assert counts.fragment_rows().sum() == 5 + sum(delta[2])


def test_row_that_changes_its_attribute_moves_within_its_group() -> None:
    state = BLOCK.capture([row(1, 0), row(1, 0)], random.Random(0))
    state.apply(BLOCK.delta([(row(1, 0), -1), (row(1, 9), 1)]))
    assert state.rows.tolist() == [2]
    assert state.sketch(state.alive).members().tolist() == [0, 3]


def test_memory_counts_cells() -> None:
    few = BLOCK.capture([row(1, 0)] * 4, random.Random(0))
    many = BLOCK.capture([row(1, value) for value in (0, 3, 5, 9)], random.Random(0))
    assert many.memory - few.memory == 3 * 16


def test_rows_that_pile_up_in_one_range_are_noticed() -> None:
    state = BLOCK.capture([row(key, key % 10) for key in range(100)], random.Random(0))
    assert isinstance(state.cut, CellCut)
    state.apply(BLOCK.delta([(row(key, 8), 1) for key in range(30)]))
    assert not state.cut.has_lost_balance
    state.apply(BLOCK.delta([(row(key, 9), 1) for key in range(60)]))
    assert state.cut.has_lost_balance


def test_delta_without_fragments_is_an_error() -> None:
    state = BLOCK.capture([row(1, 0)], random.Random(0))
    delta = BLOCK.delta([(row(1, 0), 1), (row(1, 0), 1)])
    for fragments in ({}, {BLOCK.name: np.zeros(1, dtype=np.int32)}):
        with pytest.raises(ValueError, match="fragment"):
            state.apply(type(delta)(delta.keys, delta.arguments, delta.weights, fragments))
    assert state.total_rows == 1


@pytest.mark.parametrize("fragment", [-1, 5])
def test_delta_of_an_unknown_fragment_is_corrupt(fragment: int) -> None:
    state = BLOCK.capture([row(1, 0)], random.Random(0))
    delta = BLOCK.delta([(row(1, 0), 1)])
    with pytest.raises(StateCorrupt):
        state.apply(type(delta)(delta.keys, delta.arguments, delta.weights, {BLOCK.name: np.array([fragment], dtype=np.int32)}))
    assert state.fragment_rows().tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "cells",
    [
        ([0, 1], [0, 0], [2, 2]),
        ([0], [0], [2]),
        ([0, 0, 1], [0, 0, 1], [1, 1, 1]),
        ([0, 2], [0, 0], [2, 1]),
        ([0, -1], [0, 0], [2, 1]),
        ([0, 1], [0, 5], [2, 1]),
        ([0, 1], [0, -1], [2, 1]),
        ([0, 0, 1], [0, 1, 1], [3, -1, 1]),
        ([0, 0, 1], [0, 1, 1], [2, 0, 1]),
        ([0, 1], [0, None], [2, 1]),
        ([0, 1], [0, 1], [2, None]),
        ([0, 1], [0], [2, 1]),
    ],
    ids=[
        "too many rows",
        "group without cells",
        "repeated cell",
        "group above",
        "group below",
        "fragment above",
        "fragment below",
        "negative rows",
        "no rows",
        "NULL fragment number",
        "NULL rows",
        "lengths",
    ],
)
def test_contradicting_capture_is_refused(cells: tuple[list[int | None], ...]) -> None:
    columns = {f"cell_0_{name}": pa.array(column, pa.int64()) for name, column in zip(("group", "fragment", "rows"), cells, strict=True)}
    columns |= {"key_0": pa.array([7, 8]), "rows": pa.array([2, 1])}
    with pytest.raises(StateCorrupt):
        Block((pa.int64(),), SPECIFICATIONS[:1], PARTITION, attribute=0).restore(columns)


def test_cells_find_their_groups_as_spark_groups() -> None:
    types = (pa.float64(), pa.string())
    keys = (pa.array([0.0, math.nan, None, 1.5, None]), pa.array(["a", "a", "a", None, None]))
    cells = (pa.array([None, 1.5, -0.0, -math.nan, None, 0.0]), pa.array([None, None, "a", "a", "a", "a"]))
    assert cell_groups(types, keys, cells).tolist() == [4, 3, 0, 1, 2, 0]
    assert cell_groups(types[:1], keys[:1], [pa.array([math.nan])]).tolist() == [1]
    assert cell_groups(types, keys, [pa.array([], pa.float64()), pa.array([], pa.string())]).tolist() == []


@pytest.mark.parametrize("key", [(None, "b"), (2.5, "a"), (math.nan, None)])
def test_cell_of_no_group_is_corrupt(key: tuple[float | None, str | None]) -> None:
    keys = (pa.array([0.0, math.nan, None]), pa.array(["a", "a", "a"]))
    with pytest.raises(StateCorrupt):
        cell_groups((pa.float64(), pa.string()), keys, [pa.array([key[0]], pa.float64()), pa.array([key[1]], pa.string())])
