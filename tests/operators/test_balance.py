"""Ranges that are split and merged: on random streams against a twin without increments, and against a state captured anew."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.sketch import balance, key_cut
from imp_driver.sketch.balance import Balance
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm
from imp_driver.values.ranges import RangePartition, equi_depth
from tests.operators.model import Block, OneCut, Row, budget, slots_of

ROWS = (AggregateSpecification(AccumulatorKind.COUNT_ROWS, ValueForm.TOTAL, None),)
FRAGMENTS = 4


def captured(keys: Sequence[int | None]) -> tuple[Block, OneCut]:
    partition = equi_depth(pa.array(keys, pa.int32()), np.ones(len(keys), dtype=np.int64), FRAGMENTS)
    block = Block((pa.int32(),), ROWS, partition)
    return block, block.capture([rows(key) for key in keys], random.Random(0))


def rows(key: int | None) -> Row:
    return ((key,), (None,))


def applied(block: Block, state: OneCut, signed: list[tuple[int | None, int]]) -> None:
    state.apply(block.delta([(rows(key), weight) for key, weight in signed]))


def depths(state: OneCut) -> list[int]:
    return [int(count) for count in state.fragment_rows()]


@budget(60)
@given(st.lists(st.none() | st.integers(0, 60), min_size=1, max_size=30), st.data(), st.integers(0, 2**32))
def test_stream_agrees_with_twin_and_with_a_new_capture(keys: list[int | None], data: st.DataObject, seed: int) -> None:
    chance = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(balance, "FEWEST_ROWS", 2)
        block, state = captured(keys)
        for added in data.draw(st.lists(st.lists(st.none() | st.integers(40, 99), max_size=25), min_size=1, max_size=5)):
            gone = chance.sample(keys, chance.randint(0, len(keys)))
            for key in gone:
                keys.remove(key)
            keys = keys + added
            applied(block, state, [(key, 1) for key in added] + [(key, -1) for key in gone])
            state.key_cut.rebalance(FRAGMENTS)
            located = state.partition.locate(pa.array(keys, pa.int32()))
            assert depths(state) == np.bincount(located, minlength=state.partition.fragments).tolist()
            anew = Block((pa.int32(),), ROWS, state.partition).capture([rows(key) for key in keys], random.Random(0))
            wanted = set(chance.sample(sorted(slots_of(state), key=str), chance.randint(0, len(slots_of(state)))))
            assert state.sketch(_mask(state, wanted)).members().tolist() == anew.sketch(_mask(anew, wanted)).members().tolist()


def _mask(state: OneCut, wanted: set[tuple[int | None, ...]]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    mask = np.zeros(len(state.alive), dtype=bool)
    mask[[slot for key, slot in slots_of(state).items() if key in wanted]] = True
    return mask


def test_a_range_that_overflows_is_split() -> None:
    block, state = captured(list(range(100)))
    for start in range(100, 1_000, 100):
        applied(block, state, [(key, 1) for key in range(start, start + 100)])
        state.key_cut.rebalance(FRAGMENTS)
        assert max(depths(state)) <= max(balance.FEWEST_ROWS, 0.6 * (start + 100))
    assert state.partition.bounds != block.partition.bounds


def test_ranges_that_lost_their_rows_are_merged() -> None:
    block, state = captured(list(range(400)))
    applied(block, state, [(key, -1) for key in range(200)])
    state.key_cut.rebalance(FRAGMENTS)
    assert min(depths(state)[:FRAGMENTS]) >= 45


def test_ranges_stay_while_rows_are_spread_evenly() -> None:
    block, state = captured(list(range(0, 400, 2)))
    applied(block, state, [(key, 1) for key in range(1, 399, 2)])
    state.key_cut.rebalance(FRAGMENTS)
    assert state.partition is block.partition


def test_one_heavy_value_is_not_cut_again_and_again() -> None:
    block, state = captured([1] * 10 + [2, 3, 4])
    applied(block, state, [(1, 500)])
    state.key_cut.rebalance(FRAGMENTS)
    first = state.partition
    applied(block, state, [(1, 400)])
    state.key_cut.rebalance(FRAGMENTS)
    assert state.partition is first
    assert first == RangePartition(pa.int32(), (2, 3, 4))


@pytest.mark.parametrize("call", range(5))
def test_ranges_that_are_being_cut_anew_when_it_ends_are_the_old_ones(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends it, the groups lie in fragments of the ranges that the state has."""
    block, state = captured(list(range(400)))
    applied(block, state, [(key, 1) for key in range(400, 4_000)])
    before, count = state.partition, [call]

    def failing(function: Any) -> Any:
        def called(*arguments: Any) -> Any:
            count[0] -= 1
            if count[0] < 0:
                raise MemoryError
            return function(*arguments)

        return called

    with monkeypatch.context() as patch:
        patch.setattr(key_cut, "equi_depth", failing(equi_depth))
        patch.setattr(RangePartition, "locate", failing(RangePartition.locate))
        patch.setattr(Balance, "of", staticmethod(failing(Balance.of)))
        with contextlib.suppress(MemoryError):
            state.key_cut.rebalance(FRAGMENTS)
    assert (state.partition is before) is (call < 4)
    located = state.partition.locate(state.key_values(0, np.arange(len(state.rows))))
    assert state.fragment.tolist() == located.tolist()
    assert depths(state) == np.bincount(located, weights=state.rows, minlength=state.partition.fragments).tolist()
