"""Multisets of rows: the check that a delta leads from one version to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import pyarrow as pa

Rows = Counter[tuple[Hashable, ...]]


def as_multiset(rows: pa.Table, weights: Iterable[int] | None = None) -> Rows:
    """Count the rows of a table, each with its weight; NaN equals NaN."""
    counted: Rows = Counter()
    records = zip(*[rows.column(index).to_pylist() for index in range(rows.num_columns)], strict=True)
    for record, weight in zip(records, weights if weights is not None else [1] * rows.num_rows, strict=True):
        counted[tuple(map(_hashable, record))] += int(weight)
    return counted


def difference(before: Rows, changes: Rows, after: Rows) -> dict[tuple[Hashable, ...], int]:
    """Return what before + changes has more (or less) often than after; empty when the changes are exact."""
    total: Rows = Counter(before)
    total.update(changes)
    total.subtract(after)
    return {record: count for record, count in total.items() if count}


def _hashable(value: Any) -> Hashable:
    if isinstance(value, float) and value != value:
        return "NaN"
    if isinstance(value, dict):
        return tuple(sorted((key, _hashable(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return value  # type: ignore[no-any-return]
