"""Codes of keys over slots, against a list; what objects take."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate import stored_codes
from imp_driver.dataflow.aggregate.stored_codes import ObjectCodes, PlainCodes, SharedCodes, StoredCodes
from imp_driver.values.codes import CodeArray

TEXTS = st.sampled_from([b"", b"a", b"ab", bytes(300)])


def objects(codes: list[bytes] | list[int]) -> CodeArray:
    found = np.empty(len(codes), dtype=object)
    found[:] = codes
    return found


@given(st.data())
def test_slots_hold_what_was_put_there_last(data: st.DataObject) -> None:
    values, make = data.draw(
        st.sampled_from(
            [
                (TEXTS | st.integers(0, 40).map(lambda number: b"%d" % number), objects),
                (st.integers(-(2**80), 2**80), objects),
                (st.integers(-(2**31), 2**31 - 1), np.array),
            ]
        )
    )
    twin = data.draw(st.lists(values, max_size=6))
    kinds: list[Callable[[CodeArray], StoredCodes]] = [SharedCodes, ObjectCodes]
    kind = data.draw(st.sampled_from(kinds))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_codes, "_FEW", 3)
        if data.draw(st.booleans(), "bad hashes"):
            patch.setattr(stored_codes, "mixed", lambda numbers: numbers % np.uint64(3))
        codes: StoredCodes = kind(make(twin)) if make is objects else PlainCodes(np.array(twin, np.int64), is_narrow=True)
        for _ in range(data.draw(st.integers(0, 8))):
            more = data.draw(st.lists(values, min_size=1, max_size=5))
            codes.grow(len(twin) + len(more))
            # Some of the new values go to slots that have one.
            first = data.draw(st.integers(0, len(twin)))
            codes.put(np.arange(first, first + len(more)), make(more))
            twin[first : first + len(more)] = more
            assert codes.take(slice(len(twin))).tolist() == twin
            places = np.array(data.draw(st.lists(st.integers(0, len(twin) - 1), max_size=4)), dtype=np.int64)
            assert codes.take(places).tolist() == [twin[place] for place in places]


def test_equal_objects_are_there_once_and_count() -> None:
    few = SharedCodes(objects([b"%d" % (number % 10) for number in range(10_000)]))
    many = SharedCodes(objects([b"%d" % number for number in range(10_000)]))
    alone = ObjectCodes(objects([b"%d" % number for number in range(10_000)]))
    assert few.memory < 5 * 10_000
    assert 40 * 10_000 < alone.memory < 50 * 10_000
    assert 60 * 10_000 < many.memory < 70 * 10_000


def test_objects_that_no_slot_has_any_more_are_forgotten() -> None:
    codes = SharedCodes(objects([b"first"]))
    largest = 0
    for number in range(10_000):
        codes.put(np.array([0]), objects([b"%d" % number]))
        largest = max(largest, codes.memory)
    assert largest < 200 * 1_100
    assert codes.take(np.array([0])).tolist() == [b"9999"]
