"""What was read of data files stays in memory up to a bound, in few bytes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.delta.file_cache import NARROWED_ROWS, Kept, KeptColumn
from imp_driver.delta.schema import StoredColumn
from imp_driver.delta.sorted_places import SortedPlaces
from imp_driver.values.codes import Codec
from imp_driver.values.tables import SchemaColumn

A, B = (StoredColumn(SchemaColumn(name, "long", True), name, pa.int64(), False) for name in "ab")
COLUMN = KeptColumn(pa.array(range(10), pa.int64()), pa.int64(), None)


def test_least_recently_used_goes_first() -> None:
    kept = Kept[KeptColumn](3 * COLUMN.memory)
    for path in ("one", "two", "three"):
        kept.keep("table", path, {A: COLUMN})
    assert list(kept.found("table", "one", [A, B])) == [A]
    kept.keep("table", "four", {A: COLUMN})
    assert [path for path in ("one", "two", "three", "four") if kept.found("table", path, [A])] == ["one", "three", "four"]
    assert kept.memory == 3 * COLUMN.memory


def test_a_column_that_has_no_room_is_not_kept_and_drops_none() -> None:
    kept = Kept[KeptColumn](2 * COLUMN.memory)
    kept.keep("table", "one", {A: COLUMN})
    kept.keep("table", "two", {A: KeptColumn(pa.array(range(1000), pa.int64()), pa.int64(), None)})
    kept.keep("table", "one", {A: COLUMN})
    assert kept.memory == COLUMN.memory
    assert kept.found("table", "two", [A]) == {}


def test_another_table_at_the_same_path_is_another_file() -> None:
    kept = Kept[KeptColumn](10_000)
    kept.keep("table", "one", {A: COLUMN})
    assert kept.found("other", "one", [A]) == {}


@pytest.mark.parametrize(
    ("values", "is_ordered"),
    [
        ([1, 1, 5], True),
        ([], True),
        ([2, 1], False),
        ([None, 1], False),
        ([1, None], False),
        (["a", "b"], False),
        ([-1.0, 0.5], False),
        ([-5, 2**40], True),
    ],
)
def test_order(values: list[object], is_ordered: bool) -> None:
    column = KeptColumn.of(pa.array(values, None if values else pa.int32()))
    assert (column.order is not None) == is_ordered
    if column.order is not None:
        assert np.all(np.diff(column.order) >= 0)


MONEY = pa.decimal128(18, 2)
NUMBERS = st.sampled_from(
    [0, 1, -1, 127, 128, -128, -129, 2**15 - 1, 2**15, -(2**15) - 1, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)]
)
VALUES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int8(), st.integers(-128, 127)),
    (pa.int32(), NUMBERS.filter(lambda number: abs(number) < 2**31)),
    (pa.int64(), NUMBERS),
    (pa.date32(), st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))),
    (MONEY, st.integers(1 - 10**18, 10**18 - 1).map(lambda number: Decimal(number).scaleb(-2))),
    (MONEY, st.integers(-3, 3).map(Decimal)),
    (pa.decimal128(38, 0), st.integers(1 - 10**38, 10**38 - 1).map(Decimal)),
    (pa.string(), st.sampled_from(["", "a", "b\x00", "\U0001f600"])),
    (pa.string(), st.text()),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.bool_(), st.booleans()),
    (pa.timestamp("us"), st.datetimes()),
]
KEYS = [(kind, values) for kind, values in VALUES if kind in (pa.int8(), pa.int32(), pa.int64(), pa.date32(), pa.string())]


@given(st.data())
def test_narrowed_values_are_the_same(data: st.DataObject) -> None:
    kind, values = data.draw(st.sampled_from(VALUES))
    array = pa.array(data.draw(st.lists(st.none() | values, max_size=30)), kind)
    column = KeptColumn.of(array, from_rows=data.draw(st.sampled_from((0, NARROWED_ROWS))))
    assert column.values == array
    assert column.values.type == kind
    places = np.array(data.draw(st.lists(st.integers(0, len(array) - 1), max_size=9) if len(array) else st.just([])), np.int64)
    assert column.take(places) == array.take(pa.array(places))
    assert column.take(places).type == kind


@given(st.data())
def test_positions_are_those_of_a_search(data: st.DataObject) -> None:
    kind, values = data.draw(st.sampled_from(KEYS))
    stored = data.draw(st.lists(values if data.draw(st.booleans(), "whole") else st.none() | values, max_size=30))
    if data.draw(st.booleans(), "ascending") and None not in stored:
        stored.sort()
    asked = data.draw(st.lists(st.sampled_from(stored) if stored else values, max_size=6)) + data.draw(st.lists(values, max_size=3))
    wanted = pa.array(sorted({each for each in asked if each is not None}), kind)
    codes, _ = Codec(kind).encode(wanted)
    column, places = (
        KeptColumn.of(pa.array(stored, kind), from_rows=data.draw(st.sampled_from((0, NARROWED_ROWS)))),
        [place for place, value in enumerate(stored) if value is not None and value in asked],
    )
    assert column.places_of(wanted, np.sort(codes)).tolist() == places
    if pa.types.is_integer(column.stored.type):
        assert SortedPlaces.of(column.stored).places_of(np.sort(codes)).tolist() == places


def test_repeated_and_small_values_take_few_bytes() -> None:
    texts = KeptColumn.of(pa.array(["AIR", "TRUCK", "MAIL", "SHIP"] * 1000))
    money = KeptColumn.of(pa.array([Decimal("0.04"), Decimal("0.10"), None] * 1000, MONEY))
    assert texts.memory < 5000
    assert money.memory < 4000
