"""What is left of signed rows when those that are the same in both versions are taken out; no JVM."""

from __future__ import annotations

import datetime as dt
import struct
from collections import Counter
from collections.abc import Hashable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.delta import cancelled
from imp_driver.delta.cancelled import without_copies

NAN = float("nan")
VALUES: dict[pa.DataType, tuple[Any, ...]] = {
    pa.int8(): (-128, 0, 127),
    pa.int64(): (-(2**63), -1, 0, 2**63 - 1),
    pa.bool_(): (True, False),
    pa.float32(): (0.0, -0.0, NAN, 1.5),
    pa.float64(): (0.0, -0.0, NAN, 5e-324),
    pa.string(): ("", "a", "é"),
    pa.binary(): (b"", b"\x00", b"\xff"),
    pa.date32(): (dt.date(1, 1, 1), dt.date(1970, 1, 1)),
    pa.timestamp("us", "UTC"): (dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC)),
    pa.timestamp("us"): (dt.datetime(1970, 1, 1), dt.datetime(1, 1, 1)),
    pa.decimal128(7, 2): (Decimal("0.00"), Decimal("-99999.99")),
    pa.decimal128(38, 0): (Decimal(0), Decimal(2**64), Decimal(-(2**64)), Decimal(1)),
}


def bits(value: Any) -> Hashable:
    return struct.pack("d", value) if isinstance(value, float) else value


def counted(rows: pa.Table, weights: Any) -> dict[tuple[Hashable, ...], int]:
    total: Counter[tuple[Hashable, ...]] = Counter()
    for record, weight in zip(zip(*(column.to_pylist() for column in rows.columns), strict=True), weights.tolist(), strict=True):
        total[tuple(map(bits, record))] += weight
    return {record: count for record, count in total.items() if count}


@given(st.data())
def test_the_sum_is_the_same_and_nothing_cancels_any_more(data: st.DataObject) -> None:
    types = data.draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    count = data.draw(st.integers(0, 12))
    arrays = []
    for kind in types:
        values = st.one_of(st.none(), st.sampled_from(VALUES[kind])) if data.draw(st.booleans()) else st.sampled_from(VALUES[kind])
        arrays.append(pa.array(data.draw(st.lists(values, min_size=count, max_size=count)), kind))
    cut = data.draw(st.integers(0, count))
    rows = pa.table([pa.chunked_array([each[:cut], each[cut:]]) for each in arrays], names=[str(place) for place in range(len(types))])
    weights = np.asarray(data.draw(st.lists(st.sampled_from([1, -1]), min_size=count, max_size=count)), np.int64)
    left, signs = without_copies(rows, weights)
    assert left.schema == rows.schema
    assert counted(left, signs) == counted(rows, weights)
    assert set(signs.tolist()) <= {1, -1}
    if set(weights.tolist()) == {1, -1}:
        assert len(signs) == sum(map(abs, counted(rows, weights).values()))


def test_rows_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancelled, "_hashes", lambda words: np.zeros(len(words[0]), np.uint64))
    rows, weights = pa.table({"a": [1, 2, 1, 3]}), np.array([1, -1, -1, 1])
    left, signs = without_copies(rows, weights)
    assert counted(left, signs) == {(2,): -1, (3,): 1}


def test_what_has_no_form_to_compare_stays() -> None:
    rows, weights = pa.table({"a": [[1], [1]]}), np.array([1, -1])
    left, signs = without_copies(rows, weights)
    assert left.num_rows == 2
    assert signs.tolist() == [1, -1]
    nothing, signs = without_copies(rows.select([]), weights)
    assert nothing.num_columns == 0
    assert signs.tolist() == [1, -1]
