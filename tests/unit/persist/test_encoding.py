"""Records and states as bytes: what comes back is what was saved, and what is damaged does not come back at all."""

from __future__ import annotations

import datetime
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.persist.encoding import FORMAT, Row, decoded, decoded_state, encoded, encoded_state
from imp_driver.persist.record import StoreDamaged
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition
from tests.unit.persist.records import columns, record, same, with_cut, without_sketch


def test_a_record_comes_back() -> None:
    assert same(decoded(encoded(record())), record())


def test_a_record_without_a_sketch_comes_back() -> None:
    assert same(decoded(encoded(without_sketch("aa"))), without_sketch("aa"))


@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        (pa.string(), ("", "a'\"`\\", "é", "\U0001f600")),
        (pa.float64(), (-1e308, -0.5, 1e-300, 2.0**53)),
        (pa.decimal128(38, 4), (Decimal("-99999999999999999999999999.9999"), Decimal("0.0001"))),
        (pa.date32(), (datetime.date(1, 1, 2), datetime.date(2026, 11, 22))),
        (pa.timestamp("us"), (datetime.datetime(1970, 1, 1, 0, 0, 0, 1),)),
        (pa.timestamp("us", "UTC"), (datetime.datetime(2026, 3, 29, 1, 30, tzinfo=datetime.UTC),)),
        (pa.bool_(), (True,)),
        (pa.int64(), ()),
    ],
)
def test_ranges_of_every_type_come_back(kind: pa.DataType, bounds: tuple[Any, ...]) -> None:
    partition = RangePartition(kind, bounds)
    saved = with_cut(record(), cut=replace(record().cuts[0].cut, partition=partition), sketch=None)
    found = decoded(encoded(saved)).cuts[0].cut.partition
    assert found == partition
    assert found.type == kind


@given(st.sets(st.integers(0, 6)))
def test_every_set_of_fragments_comes_back(members: set[int]) -> None:
    sketch = record().cuts[0].sketch
    assert sketch is not None
    saved = with_cut(record(), sketch=replace(sketch, fragments=FragmentSet.of(members, 7)))
    assert same(decoded(encoded(saved)), saved)


@pytest.mark.parametrize("name", [field.name for field in fields(Row)])
def test_every_damaged_column_is_noticed(name: str) -> None:
    row = encoded(record())
    value: Any = getattr(row, name)
    damaged: Any = value + 1 if isinstance(value, int) else value[:-1] + (b"\x07" if isinstance(value, bytes) else "#")
    with pytest.raises(StoreDamaged, match=r"^record ab1"):
        decoded(replace(row, **{name: damaged}))


def test_another_format_is_named() -> None:
    row = replace(encoded(record()), format=FORMAT + 1)
    with pytest.raises(StoreDamaged, match=f"format {FORMAT + 1}, this driver reads {FORMAT}"):
        decoded(replace(row, checksum=row.expected_checksum()))


def test_a_body_that_lacks_a_part_is_noticed() -> None:
    row = replace(encoded(record()), body="{}")
    with pytest.raises(StoreDamaged, match="cannot be read"):
        decoded(replace(row, checksum=row.expected_checksum()))


def test_a_state_comes_back_with_its_types() -> None:
    saved = columns()
    found = decoded_state(encoded_state(saved))
    assert found.keys() == saved.keys()
    assert all(found[name].equals(saved[name]) and found[name].type == saved[name].type for name in saved)


def test_a_state_without_cells_or_rows_comes_back() -> None:
    saved = {"rows": pa.array([], pa.int64())}
    assert decoded_state(encoded_state(saved)) == saved


def test_a_state_that_ends_early_is_noticed() -> None:
    with pytest.raises(StoreDamaged):
        decoded_state(encoded_state(columns())[:-200])
