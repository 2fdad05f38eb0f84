"""Buffers of min and max that overflow and run dry, against the twin (a sorted list) and against recomputation.

Groups are larger than the buffer and the domain small, so that duplicates straddle the bound.
"""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.values.aggregates import BUFFER_SIZE, AggregateSpecification, ValueForm
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, Row, budget, inside

BLOCKS = {
    name: Block(
        (pa.int32(),),
        (AggregateSpecification(K.MINIMUM, ValueForm.TOTAL, kind), AggregateSpecification(K.MAXIMUM, ValueForm.TOTAL, kind)),
        RangePartition(pa.int32(), ()),
    )
    for name, kind in {"integers": pa.int64(), "strings": pa.string()}.items()
}


def row(name: str, value: int) -> Row:
    shown: Any = f"{value:04d}" if name == "strings" else value
    return (1,), (shown, shown)


@pytest.mark.parametrize("name", sorted(BLOCKS))
@budget(60)
@given(
    values=st.lists(st.integers(0, 12), min_size=BUFFER_SIZE, max_size=4 * BUFFER_SIZE),
    deltas=st.lists(
        st.tuples(st.lists(st.integers(0, 12), max_size=20), st.lists(st.integers(0, 10**6), max_size=30), st.booleans()), max_size=5
    ),
    seed=st.integers(0, 2**32),
)
def test_value_stays_inside_and_a_full_buffer_is_exact(name: str, values: list[int], deltas: Any, seed: int) -> None:
    chance = random.Random(seed)
    block, current = BLOCKS[name], list(values)
    state = block.capture([row(name, value) for value in current], chance)
    removed = [0, 0]
    for inserted, positions, from_the_end in deltas:
        signed = [(row(name, value), 1) for value in inserted]
        current.sort()
        for position in positions:
            # Deleting at the ends drains the buffers; deleting anywhere tests the count.
            if len(current) > 1:
                victim = current.pop(0 if from_the_end else position % len(current))
                signed.append((row(name, victim), -1))
                removed = [count + 1 for count in removed]
        current += inserted
        state.apply(block.delta(signed))
        for index, extreme in ((0, min(current)), (1, max(current))):
            interval = state.aggregate_interval(index)
            value = row(name, extreme)[1][index]
            assert inside(value, interval.lower[0], interval.upper[0])
            if removed[index] < BUFFER_SIZE:
                assert interval.lower[0] == interval.upper[0]
        parts = state.snapshot()
        for index in (0, 1):
            ordered = sorted((row(name, value)[1][0] for value in current), reverse=index == 1)
            buffer = sorted(parts[f"aggregate_{index}_buffer"].to_pylist()[0], reverse=index == 1)
            assert buffer == ordered[: len(buffer)]
            assert parts[f"aggregate_{index}_count"].to_pylist() == [len(current)]
    if state.inexact_groups:
        again = block.capture([row(name, value) for value in current], chance)
        assert again.inexact_groups == 0


def test_dry_buffer_is_unknown_upwards_until_a_smaller_value_arrives() -> None:
    block = BLOCKS["integers"]
    state = block.capture([row("integers", value) for value in range(40)], random.Random(0))
    state.apply(block.delta([(row("integers", value), -1) for value in range(BUFFER_SIZE)]))
    interval = state.aggregate_interval(0)
    assert interval.lower[0] == BUFFER_SIZE - 1
    assert interval.upper[0] != interval.upper[0]
    assert state.inexact_groups == 1
    state.apply(block.delta([(row("integers", 3), 1)]))
    assert state.aggregate_interval(0).upper[0] == 3
    assert state.inexact_groups == 0


def test_deleting_a_value_below_the_buffer_is_refused() -> None:
    block = BLOCKS["integers"]
    state = block.capture([row("integers", value) for value in range(0, 80, 2)], random.Random(0))
    with pytest.raises(StateCorrupt):
        state.apply(block.delta([(row("integers", 3), -1)]))
