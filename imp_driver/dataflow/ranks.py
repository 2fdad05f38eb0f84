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
_MOST = 2**62


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
    """Return a number for each row, the same for rows of equal values, where NULL equals NULL. Raises NotEvaluable.

    Numbers begin with 0 and are given in the order in which rows come.
    """
    numbers = np.zeros(count, dtype=np.int64)
    for column in columns:
        numbers = together(numbers, ranks(column))
    return in_turn(numbers) if columns else numbers


def together(numbers: IntegerArray, own: IntegerArray) -> IntegerArray:
    """Return a number for each pair of a number and a rank, dense only where it has to be to fit in 64 bits."""
    many = int(own.max(initial=0)) + 2
    if (int(numbers.max(initial=0)) + 1) * many > _MOST:
        numbers = in_turn(numbers)
    return numbers * many + own + 1


def in_turn(numbers: IntegerArray) -> IntegerArray:
    """Return for each number how many other ones come first before it."""
    found: IntegerArray = pa.array(numbers).dictionary_encode().indices.to_numpy().astype(np.int64)
    return found


def first_of_each(numbers: IntegerArray) -> IntegerArray:
    """Return the place of the first row of each number that ``numbered`` has given, in order."""
    first = np.empty(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return first
