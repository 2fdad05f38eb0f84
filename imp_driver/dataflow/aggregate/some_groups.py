"""Values of some groups of a state, for conditions to be evaluated over these alone."""

from __future__ import annotations

from dataclasses import dataclass

from imp_driver.dataflow.aggregate.accumulator import Accumulator
from imp_driver.dataflow.aggregate.keys import KeyColumn
from imp_driver.dataflow.bounds.interval import Interval
from imp_driver.values.codes import IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class SomeGroups:
    """Keys and aggregates of some slots of a state, with their rows."""

    keys: tuple[KeyColumn, ...]
    accumulators: tuple[Accumulator, ...]
    slots: IntegerArray
    rows: IntegerArray

    def key_interval(self, index: int) -> Interval:
        return self.keys[index].interval(self.slots)

    def aggregate_interval(self, index: int) -> Interval:
        return self.accumulators[index].interval(self.rows, self.slots)
