"""count(*) and count(argument): exact at all times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, Values, integers, nothing
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.values.codes import IntegerArray

_COUNT_TYPE = pa.int64()


class Count:
    """Number of rows, which the groups have themselves (``missing`` is None), or of non-NULL arguments per group."""

    def __init__(self, missing: Missing | None) -> None:
        self._missing = missing

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray) -> Count:
        return cls(Missing(integers(parts["count"]), rows))

    def grow(self, capacity: int) -> None:
        if self._missing is not None:
            self._missing.grow(capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        if self._missing is None or argument is None:
            return nothing
        return self._missing.prepare(change, argument, "counted values")[1]

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        counts = rows if self._missing is None else self._missing.counts_at(slots, rows)
        exact = from_codes(_COUNT_TYPE, counts, np.zeros(len(rows), dtype=bool))
        return replace(exact, may_be_value=np.ones(len(rows), dtype=bool))

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        counts = rows if self._missing is None else self._missing.counts_at(slots, rows)
        return Values(pa.array(counts), np.ones(len(slots), dtype=bool))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        counts = rows if self._missing is None else self._missing.counts_at(slots, rows)
        return Values(pa.array(groups.total(counts)), np.ones(groups.count, dtype=bool))

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        return {} if self._missing is None else {"count": pa.array(self._missing.counts_at(slots, rows))}

    @property
    def memory(self) -> int:
        return 0 if self._missing is None else self._missing.memory

    def inexact(self, rows: IntegerArray) -> int:
        return 0
