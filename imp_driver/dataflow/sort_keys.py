"""Columns that rows are put in order by, as numbers that sort ascending."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.ranks import ranks
from imp_driver.values.codes import Codec, IntegerArray, is_orderable


@dataclass(frozen=True, slots=True, eq=False)
class SortKey:
    values: pa.Array
    descending: bool
    nulls_first: bool


def numbers_of(key: SortKey) -> list[IntegerArray]:
    """Return numbers that sort ascending as the key sorts, the most significant first. Raises NotEvaluable."""
    numbers = ~_codes(key.values) if key.descending else _codes(key.values)
    if not key.values.null_count:
        return [numbers]
    nulls = key.values.is_null().to_numpy(zero_copy_only=False)
    numbers = np.where(nulls, 0, numbers)
    return [np.where(nulls, -1 if key.nulls_first else 1, 0), numbers]


def _codes(values: pa.Array) -> IntegerArray:
    """Return numbers in the order of the values, any for NULL."""
    if not is_orderable(values.type) or Codec(values.type).is_object:
        return ranks(values)
    codes: IntegerArray = Codec(values.type).encode(values)[0]
    return codes
