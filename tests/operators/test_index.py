"""Slots of groups against a dictionary, for keys that are looked up by their codes and by hashes, good and bad ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate import index as index_module
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


def one_text(groups: list[Group]) -> Keys:
    codes = np.array([b"" if group is None else b"%d" % group for group in groups], dtype=object)
    return (KeyValues(codes, np.array([group is None for group in groups], dtype=bool)),)


KEYS = [one_key, one_text, two_keys, three_keys]


def few_hashes(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return numbers % np.uint64(3)


@pytest.fixture(params=["good", "bad"])
def hashes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "bad":
        monkeypatch.setattr(index_module, "mixed", few_hashes)


@dataclass
class Slots:
    """One key of the groups, by slot."""

    tokens: dict[int, object] = field(default_factory=dict)

    def put(self, slots: list[int], key: KeyValues) -> None:
        self.tokens.update(zip(slots, key.tokens(), strict=True))

    def take(self, slots: npt.NDArray[np.int64]) -> KeyValues:
        found = [self.tokens[slot] for slot in slots.tolist()]
        nulls = np.array([each is None for each in found], dtype=bool)
        if any(isinstance(each, int) for each in self.tokens.values()):
            return KeyValues(np.array([each or 0 for each in found], dtype=np.int64), nulls)
        return KeyValues(np.array(found, dtype=object), nulls)


@pytest.mark.parametrize("keys", KEYS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.lists(GROUPS, unique=True),
    steps=st.lists(st.tuples(st.lists(GROUPS, unique=True), st.sets(st.integers(0, 20))), max_size=8),
)
def test_random_groups_come_and_go(keys, start, steps, hashes) -> None:  # type: ignore[no-untyped-def]
    stored = [Slots() for _ in keys([])]
    for column, key in zip(stored, keys(start), strict=True):
        column.put(list(range(len(start))), key)
    index = SlotIndex(stored, keys(start))
    twin = {group: slot for slot, group in enumerate(start)}
    for asked, leaving in steps:
        found = index.find(keys(asked))
        assert found.tolist() == [twin.get(group, -1) for group in asked]
        fresh = [group for group in asked if group not in twin]
        slots = index.vacant(len(fresh))
        assert len(set(slots.tolist()) | set(twin.values())) == len(fresh) + len(twin)
        index.add(keys(fresh), slots)
        for column, key in zip(stored, keys(fresh), strict=True):
            column.put(slots.tolist(), key)
        twin.update(zip(fresh, slots.tolist(), strict=True))
        gone = [group for place, group in enumerate(twin) if place in leaving]
        index.remove(keys(gone), np.array([twin[group] for group in gone], dtype=np.int64))
        for group in gone:
            del twin[group]
        assert len(index) == len(twin)
        assert index.used <= len(start) + sum(len(each) for each, _ in steps)
    assert index.find(keys(list(twin))).tolist() == list(twin.values())


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("groups", [[1, 2, 1], [None, None], [1, 2, 3, 4, 5, 6, 7, 4]])
def test_repeated_groups_are_noticed(keys, groups, hashes) -> None:  # type: ignore[no-untyped-def]
    assert SlotIndex(keys(groups), keys(groups)).has_repeats
    assert not SlotIndex(keys([1, None]), keys([1, None])).has_repeats


def test_several_keys_take_few_bytes_for_a_group() -> None:
    groups: list[Group] = list(range(100_000))
    assert SlotIndex(three_keys(groups), three_keys(groups)).memory < 13 * len(groups)
