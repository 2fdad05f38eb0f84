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


@pytest.mark.parametrize("number", range(60))
def test_the_old_rows_become_the_new_ones(number: int) -> None:
    chance = random.Random(f"bags {SEED} {number}")
    old = [_row(chance) for _ in range(chance.randint(0, 30))]
    new = chance.sample(old, chance.randint(0, len(old))) + [_row(chance) for _ in range(chance.randint(0, 8))]
    before, after = _rows(old), _rows(new)
    changes = bag_changes(before, after)
    assert changes is not None
    kept = {row: count for row, count in _counted(before).items() if row not in _counted(changes.deleted)}
    assert Counter(kept) + _counted(changes.inserted) == _counted(after)
    assert changes.is_empty == (_counted(before) == _counted(after))
    assert max(_counted(changes.deleted).values(), default=1) == 1
    # What is the same in both is not written.
    assert not any(_counted(before)[row] == _counted(after)[row] for row in _counted(changes.inserted) | _counted(changes.deleted))


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
