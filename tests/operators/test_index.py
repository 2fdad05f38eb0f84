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


@pytest.mark.parametrize("keys", [one_key, two_keys])
@given(
    start=st.lists(GROUPS, unique=True),
    steps=st.lists(st.tuples(st.lists(GROUPS, unique=True), st.sets(st.integers(0, 20))), max_size=8),
)
def test_random_groups_come_and_go(keys, start, steps) -> None:  # type: ignore[no-untyped-def]
    index = SlotIndex(keys(start))
    twin = {group: slot for slot, group in enumerate(start)}
    for asked, leaving in steps:
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
        assert len(index) == len(twin)
        assert index.used <= len(start) + sum(len(each) for each, _ in steps)
    assert index.find(keys(list(twin))).tolist() == list(twin.values())


@pytest.mark.parametrize("keys", [one_key, two_keys])
@pytest.mark.parametrize("groups", [[1, 2, 1], [None, None]])
def test_repeated_groups_are_noticed(keys, groups) -> None:  # type: ignore[no-untyped-def]
    assert SlotIndex(keys(groups)).has_repeats
    assert not SlotIndex(keys([1, None])).has_repeats
