"""A side of a join against nested loops, and against a side made from the rows that are there now."""

from __future__ import annotations

import math
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow import arrangement
from imp_driver.dataflow.arrangement import Arrangement, TooManyRows, may_be_joined
from imp_driver.values.tables import ZSet
from tests.operators.model import budget
from tests.operators.twin import canonical

Pairs = list[tuple[Any, int]]

KEYS = {
    "int": (pa.int32(), pa.int64(), st.none() | st.integers(0, 4)),
    "double": (pa.float64(), pa.float64(), st.none() | st.sampled_from([0.0, -0.0, math.nan, 1.5])),
    "string": (pa.string(), pa.string(), st.none() | st.sampled_from(["", "a", "ä", "b"])),
    "decimal": (pa.decimal128(25, 1), pa.decimal128(25, 1), st.none() | st.sampled_from([Decimal("0.0"), Decimal("1" * 20 + ".5")])),
}


def table(rows: Pairs, names: tuple[str, str], kind: pa.DataType) -> pa.Table:
    return pa.table({names[0]: pa.array([row[0] for row in rows], kind), names[1]: pa.array([row[1] for row in rows], pa.int64())})


def plus(rows: pa.Table) -> ZSet:
    return ZSet(rows, np.ones(len(rows), dtype=np.int64))


def bag(zset: ZSet) -> Counter[Any]:
    """Return the multiplicity of each joined row, the key as Spark groups it."""
    found: Counter[Any] = Counter()
    for row, weight in zip(zset.rows.to_pylist(), zset.weights.tolist(), strict=True):
        found[canonical(row["l"]), row["x"], canonical(row["r"]), row["y"]] += weight
    return Counter({row: weight for row, weight in found.items() if weight})


def nested_loops(left: list[tuple[tuple[Any, int], int]], right: Pairs) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for (key, x), weight in left:
        for other, y in right:
            if key is not None and other is not None and canonical(key) == canonical(other):
                found[canonical(key), x, canonical(other), y] += weight
    return Counter({row: weight for row, weight in found.items() if weight})


def _check_look_ups(side: Arrangement, current: Pairs, left: pa.Table) -> None:
    """Rows and copies by key, against what is there."""
    keys = left.column("l").combine_chunks()
    expected = [sum(1 for other, _ in current if key is not None and canonical(other) == canonical(key)) for key in keys.to_pylist()]
    assert side.copies("r", keys).tolist() == expected
    wanted = {canonical(key) for key in keys.to_pylist() if key is not None}
    found: Counter[Any] = Counter()
    zset = side.rows("r", keys)
    for row, weight in zip(zset.rows.to_pylist(), zset.weights.tolist(), strict=True):
        found[canonical(row["r"]), row["y"]] += weight
    assert Counter({row: weight for row, weight in found.items() if weight}) == Counter(
        (canonical(key), y) for key, y in current if key is not None and canonical(key) in wanted
    )


@pytest.mark.parametrize("kind", sorted(KEYS))
@budget(60)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_stream_agrees_with_nested_loops_and_a_new_side(kind: str, data: st.DataObject, seed: int) -> None:
    left_type, right_type, keys = KEYS[kind]
    rows = st.tuples(keys, st.integers(0, 2))
    chance = random.Random(seed)
    current = data.draw(st.lists(rows, max_size=12))
    side = Arrangement(plus(table(current, ("r", "y"), right_type)))
    for changes in data.draw(st.lists(st.lists(rows, max_size=6), min_size=1, max_size=5)):
        delta = [(row, chance.choice([-1, 1, 2])) for row in data.draw(st.lists(rows, max_size=8))]
        weights = np.array([weight for _, weight in delta], dtype=np.int64)
        left = table([row for row, _ in delta], ("l", "x"), left_type)
        found = bag(side.joined(ZSet(left, weights), [("l", "r")]))
        assert found == nested_loops(delta, current)
        assert found == bag(Arrangement(plus(table(current, ("r", "y"), right_type))).joined(ZSet(left, weights), [("l", "r")]))
        for pairs in ([("l", "r"), ("x", "y")], [("x", "y"), ("l", "r")]):
            both = nested_loops(delta, current)
            expected = {(key, x, other, y): weight for (key, x, other, y), weight in both.items() if x == y}
            assert bag(side.joined(ZSet(left, weights), pairs)) == Counter(expected)
        current_before = list(current)
        doomed = chance.sample(current, min(len(current), chance.randint(0, 4)))
        signed = [(row, -1) for row in doomed] + [(row, 1) for row in changes]
        for row in doomed:
            current.remove(row)
        current += changes
        _check_look_ups(side, current_before, left)
        added = ZSet(table([row for row, _ in signed], ("r", "y"), right_type), np.array([weight for _, weight in signed], dtype=np.int64))
        side = side.changed_by(added)


@pytest.mark.parametrize("seed", range(3))
def test_long_streams(seed: int) -> None:
    chance = np.random.default_rng(seed)
    current = [(int(key), int(y)) for key, y in zip(chance.integers(0, 300, 2_000), chance.integers(0, 5, 2_000), strict=True)]
    side = Arrangement(plus(table(current, ("r", "y"), pa.int64())))
    for _ in range(20):
        delta = [((int(key), 0), 1) for key in chance.integers(0, 400, 30)]
        found = side.joined(plus(table([row for row, _ in delta], ("l", "x"), pa.int64())), [("l", "r")])
        assert bag(found) == nested_loops(delta, current)
        gone, fresh = current[:20], [(int(key), 9) for key in chance.integers(0, 300, 25)]
        current = current[20:] + fresh
        side = side.changed_by(ZSet(table(gone + fresh, ("r", "y"), pa.int64()), np.array([-1] * 20 + [1] * 25, dtype=np.int64)))
    assert not side.is_worn
    assert side.memory > 2_000 * 16


def test_joins_that_are_too_large_are_left_to_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    side = Arrangement(plus(table([(1, y) for y in range(40)], ("r", "y"), pa.int64())))
    left = plus(table([(1, x) for x in range(40)], ("l", "x"), pa.int64()))
    assert len(side.joined(left, [("l", "r")]).weights) == 1_600
    monkeypatch.setattr(arrangement, "MOST_ROWS", 1_599)
    with pytest.raises(TooManyRows):
        side.joined(left, [("l", "r")])
    monkeypatch.setattr(arrangement, "MOST_TEXT_ROWS", 1)
    texts = Arrangement(plus(table([("a", 1), ("b", 1)], ("r", "y"), pa.string())))
    with pytest.raises(TooManyRows):
        texts.joined(plus(table([("a", 1)], ("l", "x"), pa.string())), [("l", "r")])


def test_a_side_wears_out() -> None:
    side = Arrangement(plus(table([(1, 1)] * 100, ("r", "y"), pa.int64())))
    changed = side.changed_by(plus(table([(2, 2)] * 10_001, ("r", "y"), pa.int64())))
    assert changed.is_worn
    assert not side.is_worn


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (pa.int8(), pa.int64(), True),
        (pa.string(), pa.string(), True),
        (pa.decimal128(10, 2), pa.decimal128(10, 2), True),
        (pa.decimal128(10, 2), pa.decimal128(10, 3), False),
        (pa.int32(), pa.float64(), False),
        (pa.timestamp("us"), pa.timestamp("us", tz="UTC"), False),
        (pa.binary(), pa.binary(), False),
    ],
)
def test_types_that_may_be_joined(one: pa.DataType, other: pa.DataType, expected: bool) -> None:
    assert may_be_joined(one, other) is expected
