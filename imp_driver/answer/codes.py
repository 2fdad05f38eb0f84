"""Values as dense numbers in their order, by which rows are put in order, told apart and matched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.values.codes import Codec, IntegerArray, is_orderable

NULL = -1
"""Number of NULL, which is below that of every value."""


def ranks(array: pa.Array) -> IntegerArray:
    """Return for each value how many other ones are below it as Spark compares, NULL for NULL. Raises NotEvaluable."""
    if pa.types.is_null(array.type):
        return np.full(len(array), NULL, dtype=np.int64)
    if not is_orderable(array.type):
        raise NotEvaluable(f"values of type {array.type} are not compared in process")
    canonical = Codec(array.type).canonical(array)
    if pa.types.is_boolean(canonical.type):
        canonical = canonical.cast(pa.int8())
    encoded = canonical.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = NULL
    places = encoded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
    found: IntegerArray = rank[places]
    return found


def numbered(columns: Sequence[pa.Array], count: int) -> IntegerArray:
    """Return a number for each row, the same for rows of equal values, where NULL equals NULL. Raises NotEvaluable."""
    numbers = np.zeros(count, dtype=np.int64)
    for column in columns:
        numbers = renumbered(numbers, ranks(column))
    return numbers


def renumbered(numbers: IntegerArray, own: IntegerArray) -> IntegerArray:
    """Return a number for each pair of a number and a rank; dense, so that the product never leaves 64 bits."""
    return np.unique(numbers * (own.max(initial=0) + 2) + own + 1, return_inverse=True)[1].astype(np.int64)


def first_of_each(numbers: IntegerArray) -> IntegerArray:
    """Return the place of the first row of each number, in order."""
    return np.sort(np.unique(numbers, return_index=True)[1])
