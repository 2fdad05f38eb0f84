"""median, percentile and percentile_cont, interpolated, and percentile_disc: values at a place in the order of a multiset.

All are DOUBLE in Spark 4.2, whatever the argument, and computed in its own steps (aggregate/percentiles.scala): of n values, ordered, the
interpolated one is at place (n - 1) * share, between its two neighbours; the other one is number ceil(n * share), at least the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, Values
from imp_driver.dataflow.aggregate.multiset import Multiset, Occurrences
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.values.aggregates import Share
from imp_driver.values.codes import CodeArray, Codec, FloatArray, IntegerArray, float_codes, floats_of

_DOUBLE = pa.float64()
_EXACT_INTEGERS, _EXACT_POWERS = 2**53, 22
"""A quotient of such an integer and such a power of ten is rounded once."""


class Percentile:
    """The values of each group, of which one place is asked for."""

    def __init__(self, held: Multiset, share: Share) -> None:
        self._held = held
        self._share = share

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType, share: Share) -> Percentile:
        """Raises StateCorrupt when a group's values repeat or do not add up to its count."""
        return cls(Multiset.load(parts, rows, argument_type), share)

    def grow(self, capacity: int) -> None:
        self._held.grow(capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        return self._held.prepare(change, argument).commit

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        places = np.arange(slots.stop or 0) if isinstance(slots, slice) else slots
        found = self._held.occurrences(places)
        return from_codes(_DOUBLE, float_codes(self._doubles(found)), found.totals == 0)

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        return self._values(self._held.occurrences(slots))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        return self._values(self._held.occurrences(slots, groups))

    def _values(self, found: Occurrences) -> Values:
        return Values(pa.array(self._doubles(found), mask=found.totals == 0), np.ones(found.groups, dtype=bool))

    def _doubles(self, found: Occurrences) -> FloatArray:
        """Return the value of each group, 0 where it has none."""
        totals = found.totals
        result = np.zeros(found.groups)
        held = np.flatnonzero(totals)
        if not len(held):
            return result
        order = _Order(found, self._held.codec, held, is_descending=self._share.is_descending)
        if not self._share.is_interpolated:
            numbers = np.ceil(totals[held] * self._share.value).astype(np.int64)
            result[held] = order.at(np.maximum(numbers - 1, 0))[1]
            return result
        position = (totals[held] - 1) * self._share.value
        lower, upper = np.floor(position), np.ceil(position)
        low_codes, low = order.at(lower.astype(np.int64))
        high_codes, high = order.at(upper.astype(np.int64))
        with np.errstate(all="ignore"):
            between = (upper - position) * low + (position - lower) * high
        result[held] = np.where(low_codes == high_codes, low, between)
        return result

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        return self._held.parts(slots, rows)

    @property
    def memory(self) -> int:
        return self._held.memory

    def inexact(self, rows: IntegerArray) -> int:
        return 0


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """The values of some groups, of which each has some, in their order."""

    found: Occurrences
    codec: Codec
    held: IntegerArray
    is_descending: bool

    def at(self, places: IntegerArray) -> tuple[CodeArray, FloatArray]:
        """Return codes and doubles of the values at a place of each group, counted from 0."""
        totals = self.found.totals
        before = (np.cumsum(totals) - totals)[self.held]
        asked = totals[self.held] - 1 - places if self.is_descending else places
        codes = self.found.codes[np.searchsorted(np.cumsum(self.found.copies), before + asked + 1)]
        return codes, _doubles_of(self.codec, codes)


def _doubles_of(codec: Codec, codes: CodeArray) -> FloatArray:
    """Return numbers as Spark converts them: the nearest doubles."""
    if codec.is_float:
        return floats_of(codes.astype(np.int64))
    if not pa.types.is_decimal(codec.type):
        return codes.astype(np.float64)
    scale, divisor = int(codec.type.scale), 10 ** int(codec.type.scale)
    if codes.dtype == np.int64 and scale <= _EXACT_POWERS and not np.any(np.abs(codes) >= _EXACT_INTEGERS):
        return codes / float(divisor)
    return np.array([int(code) / divisor for code in codes.tolist()], dtype=np.float64)
