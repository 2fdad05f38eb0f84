"""sum and avg of doubles: an interval that holds every result Spark may give, in whatever order it adds.

Two sources of difference are covered: the plain query's own rounding, at most (n - 1) * 2**-53 * magnitude in any order, and ours, which is
captured likewise and then tracked exactly. A group that holds a NaN or an infinity is unknown until that value is gone. A group that was
captured with one, where the sum does not tell which and how many, is unknown until all of its values are gone.
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
    check_counts,
    integers,
    nothing,
    resized,
)
from imp_driver.dataflow.aggregate.accumulator import floats as float_part
from imp_driver.dataflow.aggregate.double_sums import SLACK, UNIT_ROUNDOFF, TrackedSum, delta_error, order_error
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Family, Interval, outward, widened
from imp_driver.values.codes import BooleanArray, FloatArray, IntegerArray

_OVERFLOW_RISK = 1e307
_DRIFT = 2.0**-20
"""Tracked error relative to the magnitude from which on capturing again pays."""


class FloatSum:
    """Count, count of NaN and infinite values, finite sum and magnitude with their error bounds."""

    def __init__(
        self, missing: Missing, nonfinite: IntegerArray | None, total: TrackedSum, magnitude: TrackedSum, *, average: bool
    ) -> None:
        self._missing = missing
        self._nonfinite = nonfinite
        self._total = total
        self._magnitude = magnitude
        self._average = average

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, *, average: bool) -> FloatSum:
        counts, nonfinite = integers(parts["count"]), integers(parts["nonfinite"])
        sums, magnitude = float_part(parts["sum"]), float_part(parts["magnitude"])
        with np.errstate(all="ignore"):
            # The captured magnitude is itself rounded; SLACK covers what that takes from the bound.
            captured = order_error(counts - nonfinite, magnitude) * SLACK
        errors = float_part(parts["error"]) if "error" in parts else captured
        magnitude_errors = float_part(parts["magnitude_error"]) if "magnitude_error" in parts else captured
        lost = ~(np.isfinite(sums) & np.isfinite(magnitude))
        sums[lost], magnitude[lost] = 0.0, 0.0
        errors, magnitude_errors = np.where(lost, np.inf, errors), np.where(lost, np.inf, magnitude_errors)
        found = nonfinite if nonfinite.any() else None
        return cls(Missing(counts, rows), found, TrackedSum(sums, errors), TrackedSum(magnitude, magnitude_errors), average=average)

    def grow(self, capacity: int) -> None:
        self._missing.grow(capacity)
        if self._nonfinite is not None and capacity > len(self._nonfinite):
            self._nonfinite = resized(self._nonfinite, capacity)
        self._total.grow(capacity)
        self._magnitude.grow(capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        assert argument is not None
        values = float_part(argument)
        finite = np.isfinite(values)
        values[~finite] = 0.0
        counts, commit_missing = self._missing.prepare(change, argument, "summed values")
        lost = np.isinf(self._magnitude.errors_at(change.slots))
        nonfinite, commit_nonfinite = self._prepare_nonfinite(change, finite, counts, lost)
        with np.errstate(all="ignore"):
            commit_sums = self._prepare_sums(change, values, counts == np.where(lost, 0, nonfinite))

        def commit() -> None:
            commit_missing()
            commit_nonfinite()
            for commit_sum in commit_sums:
                commit_sum()

        return commit

    def _prepare_nonfinite(
        self, change: GroupChange, finite: BooleanArray, counts: IntegerArray, lost: BooleanArray
    ) -> tuple[IntegerArray, Commit]:
        """Return the NaN and infinite values of the touched groups after a delta; of those that are lost any may be one."""
        if self._nonfinite is None and finite.all():
            return np.zeros(len(change.slots), dtype=np.int64), nothing
        held = self._nonfinite_at(change.slots)
        nonfinite = held if finite.all() else held + change.total(np.where(finite, 0, change.weights))
        nonfinite = np.where(lost & (held > 0), counts, nonfinite)
        check_counts(nonfinite, counts, "NaN and infinite values")

        def commit() -> None:
            if self._nonfinite is None:
                self._nonfinite = np.zeros(len(self._total.values), dtype=np.int64)
            self._nonfinite[change.slots] = nonfinite

        return nonfinite, commit

    def _nonfinite_at(self, slots: IntegerArray) -> IntegerArray:
        return np.zeros(len(slots), dtype=np.int64) if self._nonfinite is None else self._nonfinite[slots]

    def _prepare_sums(
        self,
        change: GroupChange,
        values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
        empty: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    ) -> tuple[Commit, Commit]:
        weighted = values * change.weights
        absolute = np.abs(values)
        churn = change.float_total(np.abs(weighted))
        error = delta_error(change, churn, np.bincount(change.inverse, minlength=len(change.slots)))
        added = change.float_total(absolute * change.weights)
        slots = change.slots
        left = self._magnitude.values[slots] + added
        slack = (self._magnitude.errors_at(slots) + error + UNIT_ROUNDOFF * np.abs(left)) * SLACK
        if np.any(left + slack < 0) or np.any(left[empty] - slack[empty] > 0):
            raise StateCorrupt("a delta deleted other doubles of a group than the state summed; the state must be captured again")
        total = self._total.prepare(change, change.float_total(weighted), error, empty)
        return total, self._magnitude.prepare(change, added, error, empty)

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        """Spark adds doubles in an order that nobody knows, so only a sum of none is known."""
        empty = self._missing.counts_at(slots, rows) == 0
        return Values(pa.nulls(len(slots), pa.float64()), empty)

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        return self.coarser(rows, slots, groups).values(groups.total(rows), groups.places)

    def coarser(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> FloatSum:
        """Return what bounds the sums of groups that some slots fall into, given the rows of these, and nothing of the sums themselves."""
        nonfinite = None if self._nonfinite is None else groups.total(self._nonfinite[slots])
        missing, _ = self._missing.rolled_up(rows, slots, groups)
        unknown = TrackedSum(np.zeros(groups.count), np.full(groups.count, np.inf))
        return FloatSum(missing, nonfinite, unknown, self._magnitude.rolled_up(slots, groups), average=self._average)

    def counts_at(self, rows: IntegerArray, slots: IntegerArray) -> IntegerArray:
        """Return the summed values of some slots, given their rows."""
        return self._missing.counts_at(slots, rows)

    def spread_at(self, rows: IntegerArray, slots: IntegerArray) -> FloatArray:
        """Bound how far a sum in any order is from the exact one; infinite where it may overflow, or with NaN or infinite values."""
        magnitude = self._magnitude.upper(slots)
        spread = (order_error(self.counts_at(rows, slots), magnitude) + UNIT_ROUNDOFF * magnitude) * SLACK
        lost = ~(magnitude < _OVERFLOW_RISK) | (self._nonfinite_at(slots) > 0)
        return np.where(lost, np.inf, spread)

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        counts = self._missing.counts_at(slots, rows)
        sums = self._total.values[slots]
        with np.errstate(all="ignore"):
            magnitude = self._magnitude.upper(slots)
            error = (self._total.errors_at(slots) + order_error(counts, magnitude)) * SLACK
            rounded = error > 0
            lower, upper = outward(sums - error, rounded)[0], outward(sums + error, rounded)[1]
            if self._average:
                divisor = np.maximum(counts, 1)
                lower, upper = outward(lower / divisor, rounded)[0], outward(upper / divisor, rounded)[1]
        lost = ~(magnitude < _OVERFLOW_RISK) | ~np.isfinite(error)
        if self._nonfinite is not None:
            lost = lost | (self._nonfinite[slots] > 0)
        exact = Interval(Family.NUMBER, lower, upper, counts == 0, counts > 0)
        unknown = widened(exact, lost & (counts > 0))
        # Whatever a sum of doubles comes to, it is NULL only when there is nothing to sum.
        return Interval(Family.NUMBER, unknown.lower, unknown.upper, counts == 0, counts > 0)

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        return {
            "count": pa.array(self._missing.counts_at(slots, rows)),
            "nonfinite": pa.array(self._nonfinite_at(slots)),
            "sum": pa.array(self._total.values[slots]),
            "error": pa.array(self._total.errors_at(slots)),
            "magnitude": pa.array(self._magnitude.values[slots]),
            "magnitude_error": pa.array(self._magnitude.errors_at(slots)),
        }

    @property
    def memory(self) -> int:
        nonfinite = 0 if self._nonfinite is None else int(self._nonfinite.nbytes)
        return self._missing.memory + nonfinite + self._total.memory + self._magnitude.memory

    def inexact(self, rows: IntegerArray) -> int:
        """Count groups whose tracked error outgrew what capturing again would leave."""
        size = len(rows)
        errors = self._total.errors_at(slice(size))
        drifted = np.isfinite(errors) & (errors > _DRIFT * np.abs(self._magnitude.values[:size]))
        return int(np.count_nonzero(drifted & (self._missing.counts_at(slice(size), rows) > self._nonfinite_at(np.arange(size)))))
