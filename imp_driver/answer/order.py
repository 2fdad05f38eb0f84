"""ORDER BY, LIMIT and OFFSET over rows in process. Ties go by all columns, so the same query gives the same rows at the same versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.ranks import ranks
from imp_driver.dataflow.sort_keys import SortKey, numbers_of
from imp_driver.values.codes import IntegerArray, one_array

_MANY_TIMES = 4
"""As many rows as are wanted may as well be put in order."""
_EVERY = 64


def sorted_places(rows: pa.Table, keys: Sequence[SortKey]) -> IntegerArray:
    """Return the places of the rows in an order. Raises NotEvaluable."""
    numbers = [each for key in keys for each in numbers_of(key)]
    places = _sorted(numbers, rows.num_rows)
    if _are_apart(numbers, places):
        return places
    return _sorted(numbers + [ranks(one_array(column)) for column in rows.columns], rows.num_rows)


def first_places(rows: pa.Table, keys: Sequence[SortKey], count: int) -> IntegerArray:
    """Return the first ``count`` of ``sorted_places``, or some more, without putting all rows in order. Raises NotEvaluable."""
    if not keys or count * _MANY_TIMES >= rows.num_rows:
        return sorted_places(rows, keys)
    found = pa.array(_candidates([each for key in keys for each in numbers_of(key)], count))
    of_found = [replace(key, values=key.values.take(found)) for key in keys]
    places: IntegerArray = found.to_numpy()[sorted_places(rows.take(found), of_found)]
    return places


def _candidates(numbers: Sequence[IntegerArray], count: int) -> IntegerArray:
    """Return the places, ascending, of the first rows by some numbers, and of all that are equal to the last of these."""
    first = np.zeros(0, dtype=np.int64)
    tied: IntegerArray | None = None
    for each in numbers:
        own = each if tied is None else each[tied]
        places = np.arange(len(own)) if tied is None else tied
        end = _smallest(own, count - len(first))
        first = np.concatenate((first, places[own < end]))
        tied = places[own == end]
        if len(first) + len(tied) <= count * _MANY_TIMES:
            break
    assert tied is not None
    return np.sort(np.concatenate((first, tied)))


def _smallest(values: IntegerArray, count: int) -> int:
    """Return the ``count``-th smallest of some values, which are no fewer."""
    # Of every 64th value, the one that about four times as many are below: most often it leaves out all but these.
    sample = values[::_EVERY]
    place = _MANY_TIMES * (count // _EVERY + 2)
    if place < len(sample):
        few = values[values <= np.partition(sample, place)[place]]
        values = few if len(few) >= count else values
    return int(np.partition(values, count - 1)[count - 1])


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


def ties_at(rows: pa.Table, keys: Sequence[SortKey], boundary: int) -> bool:
    """Say whether the order leaves undecided which of different rows come before a place: rows of equal keys lie on both sides of it."""
    if not 0 < boundary < rows.num_rows:
        return False
    numbers = [each for key in keys for each in numbers_of(key)]
    places = _sorted(numbers, rows.num_rows)
    return all(each[places[boundary - 1]] == each[places[boundary]] for each in numbers)
