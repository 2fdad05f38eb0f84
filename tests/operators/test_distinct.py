"""count(DISTINCT): long streams against sets from scratch, contradictions, and numbers of values that are used again.

The two random checks of model.py run in test_group.py.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.distinct import DistinctCount
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, Row, slots_of

BLOCK = Block(
    (pa.int32(),), (AggregateSpecification(AccumulatorKind.COUNT_DISTINCT, ValueForm.TOTAL, pa.string()),), RangePartition(pa.int32(), (5,))
)


def row(key: int, value: str | None) -> Row:
    return ((key,), (value,))


@pytest.mark.parametrize("seed", range(3))
def test_long_streams_against_sets(seed: int) -> None:
    chance = random.Random(seed)
    state, current = BLOCK.capture([], chance), Counter[tuple[int, str | None]]()
    for _ in range(40):
        signed = []
        for _ in range(chance.randrange(120)):
            place = (chance.randrange(12), chance.choice([None, *"abcdefghij"]))
            weight = chance.choice([-current[place], -1, 1, 2])
            if weight and current[place] + weight >= 0:
                current[place] += weight
                signed.append((row(*place), weight))
        state.apply(BLOCK.delta(signed))
        sets: dict[Any, set[str | None]] = {}
        for (key, value), rows in current.items():
            if rows:
                sets.setdefault((key,), set()).add(value)
        slots, interval = slots_of(state), state.aggregate_interval(0)
        assert slots.keys() == sets.keys()
        for key, values in sets.items():
            assert interval.lower[slots[key]] == interval.upper[slots[key]] == len(values - {None})


@pytest.mark.parametrize(
    "signed",
    [[(row(1, "b"), -1)], [(row(1, "a"), -2), (row(1, "b"), 1)], [(row(1, "c"), -1), (row(1, "d"), 1)]],
    ids=["value of another group", "more often than it was there", "value that no group has"],
)
def test_a_contradiction_is_refused_and_changes_nothing(signed: list[tuple[Row, int]]) -> None:
    state = BLOCK.capture([row(1, "a"), row(1, None), row(2, "b")], random.Random(0))
    before = state.snapshot()
    with pytest.raises(StateCorrupt):
        state.apply(BLOCK.delta([(row(2, "new"), 1), *signed]))
    assert state.snapshot() == before
    state.apply(BLOCK.delta([(row(2, "other"), 1)]))
    assert state.aggregate_interval(0).lower.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("values", "copies"), [(["a", "a"], [1, 1]), (["a"], [1]), (["a", None], [1, 1]), (["a", "b"], [2])])
def test_captured_values_must_fit_their_count(values: list[str], copies: list[int]) -> None:
    parts = {
        "count": pa.array([2]),
        "values": pa.array([values], type=pa.list_(pa.string())),
        "copies": pa.array([copies], type=pa.list_(pa.int64())),
    }
    with pytest.raises(StateCorrupt):
        DistinctCount.load(parts, np.array([2]), pa.string())


def test_numbers_of_values_that_are_gone_are_used_again() -> None:
    state = BLOCK.capture([row(1, "kept")], random.Random(0))
    sizes = []
    for round_number in range(30):
        fresh = [row(1, f"{round_number:02} {place}") for place in range(50)]
        state.apply(BLOCK.delta([(each, 1) for each in fresh]))
        sizes.append(state.memory)
        state.apply(BLOCK.delta([(each, -1) for each in fresh]))
    assert sizes[-1] == sizes[1]
    assert np.array_equal(state.aggregate_interval(0).lower, [1.0])
