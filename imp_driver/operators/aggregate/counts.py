"""count(*) and count(argument): exact at all times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from imp_driver.operators.aggregate.accumulator import Commit, GroupChange, Parts, check_counts, integers, resized
from imp_driver.operators.interval import Interval, from_codes
from imp_driver.sketch.codes import IntegerArray

_COUNT_TYPE = pa.int64()


class Count:
    """Number of rows (``of_rows``) or of non-NULL arguments per group."""

    def __init__(self, counts: IntegerArray, *, of_rows: bool) -> None:
        self._counts = counts
        self._of_rows = of_rows

    @classmethod
    def load_rows(cls, rows: IntegerArray) -> Count:
        return cls(rows.copy(), of_rows=True)

    @classmethod
    def load(cls, parts: Parts) -> Count:
        return cls(integers(parts["count"]), of_rows=False)

    def grow(self, capacity: int) -> None:
        if capacity > len(self._counts):
            self._counts = resized(self._counts, capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        added = change.rows if argument is None else change.counted(argument)
        counts = self._counts[change.slots] + added
        check_counts(counts, change.remaining, "rows" if self._of_rows else "counted values")

        def commit() -> None:
            self._counts[change.slots] = counts

        return commit

    def interval(self, size: int) -> Interval:
        exact = from_codes(_COUNT_TYPE, self._counts[:size], np.zeros(size, dtype=bool))
        return replace(exact, may_be_value=np.ones(size, dtype=bool))

    def parts(self, slots: IntegerArray) -> Parts:
        return {} if self._of_rows else {"count": pa.array(self._counts[slots])}

    @property
    def memory(self) -> int:
        return int(self._counts.nbytes)

    def inexact(self, size: int) -> int:
        return 0
