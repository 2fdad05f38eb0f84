"""Range partitions: every value in exactly one fragment, by Spark's comparison, whatever the bounds were cut from."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.values.ranges import RangePartition, equi_depth

UTC = datetime.UTC
TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "float": (pa.float32(), st.floats(width=32)),
    "double": (pa.float64(), st.floats()),
    "decimal": (pa.decimal128(12, 2), st.decimals(-(10**9), 10**9, places=2)),
    "wide decimal": (pa.decimal128(38, 0), st.integers(-(10**37), 10**37).map(Decimal)),
    "string": (pa.string(), st.text(max_size=4)),
    "date": (pa.date32(), st.dates()),
    "timestamp": (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
    "timestamp_ntz": (pa.timestamp("us"), st.datetimes()),
    "boolean": (pa.bool_(), st.booleans()),
}


def before(value: Any, bound: Any) -> bool:
    """Spark's ``value < bound`` for a bound that is not NaN."""
    if isinstance(value, str):
        return bool(value.encode() < bound.encode())
    return bool(value < bound)


@pytest.mark.parametrize("name", sorted(TYPES))
@given(data=st.data())
def test_each_value_lies_in_the_interval_of_its_fragment(name: str, data: st.DataObject) -> None:
    kind, values = TYPES[name]
    sample = data.draw(st.lists(st.none() | values, max_size=20))
    others = data.draw(st.lists(st.none() | values, max_size=20))
    partition = equi_depth(pa.array(sample, type=kind), np.ones(len(sample), dtype=np.int64), data.draw(st.integers(1, 8)))
    assert partition.ranges <= max(8, 1)
    assert len(set(partition.bounds)) == len(partition.bounds)
    for value, fragment in zip(sample + others, partition.locate(pa.array(sample + others, type=kind)).tolist(), strict=True):
        if value is None:
            assert fragment == partition.null_fragment
            continue
        lower, upper = partition.interval(fragment, fragment)
        assert lower is None or not before(value, lower)
        assert upper is None or before(value, upper)
    assert partition == RangePartition(kind, partition.bounds)


def test_few_distinct_values_get_a_range_each() -> None:
    partition = equi_depth(pa.array([3, 1, 2, 2, None]), np.array([1, 1, 1, 1, 9]), 5)
    assert partition.bounds == (2, 3)
    assert partition.locate(pa.array([1, 2, 3, None, -9, 99])).tolist() == [0, 1, 2, 3, 0, 2]


def test_ranges_are_of_equal_weight() -> None:
    values = pa.array(np.arange(10_000))
    partition = equi_depth(values, np.ones(10_000, dtype=np.int64), 100)
    assert np.bincount(partition.locate(values), minlength=101).tolist() == [100] * 100 + [0]


def test_heavy_hitter_gets_a_wide_bucket_of_its_own_weight() -> None:
    partition = equi_depth(pa.array(np.arange(10)), np.array([1, 1, 1, 1, 1000, 1, 1, 1, 1, 1]), 5)
    assert partition.bounds == (5,)


def test_empty_input_is_one_open_range() -> None:
    partition = equi_depth(pa.array([], type=pa.string()), np.zeros(0, dtype=np.int64), 10)
    assert partition.bounds == ()
    assert partition.interval(0, 0) == (None, None)
    assert partition.locate(pa.array(["x", None])).tolist() == [0, 1]


def test_nan_is_last_and_never_a_bound() -> None:
    values = [math.nan, 0.0, -0.0, 1.0, math.inf, -math.inf]
    partition = equi_depth(pa.array(values), np.ones(6, dtype=np.int64), 10)
    assert partition.bounds == (0.0, 1.0)
    assert partition.locate(pa.array(values)).tolist() == [2, 1, 1, 2, 2, 0]


def test_dates_beyond_python_are_no_bounds() -> None:
    days = pa.array([-(10**6), 0, 10**7], type=pa.int32()).view(pa.date32())
    partition = equi_depth(days, np.ones(3, dtype=np.int64), 3)
    assert partition.bounds == (datetime.date(1970, 1, 1),)
    assert partition.locate(days).tolist() == [0, 1, 1]


def test_interval_of_a_run() -> None:
    partition = RangePartition(pa.int32(), (10, 20, 30))
    assert partition.interval(0, 1) == (None, 20)
    assert partition.interval(1, 3) == (10, None)
    with pytest.raises(IndexError):
        partition.interval(2, 4)


@pytest.mark.parametrize("bounds", [(2, 1), (1, 1), (None,)])
def test_wrong_bounds_are_refused(bounds: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="bounds"):
        RangePartition(pa.int32(), bounds)


def test_nan_bound_and_unordered_type_are_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        RangePartition(pa.float64(), (1.0, math.nan))
    with pytest.raises(TypeError):
        RangePartition(pa.list_(pa.int32()), ())
