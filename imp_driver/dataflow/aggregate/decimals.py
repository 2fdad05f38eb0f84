"""sum and avg of decimals, exact.

Unscaled sums are held in 64 bits, or in limbs (wide_sums.py), so that they never overflow. Spark answers NULL (or raises) when a sum passes
38 digits, also on the way there. That is ruled out by the type and the count of the values, or by the sum of their absolute values, which
is kept of wide types: no order of them can pass it. Where it cannot be ruled out NULL stays possible.

Averages of short decimals Spark computes with doubles (rule DecimalAggregates of its optimizer): the unscaled values are added as doubles,
divided by their count and by the power of ten, and what that is in digits is rounded. So halves may go either way, always the same one as
long as the sums are whole numbers that doubles have (short_averages.py).
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
)
from imp_driver.dataflow.aggregate.double_sums import SLACK, UNIT_ROUNDOFF, TrackedSum, delta_error
from imp_driver.dataflow.aggregate.limbs import as_floats, carried, limbs_of
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.aggregate.short_averages import short_averages
from imp_driver.dataflow.aggregate.wide_sums import WideSums
from imp_driver.dataflow.bounds.interval import EXACT_LIMIT, Family, Interval, NumberForm, outward, scaled, widened
from imp_driver.values.aggregates import DIGITS_OF_DOUBLES
from imp_driver.values.codes import BooleanArray, CodeArray, Codec, FloatArray, IntegerArray

_MAXIMUM_DIGITS = 38
_AVERAGED_DIGITS = 18
_FEW_ROWS = 10**9
_MORE_DIGITS = 4
"""Of an average's scale, beyond that of its argument."""
_MOST_DIVIDED = 2**61 // 10**_MORE_DIGITS
"""Sums that are divided in 64 bits."""
_OVERFLOW = 10.0**_MAXIMUM_DIGITS * (1 - 1e-9)
_ROUNDINGS = 8
"""Units in the last place by which an unscaled value as a double may be off, scaled and taken a few times."""


class DecimalSum:
    """Count, exact sum and whether the captured sum had overflowed; with ``magnitude`` also the sum of absolute values."""

    def __init__(
        self,
        missing: Missing,
        sums: WideSums,
        lost: BooleanArray,
        argument_type: pa.DataType,
        magnitude: TrackedSum | None,
        *,
        average: bool,
    ) -> None:
        self._missing = missing
        self._sums = sums
        self._lost = lost
        self._type = argument_type
        self._magnitude = magnitude
        self._average = average

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType, *, average: bool) -> DecimalSum:
        counts = integers(parts["count"])
        sums = parts["sum"].cast(pa.decimal128(_MAXIMUM_DIGITS, argument_type.scale))
        lost = (counts > 0) & sums.is_null().to_numpy(zero_copy_only=False)
        magnitude = _captured(parts, counts) if "magnitude" in parts else None
        return cls(Missing(counts, rows), WideSums(limbs_of(sums)), lost, argument_type, magnitude, average=average)

    def grow(self, capacity: int) -> None:
        self._missing.grow(capacity)
        if capacity > len(self._lost):
            self._lost = np.concatenate((self._lost, np.zeros(capacity - len(self._lost), dtype=bool)))
        self._sums.grow(capacity)
        if self._magnitude is not None:
            self._magnitude.grow(capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        assert argument is not None
        counts, commit_missing = self._missing.prepare(change, argument, "summed values")
        values = limbs_of(argument)
        added = np.stack([change.total(limb * change.weights) for limb in values])
        limbs = carried(self._sums.at(change.slots) + added)
        empty, lost = counts == 0, self._lost[change.slots]
        if np.any(limbs[:, empty & ~lost]):
            raise StateCorrupt("a delta deleted other decimals of a group than the state summed; the state must be captured again")
        limbs[:, empty] = 0
        commit_magnitude = self._prepare_magnitude(change, np.abs(as_floats(values)), counts)

        def commit() -> None:
            commit_missing()
            commit_magnitude()
            self._lost[change.slots] = lost & ~empty
            self._sums.put(change.slots, limbs)

        return commit

    def _prepare_magnitude(self, change: GroupChange, unscaled: FloatArray, counts: IntegerArray) -> Commit:
        if self._magnitude is None:
            return nothing
        absolute = unscaled / 10.0**self._type.scale
        churn = change.float_total(absolute * np.abs(change.weights))
        rows = np.bincount(change.inverse, minlength=len(change.slots))
        # Values become doubles first, and are scaled.
        error = delta_error(change, churn, rows) + _ROUNDINGS * UNIT_ROUNDOFF * churn
        return self._magnitude.prepare(change, change.float_total(absolute * change.weights), error, counts == 0)

    def _fits(self, counts: IntegerArray, slots: Slots) -> BooleanArray:
        """Say for which groups no sum of some of their values, in whatever order, leaves 38 digits."""
        fits: BooleanArray = counts * 10.0**self._type.precision < _OVERFLOW
        if self._magnitude is not None:
            with np.errstate(over="ignore"):
                fits |= self._magnitude.upper(slots) * 10.0**self._type.scale < _OVERFLOW
        return fits

    def _are_doubles(self, counts: IntegerArray, slots: Slots) -> BooleanArray:
        """Say for which groups every sum of some of their unscaled values, in whatever order, is a whole number that doubles have."""
        exact: BooleanArray = counts * 10.0**self._type.precision < EXACT_LIMIT
        if self._magnitude is not None:
            exact |= self._magnitude.upper(slots) * 10.0**self._type.scale < EXACT_LIMIT * (1 - 1e-9)
        return exact

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        counts = self._missing.counts_at(slots, rows)
        values = self._sums.floats(slots)
        lower, upper = _neighbours(values)
        lost = self._lost[slots] | (np.abs(values) >= _OVERFLOW)
        if self._average and self._type.precision <= DIGITS_OF_DOUBLES:
            lost |= ~self._are_doubles(counts, slots)
        null = (counts == 0) | ~self._fits(counts, slots)
        precision, scale = self._type.precision, self._type.scale
        if self._average:
            lower, upper, scale = self._averages(lower, upper, counts)
            null = null | (precision > 34)
            form = NumberForm(min(precision + 4, _MAXIMUM_DIGITS) - scale, scale, 0)
        else:
            form = NumberForm(min(precision + 10, _MAXIMUM_DIGITS) - scale, scale, 0)
        return widened(Interval(Family.NUMBER, lower, upper, null, counts > 0, form=form), lost & (counts > 0))

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        counts, sums = self._missing.counts_at(slots, rows), self._sums.integers(slots)
        precision, scale = self._type.precision, self._type.scale
        known = ~self._lost[slots] & self._fits(counts, slots)
        if self._average and precision <= DIGITS_OF_DOUBLES:
            kind = pa.decimal128(precision + _MORE_DIGITS, scale + _MORE_DIGITS)
            known &= self._are_doubles(counts, slots)
            sums = short_averages(np.where(known, sums, 0).astype(np.int64), np.maximum(counts, 1), scale)
        elif self._average:
            kind = pa.decimal128(min(precision + _MORE_DIGITS, _MAXIMUM_DIGITS), min(scale + _MORE_DIGITS, _MAXIMUM_DIGITS))
            # Spark divides to 38 digits or more before it rounds to the scale: no quotient of so small a count is that close to a half.
            known &= (precision <= _AVERAGED_DIGITS) & (counts < _FEW_ROWS)
            sums = _quotients(sums, np.maximum(counts, 1))
        else:
            kind = pa.decimal128(min(precision + 10, _MAXIMUM_DIGITS), scale)
        sums[~known] = 0
        return Values(Codec(kind).decode(sums, counts == 0), known | (counts == 0))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        missing, together = self._missing.rolled_up(rows, slots, groups)
        sums, lost = self._sums.rolled_up(slots, groups), groups.total(self._lost[slots].astype(np.int64)) > 0
        magnitude = None if self._magnitude is None else self._magnitude.rolled_up(slots, groups)
        coarser = DecimalSum(missing, sums, lost, self._type, magnitude, average=self._average)
        return coarser.values(together, groups.places)

    def _averages(self, lower: FloatArray, upper: FloatArray, counts: IntegerArray) -> tuple[FloatArray, FloatArray, int]:
        """Divide and widen to the neighbours at Spark's scale, whichever way it rounds."""
        scale = min(self._type.scale + 4, _MAXIMUM_DIGITS)
        shifted = Interval(Family.NUMBER, lower, upper, counts == 0, counts > 0)
        low, high = scaled(shifted, scale - self._type.scale)
        divisor = np.maximum(counts, 1)
        with np.errstate(all="ignore"):
            return np.floor(outward(low / divisor)[0]), np.ceil(outward(high / divisor)[1]), scale

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        codec = Codec(pa.decimal128(_MAXIMUM_DIGITS, self._type.scale))
        sums = self._sums.integers(slots)
        nulls: BooleanArray = self._lost[slots].copy()
        if sums.dtype == object:
            nulls |= (np.abs(sums) >= 10**_MAXIMUM_DIGITS).astype(bool)
        sums[nulls] = 0
        parts = {"count": pa.array(self._missing.counts_at(slots, rows)), "sum": codec.decode(sums, nulls)}
        return parts if self._magnitude is None else {**parts, **self._magnitude.as_magnitudes(slots)}

    @property
    def memory(self) -> int:
        own = self._missing.memory + int(self._lost.nbytes) + self._sums.memory
        return own + (0 if self._magnitude is None else self._magnitude.memory)

    def inexact(self, rows: IntegerArray) -> int:
        return 0


def _captured(parts: Parts, counts: IntegerArray) -> TrackedSum:
    """Return the sums of absolute values as Spark has added them, or as a state has left them."""
    values = floats(parts["magnitude"])
    rounding = (counts + _ROUNDINGS) * UNIT_ROUNDOFF * values * SLACK
    return TrackedSum.of_magnitudes(parts, rounding)


def _neighbours(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    inexact = np.abs(values) >= EXACT_LIMIT
    if not inexact.any():
        return values, values
    slack = np.where(inexact, np.abs(values) * 2.0**-50, 0.0)
    return values - slack, values + slack


def _quotients(sums: CodeArray, counts: IntegerArray) -> CodeArray:
    """Divide to four more digits, rounding halves away from zero."""
    if sums.dtype == object or (len(sums) and max(int(sums.max()), -int(sums.min()), int(counts.max())) >= _MOST_DIVIDED):
        sums, counts = sums.astype(object), counts.astype(object)
    magnitudes = (2 * np.abs(sums * 10**_MORE_DIGITS) + counts) // (2 * counts)
    quotients: CodeArray = np.where(sums < 0, -magnitudes, magnitudes)
    return quotients
