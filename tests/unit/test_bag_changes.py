"""What is deleted and inserted makes the old rows the new ones, copies and NULLs too; what Spark takes for equal otherwise is refused."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from imp_driver.commands.bag_changes import bag_changes
from tests.seeds import SEED

SCHEMA = pa.schema(
    [("a", pa.int32()), ("s", pa.string()), ("m", pa.decimal128(10, 2)), ("x", pa.float64()), ("t", pa.timestamp("us", "UTC"))]
)


def _row(chance: random.Random) -> tuple[Any, ...]:
    return (
        chance.choice([1, 2, None]),
        chance.choice(["", "x", None]),
        chance.choice([Decimal("1.00"), None]),
        chance.choice([1.5, -2.0, None]),
        chance.choice([0, 1, None]),
    )


def _rows(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = [[row[place] for row in rows] for place in range(len(SCHEMA))]
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def _counted(rows: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in rows.to_pylist())


@pytest.mark.parametrize("keys", [(), (0,), (0, 1)])
@pytest.mark.parametrize("number", range(60))
def test_the_old_rows_become_the_new_ones(number: int, keys: tuple[int, ...]) -> None:
    chance = random.Random(f"bags {SEED} {number}")
    old = [_row(chance) for _ in range(chance.randint(0, 30))]
    new = chance.sample(old, chance.randint(0, len(old))) + [_row(chance) for _ in range(chance.randint(0, 8))]
    before, after = _rows(old), _rows(new)
    changes = bag_changes(before, after, keys)
    assert changes is not None
    gone, come = _counted(changes.deleted) + _counted(changes.before), _counted(changes.inserted) + _counted(changes.after)
    kept = {row: count for row, count in _counted(before).items() if row not in gone}
    assert Counter(kept) + come == _counted(after)
    assert (changes.count == 0) == (_counted(before) == _counted(after))
    assert max(gone.values(), default=1) == 1
    # What is the same in both is not written.
    assert not any(_counted(before)[row] == _counted(after)[row] for row in gone | come)
    pairs = list(zip(changes.before.to_pylist(), changes.after.to_pylist(), strict=True))
    names = [SCHEMA.names[key] for key in keys]
    assert all(_counted(before)[tuple(one.values())] == 1 and one != other for one, other in pairs)
    assert all(one[name] == other[name] for one, other in pairs for name in names)
    assert keys or not pairs


def test_rows_with_the_same_keys_are_changed() -> None:
    old = pa.table({"k": [1, 2, 3, 3], "x": [1, 2, 3, 4]})
    changes = bag_changes(old, pa.table({"k": [1, 2, 3, 3, 5], "x": [7, 2, 8, 9, 5]}), (0,))
    assert changes is not None
    assert (changes.before.to_pylist(), changes.after.to_pylist()) == ([{"k": 1, "x": 1}], [{"k": 1, "x": 7}])
    assert sorted(changes.deleted.column("x").to_pylist()) == [3, 4]
    assert sorted(changes.inserted.column("x").to_pylist()) == [5, 8, 9]


@pytest.mark.parametrize("value", [0.0, -0.0, float("nan")])
def test_numbers_that_are_equal_in_other_forms_are_refused_where_they_change(value: float) -> None:
    schema = pa.schema([("x", pa.float64())])
    one, other = pa.table({"x": [value, 1.0]}, schema=schema), pa.table({"x": [1.0]}, schema=schema)
    assert bag_changes(one, other) is None
    same = bag_changes(one, pa.table({"x": [value, 1.0, 2.0]}, schema=schema))
    assert same is not None
    assert same.inserted.to_pydict() == {"x": [2.0]}


def test_nested_values_are_refused() -> None:
    rows = pa.table({"a": [[1]]})
    assert bag_changes(rows, rows) is None
