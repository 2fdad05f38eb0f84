"""ORDER BY, LIMIT and OFFSET over rows in process. Ties go by all columns, so the same query gives the same rows at the same versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.answer.codes import ranks
from imp_driver.values.codes import Codec, IntegerArray, is_orderable, one_array


@dataclass(frozen=True, slots=True, eq=False)
class SortKey:
    values: pa.Array
    descending: bool
    nulls_first: bool


def sorted_places(rows: pa.Table, keys: Sequence[SortKey]) -> IntegerArray:
    """Return the places of the rows in an order. Raises NotEvaluable."""
    numbers = [each for key in keys for each in _numbers(key)]
    places = _sorted(numbers, rows.num_rows)
    if _are_apart(numbers, places):
        return places
    return _sorted(numbers + [ranks(one_array(column)) for column in rows.columns], rows.num_rows)


def in_order(rows: pa.Table, keys: Sequence[SortKey]) -> pa.Table:
    """Return the rows in an order. Raises NotEvaluable."""
    return rows.take(pa.array(sorted_places(rows, keys)))


def _sorted(numbers: Sequence[IntegerArray], count: int) -> IntegerArray:
    places: IntegerArray = np.lexsort(numbers[::-1]) if numbers else np.arange(count)
    return places


def _are_apart(numbers: Sequence[IntegerArray], places: IntegerArray) -> bool:
    """Say whether no two neighbours are equal in all numbers."""
    if not numbers:
        return len(places) < 2
    equal = np.ones(max(0, len(places) - 1), dtype=bool)
    for each in numbers:
        ordered = each[places]
        equal &= ordered[1:] == ordered[:-1]
    return not equal.any()


def _numbers(key: SortKey) -> list[IntegerArray]:
    """Return numbers that sort ascending as the key sorts, the most significant first."""
    numbers = _codes(key.values)
    nulls = key.values.is_null().to_numpy(zero_copy_only=False)
    numbers = np.where(nulls, 0, ~numbers if key.descending else numbers)
    if not key.values.null_count:
        return [numbers]
    return [np.where(nulls, -1 if key.nulls_first else 1, 0), numbers]


def _codes(values: pa.Array) -> IntegerArray:
    """Return numbers in the order of the values, any for NULL."""
    if not is_orderable(values.type) or Codec(values.type).is_object:
        return ranks(values)
    codes: IntegerArray = Codec(values.type).encode(values)[0]
    return codes


def ties_at(rows: pa.Table, keys: Sequence[SortKey], boundary: int) -> bool:
    """Say whether the order leaves undecided which of different rows come before a place: rows of equal keys lie on both sides of it."""
    if not 0 < boundary < rows.num_rows:
        return False
    numbers = [each for key in keys for each in _numbers(key)]
    places = _sorted(numbers, rows.num_rows)
    return all(each[places[boundary - 1]] == each[places[boundary]] for each in numbers)
