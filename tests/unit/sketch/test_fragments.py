"""Fragment sets and gap filling against Python sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.values.fragments import FragmentSet, fill_gaps

members = st.sets(st.integers(0, 30))


@given(members, members, st.sampled_from([1, 100]))
def test_sets_behave_as_sets(first: set[int], second: set[int], factor: int) -> None:
    # Few fragments are kept as one bit each, few among many as a bitmap.
    last = 30 * factor
    first, second = ({fragment * factor for fragment in each} for each in (first, second))
    one, two = FragmentSet.of(first, last + 1), FragmentSet.of(second, last + 1)
    assert set(one.union(two).members().tolist()) == first | second
    added, removed = one.delta(two)
    assert (set(added.members().tolist()), set(removed.members().tolist())) == (second - first, first - second)
    assert one.count == len(first)
    assert one.is_empty == (not first)
    assert one.has_null == (last in first)
    assert one.is_all == (len(first) == last + 1)
    assert [fragment in one for fragment in (0, factor, last)] == [fragment in first for fragment in (0, factor, last)]
    assert (one == two) == (first == second)
    assert 5 in FragmentSet.all(last + 1)


@given(members)
def test_runs_are_maximal_and_leave_out_the_null_fragment(chosen: set[int]) -> None:
    runs = FragmentSet.of(chosen, 31).runs()
    assert [fragment for first, last in runs for fragment in range(first, last + 1)] == sorted(chosen - {30})
    assert all(last + 1 < following for (_, last), (following, _) in itertools.pairwise(runs))


@given(members, st.integers(1, 6), st.lists(st.integers(0, 100), min_size=31, max_size=31))
def test_filled_gaps_are_the_cheapest(chosen: set[int], maximum: int, rows: list[int]) -> None:
    runs = FragmentSet.of(chosen, 31).runs()
    filled = fill_gaps(runs, maximum, np.array(rows))
    covered = {fragment for first, last in filled for fragment in range(first, last + 1)}
    assert chosen - {30} <= covered
    assert len(filled) == min(len(runs), maximum)
    gaps = sorted(sum(rows[last + 1 : following]) for (_, last), (following, _) in itertools.pairwise(runs))
    expected = sum(gaps[: max(0, len(runs) - maximum)])
    assert sum(rows[fragment] for fragment in covered - chosen) == expected


def test_fragments_outside_and_sets_of_other_partitions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.\.2"):
        FragmentSet.of([3], 3)
    with pytest.raises(ValueError, match="combined"):
        FragmentSet.of([1], 3).union(FragmentSet.of([1], 4))
    with pytest.raises(ValueError, match="one run"):
        fill_gaps([(0, 1)], 0, np.zeros(3, dtype=np.int64))


def test_memory_is_small_for_long_runs() -> None:
    assert FragmentSet.all(10_000).memory < FragmentSet.of(range(0, 10_000, 2), 10_000).memory


def test_a_set_takes_no_more_than_a_bit_per_fragment() -> None:
    half = np.flatnonzero(np.random.default_rng(0).random(100_000) < 0.5)
    assert FragmentSet.of(half.tolist(), 100_001).memory == 12_501
    assert FragmentSet.all(100_001).memory < 100
