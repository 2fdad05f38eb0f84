"""Variance and standard deviation of integers and decimals: from their exact sum T and the exact sum of their squares Q.

Of n values the population's variance is (n Q - T**2) / n**2, that of a sample (n Q - T**2) / (n (n - 1)): the doubles nearest to these are
given, and their square roots. Spark converts values to DOUBLE and updates mean and central moment one by one, or merges those of parts, in
any order (CentralMomentAgg; Chan, Golub and LeVeque 1983); ``spread`` bounds how far that may end. A sample of one value has none: NULL.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, StateCorrupt, Values, integers, resized
from imp_driver.dataflow.aggregate.limbs import Limbs, as_integers, carried, limbs_of, squares_of
from imp_driver.dataflow.aggregate.moments import Moments, moments_of
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Family, Interval, outward, widened
from imp_driver.values.aggregates import ValueForm
from imp_driver.values.codes import BooleanArray, Codec, IntegerArray

_DIGITS = 38
_INTEGER = pa.decimal128(19, 0)


class Variance:
    """Count, exact sums of values and of squares (unscaled, in limbs), and whether a captured one had overflowed."""

    def __init__(self, missing: Missing, sums: Limbs, squares: Limbs, lost: IntegerArray, scale: int, form: ValueForm) -> None:
        self._missing = missing
        self._sums = sums
        self._squares = squares
        self._lost = lost
        self._scale = scale
        self._form = form

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType, form: ValueForm) -> Variance:
        scale = scale_of(argument_type)
        counts = integers(parts["count"])
        sums = parts["sum"].cast(pa.decimal128(_DIGITS, scale))
        squares = parts["squares"].cast(pa.decimal128(_DIGITS, 2 * scale))
        nulls = sums.is_null().to_numpy(zero_copy_only=False) | squares.is_null().to_numpy(zero_copy_only=False)
        lost = ((counts > 0) & nulls).astype(np.int64)
        return cls(Missing(counts, rows), limbs_of(sums), limbs_of(squares), lost, scale, form)

    def grow(self, capacity: int) -> None:
        self._missing.grow(capacity)
        if capacity > len(self._lost):
            more = np.zeros((4, capacity - len(self._lost)), dtype=np.int64)
            self._sums = np.concatenate((self._sums, more), axis=1)
            self._squares = np.concatenate((self._squares, more), axis=1)
            self._lost = resized(self._lost, capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        assert argument is not None
        counts, commit_missing = self._missing.prepare(change, argument, "values")
        decimals = argument if pa.types.is_decimal(argument.type) else argument.cast(_INTEGER)
        unscaled = limbs_of(decimals)
        # Of at most 63 bits and a sign, so the two lower limbs hold it.
        values: IntegerArray = unscaled[0] | (unscaled[1] << 32)
        sums = self._after(self._sums, unscaled, change)
        squares = self._after(self._squares, squares_of(values), change)
        empty, lost = counts == 0, self._lost[change.slots]
        is_left = np.any(sums != 0, axis=0) | np.any(squares != 0, axis=0)
        # A lost sum is any number.
        if np.any((lost == 0) & ((squares[3] < 0) | (empty & is_left))):
            raise StateCorrupt("a delta deleted other numbers of a group than the state summed; the state must be captured again")
        sums[:, empty], squares[:, empty] = 0, 0

        def commit() -> None:
            commit_missing()
            self._sums[:, change.slots], self._squares[:, change.slots] = sums, squares
            self._lost[change.slots] = np.where(empty, 0, lost)

        return commit

    @staticmethod
    def _after(held: Limbs, added: Limbs, change: GroupChange) -> Limbs:
        return carried(held[:, change.slots] + np.stack([change.total(limb * change.weights) for limb in added]))

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        counts = self._missing.counts_at(slots, rows)
        found = self._moments(counts, self._sums[:, slots], self._squares[:, slots])
        with np.errstate(all="ignore"):
            rounded = found.spread > 0
            lower = np.maximum(outward(found.value - found.spread, rounded)[0], 0.0)
            upper = outward(found.value + found.spread, rounded)[1]
        exact = Interval(Family.NUMBER, lower, upper, found.is_null, ~found.is_null)
        unknown = widened(exact, (self._lost[slots] > 0) & ~found.is_null)
        # No value overflows to NULL.
        return Interval(Family.NUMBER, unknown.lower, unknown.upper, found.is_null, ~found.is_null)

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        counts = self._missing.counts_at(slots, rows)
        found = self._moments(counts, self._sums[:, slots], self._squares[:, slots])
        known: BooleanArray = (self._lost[slots] == 0) | found.is_null
        return Values(pa.array(found.value, mask=found.is_null), known, np.where(found.is_null, 0.0, found.spread))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        missing, together = self._missing.rolled_up(rows, slots, groups)
        sums, squares = (carried(np.stack([groups.total(limb) for limb in each[:, slots]])) for each in (self._sums, self._squares))
        coarser = Variance(missing, sums, squares, groups.total(self._lost[slots]), self._scale, self._form)
        return coarser.values(together, groups.places)

    def _moments(self, counts: IntegerArray, sums: Limbs, squares: Limbs) -> Moments:
        return moments_of(counts, sums, squares, self._scale, self._form)

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        """Return what ``load`` takes; squares beyond what decimals hold come back as lost."""
        sums, squares = as_integers(self._sums[:, slots]), as_integers(self._squares[:, slots])
        nulls: BooleanArray = (self._lost[slots] > 0) | (np.abs(squares) >= 10**_DIGITS).astype(bool)
        sums[nulls], squares[nulls] = 0, 0
        return {
            "count": pa.array(self._missing.counts_at(slots, rows)),
            "sum": Codec(pa.decimal128(_DIGITS, self._scale)).decode(sums, nulls),
            "squares": Codec(pa.decimal128(_DIGITS, 2 * self._scale)).decode(squares, nulls),
        }

    @property
    def memory(self) -> int:
        return self._missing.memory + int(self._lost.nbytes + self._sums.nbytes + self._squares.nbytes)

    def inexact(self, rows: IntegerArray) -> int:
        return 0


def scale_of(argument_type: pa.DataType) -> int:
    """Return the digits after the point of an integer or decimal type."""
    return int(argument_type.scale) if pa.types.is_decimal(argument_type) else 0
