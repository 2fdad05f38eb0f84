"""Sums in the order of keys against a dictionary, one change at a time and many at once."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.nested import descent, marks, sorted_sums
from imp_driver.dataflow.nested.sorted_sums import SortedSums

STEPS = st.lists(st.tuples(st.integers(-9, 30), st.integers(-4, 9), st.integers(0, 3)), max_size=60)


class Twin:
    """The rows of each key, as they came."""

    def __init__(self) -> None:
        self.rows: dict[Any, list[int]] = {}

    def total(self, keep: Callable[[Any], bool]) -> tuple[int, int]:
        kept = [amount for key, amounts in self.rows.items() if keep(key) for amount in amounts]
        return sum(kept), len(kept)

    def between(self, low: float, high: float) -> tuple[int, int]:
        """Return the sum and the number of the rows of keys from one to below another."""
        return self.total(lambda key: low <= key < high)

    def first(self, threshold: int, *, is_strict: bool) -> Any:
        for key in sorted(self.rows):
            below = self.between(-inf, key + 1)[0]
            if below > threshold or (below == threshold and not is_strict):
                return key
        return None


def follow(twin: Twin, steps: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return signed changes: every fourth kind takes a row away where its key has one."""
    found = []
    for key, amount, kind in steps:
        amounts = twin.rows.setdefault(key, [])
        if kind == 0 and amounts:
            found.append((key, -amounts.pop(), -1))
        else:
            amounts.append(amount)
            found.append((key, amount, 1))
        if not amounts:
            del twin.rows[key]
    return found


def check(sums: SortedSums, twin: Twin) -> None:
    assert [key for key, _ in sums.items()] == sorted(twin.rows)
    assert len(sums) == len(twin.rows)
    assert dict(sums.items()) == {key: (sum(rows), len(rows)) for key, rows in twin.rows.items()}
    assert sums.total == twin.total(lambda key: True)
    assert sums.negatives == [sum(sum(rows) < 0 for rows in twin.rows.values()), 0]
    assert (sums.first(), sums.last()) == (min(twin.rows, default=None), max(twin.rows, default=None))
    for key in range(-10, 32, 3):
        assert sums.prefix(key) == twin.between(-inf, key + 1)
        assert sums.prefix(key, is_inclusive=False) == twin.between(-inf, key)
        assert sums.between((key, 0), (key + 7, 1)) == twin.between(key, key + 8)
        assert sums.between((key, 1), None) == twin.between(key + 1, inf)
        backwards = sums.between((key + 7, 0), (key, 0))
        assert tuple(-each for each in backwards) == twin.between(key, key + 7)
        assert sums.at(key) == (twin.between(key, key + 1) if key in twin.rows else None)
        few = sorted(other for other in twin.rows if key < other <= key + 7)
        assert sums.keys_between((key, 1), (key + 7, 1), 3) in ([few, None] if len(few) <= 3 else [None])
    if len(sums):
        columns = zip(*((key, *values) for key, values in sums.items()), strict=True)
        assert [each.tolist() for each in sums.vectors()] == [list(column) for column in columns]


def test_near_keys_are_found_also_where_blocks_meet() -> None:
    sums = SortedSums(0, 4)
    for key in range(20):
        sums.add(key, ())
    assert all(sums.keys_between((key, 0), (key + 2, 0), 2) == [each for each in (key, key + 1) if each < 20] for key in range(25))
    assert sums.keys_between((3, 0), (7, 0), 3) is None


@pytest.mark.parametrize("block", [2, 5, 96])
@given(steps=STEPS)
def test_changes_one_at_a_time(block: int, steps: list[tuple[int, int, int]]) -> None:
    sums, twin = SortedSums(1, block), Twin()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_sums, "BUNDLE", 3)
        patch.setattr(descent, "SMALL", 2)
        for key, amount, rows in follow(twin, steps):
            sums.add(key, (amount,), rows)
        check(sums, twin)
        for threshold in range(-3, 30, 4):
            for is_strict in (True, False):
                if sums.negatives[0]:
                    with pytest.raises(ValueError, match="negative"):
                        sums.first_passing(0, threshold, is_strict=is_strict)
                else:
                    assert sums.first_passing(0, threshold, is_strict=is_strict) == twin.first(threshold, is_strict=is_strict)
        assert sums.first_where(lambda key: key >= 7) == min((key for key in twin.rows if key >= 7), default=None)


@given(amounts=st.lists(st.integers(0, 3), min_size=1, max_size=60), threshold=st.integers(-1, 120), is_strict=st.booleans())
def test_the_first_key_that_passes_is_found_through_bundles_and_blocks(amounts: list[int], threshold: int, is_strict: bool) -> None:
    sums, twin = SortedSums(1, 2), Twin()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_sums, "BUNDLE", 3)
        patch.setattr(descent, "SMALL", 2)
        for key, amount in enumerate(amounts):
            sums.add(key, (amount,))
            twin.rows[key] = [amount]
        assert sums.first_passing(0, threshold, is_strict=is_strict) == twin.first(threshold, is_strict=is_strict)


@pytest.mark.parametrize("most", [1, 2, marks.MOST_MARKS])
@given(batches=st.lists(STEPS, max_size=6), shares=st.tuples(st.integers(0, 4), st.integers(0, 4)))
def test_places_that_are_remembered_follow_what_comes_after(
    most: int, batches: list[list[tuple[int, int, int]]], shares: tuple[int, int]
) -> None:
    """Thresholds are asked for again after each change, so that most are answered from the places found before."""
    sums, twin = SortedSums(1, 3), Twin()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marks, "MOST_MARKS", most)
        patch.setattr(sorted_sums, "BUNDLE", 3)
        for number, steps in enumerate(batches):
            if number % 3 == 2:
                changes = follow(twin, steps)
                columns = [list(column) for column in zip(*changes, strict=True)] or [[], [], []]
                sums.add_many(columns[0], [columns[1]], columns[2])
                _check_passing(sums, twin, shares)
                continue
            for step in steps:
                [(key, amount, rows)] = follow(twin, [step])
                sums.add(key, (amount,), rows)
                _check_passing(sums, twin, shares)


def test_a_place_that_is_remembered_is_asked_for_after_many_changes_at_once() -> None:
    sums = SortedSums(1)
    sums.add_many(range(0, 40, 2), [[1] * 20], [1] * 20)
    assert sums.first_passing(0, 9, is_strict=True) == 18
    sums.add_many(range(1, 41, 2), [[1] * 20], [1] * 20)
    assert sums.first_passing(0, 9, is_strict=True) == 9
    assert [sums.before_in(0, (key, 0)) for key in (9, 18)] == [9, 18]


def _check_passing(sums: SortedSums, twin: Twin, shares: tuple[int, int]) -> None:
    if sums.negatives[0]:
        return
    for share, is_strict in [(share, is_strict) for share in shares for is_strict in (True, False)]:
        threshold = sums.total_of(0) * share // 4
        key = twin.first(threshold, is_strict=is_strict)
        assert sums.first_passing(0, threshold, is_strict=is_strict) == key
        if key is not None:
            assert sums.before_in(0, (key, 0)) == twin.between(-inf, key)[0]
            assert sums.before_in(0, (key, 1)) == twin.between(-inf, key + 1)[0]


@given(batches=st.lists(STEPS, max_size=4), kind=st.sampled_from([int, Fraction]))
def test_many_changes_at_once_are_the_same_as_one_after_the_other(batches: list[list[tuple[int, int, int]]], kind: type) -> None:
    sums, twin = SortedSums(1, 4), Twin()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_sums, "BUNDLE", 3)
        for steps in batches:
            changes = follow(twin, steps)
            sums.add_many([kind(key) for key, _, _ in changes], [[amount for _, amount, _ in changes]], [rows for _, _, rows in changes])
            check(sums, twin)


def test_many_keys_of_few_changes_are_added_by_themselves() -> None:
    sums = SortedSums(1)
    sums.add_many(range(0, 4_000, 2), [[1] * 2_000], [1] * 2_000)
    sums.add_many(range(1, 41, 2), [[5] * 20], [1] * 20)
    assert sums.prefix(40) == (21 + 100, 41)
    assert sums.total == (2_100, 2_020)
    assert sums.memory > 2_020 * 50


def test_a_key_leaves_with_its_rows_and_not_with_its_sum() -> None:
    sums = SortedSums(1)
    sums.add(5, (3,))
    sums.add(5, (-3,))
    assert sums.at(5) == (0, 2)
    sums.add(5, (-3,), -1)
    sums.add(5, (3,), -1)
    assert sums.at(5) is None
    assert len(sums) == 0
    # What goes before it has come, as within a batch, waits for it.
    sums.add(5, (-3,), -1)
    assert sums.at(5) == (-3, -1)
    sums.add(5, (3,))
    assert len(sums) == 0


@pytest.mark.parametrize(
    "keys",
    [
        [Decimal("1.5"), Decimal("2"), Decimal("10")],
        ["Zebra", "apple", "äpfel"],
        [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), datetime.date(2021, 1, 1)],
        [2**70, 2**70 + 1, 2**71],
    ],
    ids=["decimals", "texts", "dates", "long numbers"],
)
def test_keys_of_any_kind(keys: list[Any]) -> None:
    sums = SortedSums(1)
    sums.add_many([*reversed(keys)] * 4, [[2**61] * 12], [1] * 12)
    assert sums.prefix(keys[1]) == (8 * 2**61, 8)
    assert sums.first_passing(0, 8 * 2**61, is_strict=True) == keys[2]
    assert sums.vectors()[1].sum() == 12 * 2**61


def test_large_sums_are_no_doubles() -> None:
    sums = SortedSums(1)
    sums.add_many(list(range(20)), [[2**53 + 1] * 20], [1] * 20)
    assert sums.total[0] == 20 * (2**53 + 1)
    assert sums.vectors()[1].dtype == np.dtype(object)


def test_many_keys_come_and_go() -> None:
    chance, sums, there = random.Random(1), SortedSums(1, 8), dict[int, int]()
    for step in range(4_000):
        key = chance.randrange(3_000)
        if key in there and step % 3:
            sums.add(key, (-there.pop(key),), -1)
        elif key not in there:
            there[key] = key + 1
            sums.add(key, (key + 1,))
    assert dict(sums.items()) == {key: (amount, 1) for key, amount in there.items()}
    for key in [*there]:
        sums.add(key, (-there[key],), -1)
    assert (len(sums), sums.total, sums.first()) == (0, (0, 0), None)


def test_a_batch_whose_sum_no_int64_holds() -> None:
    sums = SortedSums(1)
    sums.add_many([7] * 4_096, [[2**52 - 1] * 4_096], [1] * 4_096)
    assert sums.total == (4_096 * (2**52 - 1), 4_096)
