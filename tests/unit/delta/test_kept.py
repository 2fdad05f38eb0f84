"""What was read of data files stays in memory up to a bound."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.delta.file_cache import Kept, KeptColumn
from imp_driver.delta.schema import StoredColumn
from imp_driver.values.tables import SchemaColumn

A, B = (StoredColumn(SchemaColumn(name, "long", True), name, pa.int64(), False) for name in "ab")
COLUMN = KeptColumn(pa.array(range(10), pa.int64()), None)


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
    kept.keep("table", "two", {A: KeptColumn(pa.array(range(1000), pa.int64()), None)})
    kept.keep("table", "one", {A: COLUMN})
    assert kept.memory == COLUMN.memory
    assert kept.found("table", "two", [A]) == {}


def test_another_table_at_the_same_path_is_another_file() -> None:
    kept = Kept[KeptColumn](1000)
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
