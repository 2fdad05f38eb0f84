"""Bloom filters never miss a value that is there, and seldom take one that is not."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.delta.bloom import Bloom, hashes

KINDS = {
    "int": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "bigint": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "date": (pa.date32(), st.dates()),
    "text": (pa.string(), st.text(max_size=8)),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_is_there_is_found(kind: str, data: st.DataObject) -> None:
    arrow_type, values = KINDS[kind]
    column = pa.array(data.draw(st.lists(st.none() | values, max_size=300)), arrow_type)
    assert Bloom.of(column).may_hold(hashes(column.drop_null())).all()


@pytest.mark.parametrize("make", [int, str, lambda number: dt.date(1900, 1, 1) + dt.timedelta(number)], ids=["bigint", "text", "date"])
def test_what_is_not_there_is_seldom_taken(make: Any) -> None:
    present, absent = (pa.array([make(number) for number in range(start, start + 20_000)]) for start in (0, 30_000))
    bloom = Bloom.of(present)
    assert bloom.may_hold(hashes(absent)).mean() < 0.03
    assert bloom.memory <= 4 * 20_000


@pytest.mark.parametrize("values", [[], [None, None]])
def test_a_column_without_values_holds_none(values: list[None]) -> None:
    assert not Bloom.of(pa.array(values, pa.int64())).may_hold(hashes(pa.array(range(100), pa.int64()))).any()


def test_integers_of_any_width_have_the_same_hash() -> None:
    assert np.array_equal(hashes(pa.array([-1, 0, 7], pa.int16())), hashes(pa.array([-1, 0, 7], pa.int64())))


def test_texts_that_differ_in_zeros_or_order_have_other_hashes() -> None:
    texts = ["", "\0", "\0\0", "ab", "ba", "a", "b", "aé", "éa"]
    assert len(set(hashes(pa.array(texts)).tolist())) == len(texts)
