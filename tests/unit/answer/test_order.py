"""Rows in the order of Spark: NULLs, NaN, signs of zero, text by its bytes, and ties by all columns."""

from __future__ import annotations

import math
import random
from decimal import Decimal

import pyarrow as pa
import pytest

from imp_driver.answer.order import first_places, in_order, sorted_places, ties_at
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.ranks import first_of_each, numbered, ranks
from imp_driver.dataflow.sort_keys import SortKey


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([3, None, 1, 3], pa.int32()), [1, -1, 0, 1]),
        (pa.array([math.nan, 0.0, -0.0, None, math.inf]), [2, 0, 0, -1, 1]),
        (pa.array(["ä", "b", "a", "", None]), [3, 2, 1, 0, -1]),
        (pa.array([True, None, False]), [1, -1, 0]),
        (pa.array([Decimal("1.50"), Decimal("-9" * 1 + "0.00"), Decimal("1.5")], pa.decimal128(20, 2)), [1, 0, 1]),
        (pa.array([], pa.string()), []),
        (pa.nulls(2), [-1, -1]),
    ],
    ids=["int", "double", "text", "boolean", "decimal", "none", "null"],
)
def test_ranks_compare_as_spark_compares(values: pa.Array, expected: list[int]) -> None:
    assert ranks(values).tolist() == expected


def test_values_without_an_order_are_left_to_spark() -> None:
    with pytest.raises(NotEvaluable, match="not compared"):
        ranks(pa.array([[1], [2]]))


def test_equal_rows_have_equal_numbers_and_null_equals_null() -> None:
    columns = [pa.array([1, None, 1, None, 1]), pa.array(["a", "a", "a", "a", None])]
    numbers = numbered(columns, 5).tolist()
    assert numbers[0] == numbers[2]
    assert numbers[1] == numbers[3]
    assert len(set(numbers)) == 3
    assert first_of_each(numbered(columns, 5)).tolist() == [0, 1, 4]


def _rows() -> pa.Table:
    return pa.table({"a": pa.array([2, None, 1, 2, None]), "b": pa.array(["y", "z", "x", "w", "u"])})


@pytest.mark.parametrize(
    ("descending", "nulls_first", "expected"),
    [
        (False, True, ["u", "z", "x", "w", "y"]),
        (False, False, ["x", "w", "y", "u", "z"]),
        (True, True, ["u", "z", "w", "y", "x"]),
        (True, False, ["w", "y", "x", "u", "z"]),
    ],
)
def test_nulls_stand_where_they_are_asked_for_and_ties_go_by_all_columns(descending: bool, nulls_first: bool, expected: list[str]) -> None:
    rows = _rows()
    found = in_order(rows, [SortKey(rows.column("a").combine_chunks(), descending, nulls_first)])
    assert found.column("b").to_pylist() == expected


def test_a_tie_is_one_only_across_the_boundary() -> None:
    rows = _rows()
    keys = [SortKey(rows.column("a").combine_chunks(), False, False)]
    assert [ties_at(rows, keys, place) for place in range(7)] == [False, False, True, False, True, False, False]
    assert ties_at(rows, [], 1)


@pytest.mark.parametrize("seed", range(20))
def test_the_first_rows_are_those_of_the_whole_order(seed: int) -> None:
    chance = random.Random(seed)
    size, most = chance.choice((3, 200, 3_000, 20_000)), chance.choice((1, 3, 50, 10**9))
    drawn = [[chance.choice((None, chance.randrange(-most, most))) for _ in range(size)] for _ in range(2)]
    # Also in an order that a sample of the rows says nothing about.
    drawn[0] = sorted(drawn[0], key=lambda value: value or 0) if chance.random() < 0.3 else drawn[0]
    texts = pa.array([chance.choice("abc") for _ in range(size)])
    rows = pa.table({"a": pa.array(drawn[0], pa.int64()), "b": pa.array(drawn[1], pa.int32()), "c": texts, "d": pa.array(range(size))})
    columns = chance.sample(["a", "b", "c"], chance.randrange(1, 4))
    keys = [SortKey(rows.column(name).combine_chunks(), chance.random() < 0.5, chance.random() < 0.5) for name in columns]
    whole = sorted_places(rows, keys).tolist()
    for count in (1, 2, 10, 100, size):
        assert first_places(rows, keys, count).tolist()[:count] == whole[:count]


def test_values_that_a_sample_does_not_tell_of_are_found() -> None:
    values = [0 if place % 64 else 1 for place in range(20_000)]
    values[::-64] = [-1] * len(values[::-64])
    rows = pa.table({"a": pa.array(values), "b": pa.array(range(20_000))})
    for descending in (False, True):
        keys = [SortKey(rows.column("a").combine_chunks(), descending, True)]
        assert first_places(rows, keys, 150).tolist()[:150] == sorted_places(rows, keys).tolist()[:150]
