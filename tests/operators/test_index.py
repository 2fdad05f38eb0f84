"""Slots of groups against a dictionary, for keys that are looked up as codes and as tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.index import SlotIndex
from imp_driver.dataflow.aggregate.keys import Keys, KeyValues

Group = int | None
GROUPS = st.none() | st.integers(-4, 4) | st.sampled_from([-(2**63), 2**63 - 1, 0])


def one_key(groups: list[Group]) -> Keys:
    nulls = np.array([group is None for group in groups], dtype=bool)
    return (KeyValues(np.array([0 if group is None else group for group in groups], dtype=np.int64), nulls),)


def two_keys(groups: list[Group]) -> Keys:
    return (*one_key(groups), KeyValues(np.array([b"x"] * len(groups), dtype=object), np.zeros(len(groups), dtype=bool)))


def three_keys(groups: list[Group]) -> Keys:
    """Return keys of which each alone has few values."""
    (half,) = one_key([None if group is None else group >> 1 for group in groups])
    (rest,) = one_key([0 if group is None else group & 1 for group in groups])
    codes = np.array([None if group is None or group < 0 else b"x" for group in groups], dtype=object)
    return half, KeyValues(codes, np.array([code is None for code in codes], dtype=bool)), rest


KEYS = [one_key, two_keys, three_keys]


@pytest.mark.parametrize("keys", KEYS)
@given(
    start=st.lists(GROUPS, unique=True),
    steps=st.lists(st.tuples(st.lists(GROUPS, unique=True), st.sets(st.integers(0, 20)), st.booleans()), max_size=8),
)
def test_random_groups_come_and_go(keys, start, steps) -> None:  # type: ignore[no-untyped-def]
    index = SlotIndex(keys(start))
    twin = {group: slot for slot, group in enumerate(start)}
    for asked, leaving, is_renewed in steps:
        found = index.find(keys(asked))
        assert found.tolist() == [twin.get(group, -1) for group in asked]
        fresh = [group for group in asked if group not in twin]
        slots = index.vacant(len(fresh))
        assert len(set(slots.tolist()) | set(twin.values())) == len(fresh) + len(twin)
        index.add(keys(fresh), slots)
        twin.update(zip(fresh, slots.tolist(), strict=True))
        gone = [group for place, group in enumerate(twin) if place in leaving]
        index.remove(keys(gone))
        for group in gone:
            del twin[group]
        if is_renewed:
            index.renew(keys(list(twin)), np.array(list(twin.values()), dtype=np.int64))
        assert len(index) == len(twin)
        assert index.used <= len(start) + sum(len(each) for each, _, _ in steps)
    assert index.find(keys(list(twin))).tolist() == list(twin.values())


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("groups", [[1, 2, 1], [None, None]])
def test_repeated_groups_are_noticed(keys, groups) -> None:  # type: ignore[no-untyped-def]
    assert SlotIndex(keys(groups)).has_repeats
    assert not SlotIndex(keys([1, None])).has_repeats


def test_what_groups_left_behind_goes_with_a_renewal() -> None:
    groups: list[Group] = list(range(3000))
    index = SlotIndex(three_keys(groups))
    assert not index.is_worn
    full = index.memory
    index.remove(three_keys(groups[3:]))
    assert index.is_worn
    index.renew(three_keys(groups[:3]), np.arange(3))
    assert not index.is_worn
    assert index.memory < full / 100
    assert index.find(three_keys(groups)).tolist() == [0, 1, 2, *[-1] * 2997]
    assert len(index.vacant(2997)) == 2997


def test_several_keys_take_few_bytes_for_a_group() -> None:
    groups: list[Group] = list(range(100_000))
    assert SlotIndex(three_keys(groups)).memory < 40 * len(groups)
