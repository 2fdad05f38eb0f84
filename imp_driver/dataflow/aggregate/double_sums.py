"""Sums of doubles with a bound on their distance from the exact sum.

Invariant: the exact sum of what was added, less what was taken away, is within ``values`` plus or minus ``errors``. The rounding of each
addition is computed, not estimated, so sums that happen to be exact stay exact.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, floats
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.values.codes import BooleanArray, FloatArray, IntegerArray

BoundArray: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
_LARGEST_SINGLE = float(np.finfo(np.float32).max)

UNIT_ROUNDOFF = 2.0**-53
SLACK = 1.0 + 2.0**-20
"""Covers the rounding of the error bounds themselves and the higher-order terms of n * u (n stays below 2**32)."""


def order_error(counts: IntegerArray, magnitude: FloatArray) -> FloatArray:
    """Bound the error of adding ``counts`` doubles of total absolute value ``magnitude`` in any order; adding one is exact."""
    error: FloatArray = np.maximum(counts - 1, 0) * UNIT_ROUNDOFF * magnitude * SLACK
    return error


class TrackedSum:
    """One sum per slot. Error bounds are kept in single precision where it reaches, rounded up, and not at all while every sum is exact."""

    def __init__(self, values: FloatArray, errors: FloatArray) -> None:
        self.values = values
        self._errors: BoundArray | None = _stored(errors) if errors.any() else None

    @classmethod
    def of_magnitudes(cls, parts: Parts, captured: FloatArray) -> TrackedSum:
        """Return sums of absolute values: ``captured`` bounds their errors where Spark has added them and no state before."""
        return cls(floats(parts["magnitude"]), floats(parts["magnitude_error"]) if "magnitude_error" in parts else captured)

    def as_magnitudes(self, slots: Slots) -> Parts:
        """Return what ``of_magnitudes`` takes back."""
        return {"magnitude": pa.array(self.values[slots]), "magnitude_error": pa.array(self.errors_at(slots))}

    def grow(self, capacity: int) -> None:
        missing = capacity - len(self.values)
        if missing > 0:
            self.values = np.concatenate((self.values, np.zeros(missing)))
            if self._errors is not None:
                self._errors = np.concatenate((self._errors, np.zeros(missing, dtype=self._errors.dtype)))

    def errors_at(self, slots: Slots) -> FloatArray:
        """Return the error bounds of some slots."""
        return np.zeros(len(self.values[slots])) if self._errors is None else self._errors[slots].astype(np.float64)

    def upper(self, slots: Slots) -> FloatArray:
        """Return an upper bound of the exact sums of some slots."""
        result: FloatArray = self.values[slots] + self.errors_at(slots) * SLACK
        return result

    def prepare(self, change: GroupChange, added: FloatArray, error: FloatArray, empty: BooleanArray) -> Commit:
        """Add a delta's total with its own error bound; where ``empty`` the sum is exactly 0 again."""
        with np.errstate(all="ignore"):
            values, rounding = add_exactly(self.values[change.slots], added)
            errors = (self.errors_at(change.slots) + error + np.abs(rounding)) * SLACK
        values[empty], errors[empty] = 0.0, 0.0
        # An overflowed sum says nothing any more; an infinite error bound makes its value unknown.
        lost = ~(np.isfinite(values) & np.isfinite(errors))
        values[lost], errors[lost] = 0.0, np.inf

        def commit() -> None:
            self.values[change.slots] = values
            if self._errors is None and errors.any():
                self._errors = np.zeros(len(self.values), dtype=np.float32)
            if self._errors is not None:
                stored = _stored(errors)
                self._errors = self._errors.astype(np.promote_types(self._errors.dtype, stored.dtype), copy=False)
                self._errors[change.slots] = stored

        return commit

    def rolled_up(self, slots: Slots, groups: RollUp) -> TrackedSum:
        """Return the sums of coarser groups; the rounding of the additions joins their bounds."""
        values = self.values[slots]
        if self._errors is None and not values.any():
            return TrackedSum(np.zeros(groups.count), np.zeros(groups.count))
        with np.errstate(all="ignore"):
            errors = 0.0 if self._errors is None else groups.float_total(self.errors_at(slots))
            totals = groups.float_total(values)
            absolute = totals if (values >= 0).all() else groups.float_total(np.abs(values))
            return TrackedSum(totals, (errors + order_error(groups.sizes, absolute)) * SLACK)

    @property
    def memory(self) -> int:
        return int(self.values.nbytes) + (0 if self._errors is None else int(self._errors.nbytes))


def _stored(errors: FloatArray) -> BoundArray:
    """Return the least singles that are not below, or the bounds themselves where one is beyond all singles."""
    if np.any((errors > _LARGEST_SINGLE) & np.isfinite(errors)):
        return errors
    singles = errors.astype(np.float32)
    return np.where(singles < errors, np.nextafter(singles, np.float32(np.inf)), singles)


def add_exactly(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rounded sum and its exact rounding error."""
    total = left + right
    shadow = total - left
    return total, (left - (total - shadow)) + (right - shadow)


def delta_error(change: GroupChange, churn: FloatArray, argument_count: IntegerArray) -> FloatArray:
    """Bound the error of summing one delta: ``churn`` is the total absolute value, ``argument_count`` the delta rows per touched group."""
    products = 0 if change.signs_only else 1
    error: FloatArray = (np.maximum(argument_count - 1, 0) + products) * UNIT_ROUNDOFF * churn * SLACK
    return error
