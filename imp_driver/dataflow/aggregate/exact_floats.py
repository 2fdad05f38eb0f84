"""sum and avg of doubles as the correctly rounded ones: Spark's own differ from these, and from run to run, within a known spread.

The parts of the values on fixed grids (exact_sums.py) stand beside what is known of any order of summation (floats.py), which gives the
spread, and decides where a value cannot be told: with NaN, infinite or huge values among the arguments.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, StateCorrupt, Values, integers, resized
from imp_driver.dataflow.aggregate.accumulator import floats as float_part
from imp_driver.dataflow.aggregate.double_sums import SLACK, UNIT_ROUNDOFF, TrackedSum, delta_error
from imp_driver.dataflow.aggregate.exact_sums import MOST_VALUES, rest_error, rounded_sums, split
from imp_driver.dataflow.aggregate.floats import FloatSum
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval
from imp_driver.values.codes import FloatArray, IntegerArray
from imp_driver.values.float_grids import LIMIT, PARTS


class ExactFloatSum:
    """``small`` counts the values that are split, ``below`` those with a rest; the sum of the rests is known within a bound."""

    def __init__(
        self, bounded: FloatSum, small: IntegerArray, below: IntegerArray, parts: FloatArray, rest: TrackedSum, *, average: bool
    ) -> None:
        self._bounded = bounded
        self._small = small
        self._below = below
        self._parts = parts
        self._rest = rest
        self._average = average

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, *, average: bool) -> ExactFloatSum:
        below = integers(parts["below"])
        # Where no value is large, all are split, and Spark was not asked for what follows from that.
        small = integers(parts["small"] if "small" in parts else parts["count"])
        rest = TrackedSum(float_part(parts["rest"]), float_part(parts["rest_error"]) if "rest_error" in parts else rest_error(below))
        sums = np.stack([float_part(parts[f"part_{place}"]) for place in range(PARTS)]) if len(small) else np.zeros((PARTS, 0))
        if "sum" not in parts:
            parts = {**parts, **_sum_of(sums, rest, integers(parts["count"]), float_part(parts["magnitude"]))}
        return cls(FloatSum.load(parts, rows, average=average), small, below, sums, rest, average=average)

    def grow(self, capacity: int) -> None:
        self._bounded.grow(capacity)
        self._rest.grow(capacity)
        if capacity > len(self._small):
            self._small, self._below = resized(self._small, capacity), resized(self._below, capacity)
            self._parts = np.concatenate((self._parts, np.zeros((PARTS, capacity - self._parts.shape[1]))), axis=1)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        assert argument is not None
        commit_bounded = self._bounded.prepare(change, argument)
        values = float_part(argument)
        with np.errstate(invalid="ignore"):
            is_small = np.abs(values) < LIMIT
        values[~is_small] = 0.0
        parts, rest = split(values)
        slots = change.slots
        present = is_small if not argument.null_count else is_small & argument.is_valid().to_numpy(zero_copy_only=False)
        small = self._small[slots] + change.total(np.where(present, change.weights, 0))
        has_rest = rest != 0
        below = self._below[slots] + change.total(np.where(has_rest, change.weights, 0))
        sums = self._parts[:, slots] + np.stack([change.float_total(part * change.weights) for part in parts])
        empty = small == 0
        if np.any(small < 0) or np.any(below < 0) or np.any(sums[:, empty]):
            raise StateCorrupt("a delta deleted other doubles of a group than the state summed; the state must be captured again")
        churn = change.float_total(np.abs(rest * change.weights))
        error = delta_error(change, churn, np.bincount(change.inverse[has_rest], minlength=len(slots)))
        commit_rest = self._rest.prepare(change, change.float_total(rest * change.weights), error, below == 0)

        def commit() -> None:
            commit_bounded()
            commit_rest()
            self._small[slots], self._below[slots] = small, below
            self._parts[:, slots] = sums

        return commit

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        return self._bounded.interval(rows, slots)

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        counts, small = self._bounded.counts_at(rows, slots), self._small[slots]
        with np.errstate(all="ignore"):
            sums, known = rounded_sums(self._parts[:, slots], self._rest.values[slots], self._rest.errors_at(slots))
            spread = self._bounded.spread_at(rows, slots)
            if self._average:
                sums, spread = sums / np.maximum(counts, 1), spread / np.maximum(counts, 1)
        known &= (small == counts) & (counts < MOST_VALUES) & np.isfinite(spread)
        return Values(pa.array(sums, mask=counts == 0), known | (counts == 0), np.where(counts == 0, 0.0, spread))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        bounded = self._bounded.coarser(rows, slots, groups)
        small, below = (groups.total(counts[slots]) for counts in (self._small, self._below))
        # Row by row: to take places of all parts at once is three times as slow.
        parts = np.stack([groups.float_total(part.take(slots)) for part in self._parts])
        coarser = ExactFloatSum(bounded, small, below, parts, self._rest.rolled_up(slots, groups), average=self._average)
        return coarser.values(groups.total(rows), groups.places)

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        own = {f"part_{place}": pa.array(part[slots]) for place, part in enumerate(self._parts)}
        rest = {"rest": pa.array(self._rest.values[slots]), "rest_error": pa.array(self._rest.errors_at(slots))}
        counts = {"small": pa.array(self._small[slots]), "below": pa.array(self._below[slots])}
        return self._bounded.parts(slots, rows) | counts | own | rest

    @property
    def memory(self) -> int:
        return self._bounded.memory + int(self._small.nbytes + self._below.nbytes) + int(self._parts.nbytes) + self._rest.memory

    def inexact(self, rows: IntegerArray) -> int:
        """Count groups whose bounds outgrew what capturing again would leave."""
        return self._bounded.inexact(rows)


def _sum_of(sums: FloatArray, rest: TrackedSum, counts: IntegerArray, magnitude: FloatArray) -> Parts:
    """Return a sum of small values and a bound of its distance from the exact one: a double next to it, where it is not known better."""
    found, known = rounded_sums(sums, rest.values, rest.errors_at(slice(None)))
    is_exact = (counts <= 1) & known
    error = np.where(is_exact, 0.0, (8 * UNIT_ROUNDOFF * np.abs(magnitude) + rest.errors_at(slice(None))) * SLACK)
    return {"sum": pa.array(found), "error": pa.array(error)}
