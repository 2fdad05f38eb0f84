"""count(DISTINCT argument): the distinct ones of a multiset. Exact at all times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, Values
from imp_driver.dataflow.aggregate.multiset import HeldValues, Multiset
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.values.codes import IntegerArray

_COUNT_TYPE = pa.int64()


class DistinctCount:
    """How many different non-NULL arguments each group has."""

    def __init__(self, held: Multiset) -> None:
        self._held = held

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType) -> DistinctCount:
        """Raises StateCorrupt when a group's values repeat or do not add up to its count."""
        return cls(Multiset.load(parts, rows, argument_type))

    def grow(self, capacity: int) -> None:
        self._held.grow(capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        return self._held.prepare(change, argument).commit

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        exact = from_codes(_COUNT_TYPE, self._held.distinct_at(slots), np.zeros(len(rows), dtype=bool))
        return replace(exact, may_be_value=np.ones(len(rows), dtype=bool))

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        return Values(pa.array(self._held.distinct_at(slots)), np.ones(len(slots), dtype=bool))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        return self.copy_of(slots).rolled_up(rows, np.arange(len(slots)), groups)

    def copy_of(self, slots: IntegerArray) -> DistinctCopy:
        """Return what coarser groups are counted from."""
        return DistinctCopy(self._held.held(slots))

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        return self._held.parts(slots, rows)

    @property
    def memory(self) -> int:
        return self._held.memory

    def inexact(self, rows: IntegerArray) -> int:
        return 0


class DistinctCopy:
    """The different arguments of some groups, by their places, as they were: a ``Copy``."""

    def __init__(self, held: HeldValues) -> None:
        self._held = held

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        return Values(pa.array(self._held.distinct_in(slots, groups)), np.ones(groups.count, dtype=bool))

    @property
    def memory(self) -> int:
        return self._held.memory
