"""bit_and, bit_or and bit_xor: from how often each value occurs, since none of them can be taken back from its result."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, Values
from imp_driver.dataflow.aggregate.multiset import Multiset, Occurrences
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.values.aggregates import AccumulatorKind
from imp_driver.values.codes import IntegerArray

_OPERATIONS = {
    AccumulatorKind.BIT_AND: np.bitwise_and,
    AccumulatorKind.BIT_OR: np.bitwise_or,
    AccumulatorKind.BIT_XOR: np.bitwise_xor,
}


class Bits:
    """The values of each group, integers, of which the result has the type; NULL where there is none."""

    def __init__(self, held: Multiset, kind: AccumulatorKind) -> None:
        self._held = held
        self._kind = kind

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType, kind: AccumulatorKind) -> Bits:
        """Raises StateCorrupt when a group's values repeat or do not add up to its count."""
        return cls(Multiset.load(parts, rows, argument_type), kind)

    def grow(self, capacity: int) -> None:
        self._held.grow(capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        return self._held.prepare(change, argument).commit

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        places = np.arange(slots.stop or 0) if isinstance(slots, slice) else slots
        found = self._held.occurrences(places)
        return from_codes(self._held.codec.type, self._combined(found), found.totals == 0)

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        return self._values(self._held.occurrences(slots))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        return self._values(self._held.occurrences(slots, groups))

    def _values(self, found: Occurrences) -> Values:
        return Values(self._held.codec.decode(self._combined(found), found.totals == 0), np.ones(found.groups, dtype=bool))

    def _combined(self, found: Occurrences) -> IntegerArray:
        """Return the result of each group, anything where it has no value."""
        places, codes = found.places, found.codes
        if self._kind is AccumulatorKind.BIT_XOR:
            odd = found.copies % 2 == 1
            places, codes = places[odd], codes[odd]
        result = np.full(found.groups, -1 if self._kind is AccumulatorKind.BIT_AND else 0, dtype=np.int64)
        _OPERATIONS[self._kind].at(result, places, codes)
        return result

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        return self._held.parts(slots, rows)

    @property
    def memory(self) -> int:
        return self._held.memory

    def inexact(self, rows: IntegerArray) -> int:
        return 0
