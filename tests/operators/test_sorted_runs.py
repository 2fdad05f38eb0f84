"""Ordered codes with numbers against a dictionary, and against the same codes put in at once."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow import sorted_runs
from imp_driver.dataflow.sorted_runs import GROWTH, OrderedNumbers, SortedRun, compacted
from tests.operators.model import budget

CODES = st.integers(-6, 12) | st.sampled_from([-(2**63), 2**63 - 1])


def put(ordered: OrderedNumbers, numbers: dict[int, int]) -> None:
    ordered.put(np.array(list(numbers), dtype=np.int64), np.array(list(numbers.values()), dtype=np.int64))


@pytest.mark.parametrize("absent", [-1, 0])
@budget(100)
@given(steps=st.lists(st.dictionaries(CODES, st.integers(-1, 3), max_size=6), max_size=12), few=st.sampled_from([0, 1_000]))
def test_random_numbers_come_and_go(absent: int, steps: list[dict[int, int]], few: int) -> None:
    ordered = OrderedNumbers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), absent=absent)
    twin: dict[int, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_runs, "_FEW", few)
        for step in steps:
            put(ordered, step)
            twin |= step
            living = {code: number for code, number in sorted(twin.items()) if number != absent}
            asked = sorted({*twin, 99})
            assert ordered.find(np.array(asked, dtype=np.int64)).tolist() == [twin.get(code, absent) for code in asked]
            items = ordered.items()
            assert dict(zip(items.codes.tolist(), items.numbers.tolist(), strict=True)) == living
            assert items.codes.tolist() == list(living)
            assert len(ordered) == len(living)
            again = OrderedNumbers(items.codes, items.numbers, absent=absent)
            assert again.find(np.array(asked, dtype=np.int64)).tolist() == [twin.get(code, absent) for code in asked]


def test_what_is_added_does_not_move_what_is_there() -> None:
    ordered = OrderedNumbers(np.arange(100_000), np.arange(100_000), absent=-1)
    base = ordered._runs[0]
    chance = random.Random(1)
    for place in range(200):
        put(ordered, dict.fromkeys(chance.sample(range(200000, 300000), 20), place))
    assert ordered._runs[0] is base
    sizes = [len(run) for run in ordered._runs]
    assert len(sizes) > 1
    assert all(one > GROWTH * other for one, other in itertools.pairwise(sizes))


def test_codes_without_a_number_do_not_pile_up() -> None:
    ordered = OrderedNumbers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), absent=0)
    for place in range(0, 100_000, 100):
        put(ordered, dict.fromkeys(range(place, place + 100), 1))
        put(ordered, dict.fromkeys(range(place, place + 100), 0))
    assert len(ordered) == 0
    assert ordered.memory < 16 * 10_000


def test_runs_merge_in_order_and_keep_what_repeats() -> None:
    merged = SortedRun.of(np.array([3, 1, 3]), np.array([0, 1, 2])).merged(SortedRun.of(np.array([2, 3]), np.array([7, 8])))
    assert merged.codes.tolist() == [1, 2, 3, 3, 3]
    assert merged.numbers.tolist() == [1, 7, 0, 2, 8]
    assert merged.places(np.array([0, 3, 9])).tolist() == [-1, 2, -1]


def test_runs_shrink() -> None:
    assert compacted((1_000, 100, 20), int, lambda one, other: one + other) == (1_000, 120)
    assert compacted((1_000, 120, 20, 5), int, lambda one, other: one + other) == (1_145,)
    assert compacted((1_000,), int, lambda one, other: one + other) == (1_000,)
