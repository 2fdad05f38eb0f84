"""sum and avg of integers.

The sum is exact modulo 2**64, as Spark's is without ANSI mode; with it Spark raises, so a delta that takes a sum out of 64 bits has the
groups captured again, which then fails as the query does. Whether it raises on the way to a sum that fits depends on its order; while the
absolute values of 64-bit integers add up to less than 2**63 no order can. Spark averages integers by adding doubles in unknown order and
dividing by the count: exact up to the division while the absolute values add up to less than 2**53, else within n * 2**-53 * magnitude.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import (
    Commit,
    GroupChange,
    Parts,
    Slots,
    StateCorrupt,
    Values,
    floats,
    integers,
    nothing,
    resized,
)
from imp_driver.dataflow.aggregate.double_sums import SLACK, UNIT_ROUNDOFF, TrackedSum, delta_error
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import EXACT_LIMIT, Family, Interval, from_codes, outward, widened
from imp_driver.values.codes import FloatArray, IntegerArray

_WRAP_LIMIT = 2.0**63
_LOW = np.int64(0xFFFF_FFFF)


class IntegerSum:
    """Count and wrapping sum; with ``magnitude`` also the sum of absolute values, for averages and for what may leave 64 bits."""

    def __init__(self, missing: Missing, sums: IntegerArray, magnitude: TrackedSum | None, *, average: bool) -> None:
        self._missing = missing
        self._sums = sums
        self._magnitude = magnitude
        self._average = average

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, *, average: bool) -> IntegerSum:
        counts = integers(parts["count"])
        magnitude = None
        if "magnitude" in parts:
            values = floats(parts["magnitude"])
            captured = _rounding(values, (counts + 1) * UNIT_ROUNDOFF * values * SLACK)
            magnitude = TrackedSum.of_magnitudes(parts, captured)
        return cls(Missing(counts, rows), integers(parts["sum"]), magnitude, average=average)

    def grow(self, capacity: int) -> None:
        self._missing.grow(capacity)
        if capacity > len(self._sums):
            self._sums = resized(self._sums, capacity)
        if self._magnitude is not None:
            self._magnitude.grow(capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        assert argument is not None
        values = integers(argument)
        counts, commit_missing = self._missing.prepare(change, argument, "summed values")
        sums = self._sums[change.slots] + change.total(values * change.weights)
        if not self._average:
            _check_range(self._sums[change.slots], change, values)
        if np.any(sums[counts == 0] != 0):
            raise StateCorrupt("a delta deleted other integers of a group than the state summed; the state must be captured again")
        commit_magnitude = self._prepare_magnitude(change, argument, values, counts)

        def commit() -> None:
            commit_missing()
            self._sums[change.slots] = sums
            commit_magnitude()

        return commit

    def _prepare_magnitude(self, change: GroupChange, argument: pa.Array, values: IntegerArray, counts: IntegerArray) -> Commit:
        if self._magnitude is None:
            return nothing
        absolute = np.abs(values.astype(np.float64))
        churn = change.float_total(absolute * np.abs(change.weights))
        rows = np.bincount(change.inverse, minlength=len(change.slots))
        error = _rounding(churn, delta_error(change, churn, rows) + 2 * UNIT_ROUNDOFF * churn)
        return self._magnitude.prepare(change, change.float_total(absolute * change.weights), error, counts == 0)

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        counts = self._missing.counts_at(slots, rows)
        if not self._average or self._magnitude is None:
            return from_codes(pa.int64(), self._sums[slots], counts == 0)
        return self._averages(self._sums[slots].astype(np.float64), counts, self._magnitude.upper(slots))

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        counts, sums = self._missing.counts_at(slots, rows), self._sums[slots]
        known = np.ones(len(slots), dtype=bool)
        if self._magnitude is not None:
            known = (counts == 0) | (self._magnitude.upper(slots) < (EXACT_LIMIT if self._average else _WRAP_LIMIT * 0.99))
        return Values(pa.array(sums / np.maximum(counts, 1) if self._average else sums, mask=counts == 0), known)

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        missing, together = self._missing.rolled_up(rows, slots, groups)
        magnitude = None if self._magnitude is None else self._magnitude.rolled_up(slots, groups)
        coarser = IntegerSum(missing, groups.total(self._sums[slots]), magnitude, average=self._average)
        return coarser.values(together, groups.places)

    def _averages(self, sums: FloatArray, counts: IntegerArray, magnitude: FloatArray) -> Interval:
        divisor = np.maximum(counts, 1)
        rounded = magnitude >= EXACT_LIMIT
        with np.errstate(all="ignore"):
            error = (counts + 3) * UNIT_ROUNDOFF * magnitude * SLACK
            lower = np.where(rounded, outward((sums - error) / divisor)[0], sums / divisor)
            upper = np.where(rounded, outward((sums + error) / divisor)[1], sums / divisor)
        lost = (counts > 0) & ~(magnitude < _WRAP_LIMIT * 0.99)
        return widened(Interval(Family.NUMBER, lower, upper, counts == 0, counts > 0), lost)

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        parts = {"count": pa.array(self._missing.counts_at(slots, rows)), "sum": pa.array(self._sums[slots])}
        return parts if self._magnitude is None else {**parts, **self._magnitude.as_magnitudes(slots)}

    @property
    def memory(self) -> int:
        return self._missing.memory + int(self._sums.nbytes) + (self._magnitude.memory if self._magnitude else 0)

    def inexact(self, rows: IntegerArray) -> int:
        return 0


def _check_range(sums: IntegerArray, change: GroupChange, values: IntegerArray) -> None:
    """Raise StateCorrupt when a sum leaves 64 bits, told from two halves of 32 bits that cannot overflow."""
    low = (sums & _LOW) + change.total((values & _LOW) * change.weights)
    high = (sums >> 32) + change.total((values >> 32) * change.weights) + (low >> 32)
    if np.any((high < -(1 << 31)) | (high >= 1 << 31)):
        raise StateCorrupt("a sum of integers leaves 64 bits, where Spark wraps or raises; the state must be captured again")


def _rounding(magnitude: FloatArray, error: FloatArray) -> FloatArray:
    """Return the error bound of a sum of whole numbers: none below 2**53."""
    return np.where(magnitude < EXACT_LIMIT, 0.0, error)
