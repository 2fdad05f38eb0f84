"""Exact numbers as vectors: int64 where all sums fit, Python's numbers where they may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from imp_driver.dataflow.nested.keys import Key

Column: TypeAlias = npt.NDArray[Any]

EXACT = 2.0**62
"""Sums and products whose absolute values stay below are computed as int64."""
_LARGEST = 2**52
_MANY = 50
"""Values from which on vectors are made of them to add them up."""


def vector(values: Sequence[Any]) -> Column:
    """Return values as int64 where all are whole and small enough to be added, else as the objects that they are."""
    if set(map(type, values)) <= {int} and max(map(abs, values), default=0) < _LARGEST:
        return np.array(values, dtype=np.int64)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def consolidated(keys: Sequence[Key], columns: Sequence[Sequence[Any]]) -> tuple[list[Key], list[list[Any]]]:
    """Return each key once, in ascending order, with the sums of its amounts."""
    found = _consolidated_by_vectors(keys, columns) if len(keys) >= _MANY else None
    if found is not None:
        return found
    summed: dict[Key, list[Any]] = {}
    for key, *amounts in zip(keys, *columns, strict=True):
        values = summed.get(key)
        summed[key] = amounts if values is None else [one + two for one, two in zip(values, amounts, strict=True)]
    distinct = sorted(summed)
    return distinct, [[summed[key][index] for key in distinct] for index in range(len(columns))]


def _consolidated_by_vectors(keys: Sequence[Key], columns: Sequence[Sequence[Any]]) -> tuple[list[Key], list[list[Any]]] | None:
    """Return the same where all fits into int64, else None."""
    vectors = [vector(each) for each in (keys, *columns)]
    bounds = [int(np.abs(each).max(initial=0)) if each.dtype == np.int64 else EXACT for each in vectors[1:]]
    if vectors[0].dtype != np.int64 or max(bounds, default=0) * len(keys) >= EXACT:
        return None
    order = np.argsort(vectors[0], kind="stable")
    ordered = vectors[0][order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return ordered[begins].tolist(), [np.add.reduceat(each[order], begins).tolist() for each in vectors[1:]]


def magnitude(column: Column) -> float:
    """Return a bound of the absolute value of any sum of a column's values; infinite for Python's numbers, which have none."""
    return float("inf") if column.dtype == object else float(np.abs(column).astype(np.float64).sum())


def exact(column: Column, bound: float) -> Column:
    """Return a column to compute with: itself where nothing that is made of it exceeds ``bound``, else with Python's numbers."""
    return column if bound < EXACT or column.dtype == object else column.astype(object)


def running(column: Column) -> Column:
    """Return the sums of the first 0, 1, 2, .. values."""
    column = exact(column, magnitude(column))
    sums = np.zeros(len(column) + 1, dtype=column.dtype)
    np.cumsum(column, out=sums[1:])
    return sums
