"""ORDER BY, LIMIT and OFFSET over rows in process. Ties go by all columns, so the same query gives the same rows at the same versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.answer.codes import ranks
from imp_driver.values.codes import IntegerArray, one_array


@dataclass(frozen=True, slots=True, eq=False)
class SortKey:
    values: pa.Array
    descending: bool
    nulls_first: bool


def sorted_places(rows: pa.Table, keys: Sequence[SortKey]) -> IntegerArray:
    """Return the places of the rows in an order. Raises NotEvaluable."""
    columns = [_sortable(key) for key in keys] + [ranks(one_array(column)) for column in rows.columns]
    places: IntegerArray = np.lexsort(columns[::-1]) if columns else np.arange(rows.num_rows)
    return places


def in_order(rows: pa.Table, keys: Sequence[SortKey]) -> pa.Table:
    """Return the rows in an order. Raises NotEvaluable."""
    return rows.take(pa.array(sorted_places(rows, keys)))


def _sortable(key: SortKey) -> IntegerArray:
    """Return numbers that sort ascending as the key sorts."""
    numbers = ranks(key.values)
    nulls = numbers < 0
    found = -numbers if key.descending else numbers
    found[nulls] = np.iinfo(np.int64).min if key.nulls_first else np.iinfo(np.int64).max
    return found


def ties_at(rows: pa.Table, keys: Sequence[SortKey], boundary: int) -> bool:
    """Say whether the order leaves undecided which of different rows come before a place: rows of equal keys lie on both sides of it."""
    if not 0 < boundary < rows.num_rows:
        return False
    numbers = np.stack([_sortable(key) for key in keys]) if keys else np.zeros((1, rows.num_rows), dtype=np.int64)
    order = np.lexsort(numbers[::-1])
    return bool(np.array_equal(numbers[:, order[boundary - 1]], numbers[:, order[boundary]]))
