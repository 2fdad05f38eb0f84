"""Sums of doubles without rounding: the parts of a value on fixed grids add up exactly, whatever their order (values/float_grids.py).

Each part is a whole number of units of its grid below 2**26, so that 2**27 of them stay below 2**53. What few values have left below the
finest grid is summed with a bound of its error; of others the sum is known exactly, and so is how one half between two doubles is rounded.
So values can be taken away again exactly.
"""

from __future__ import annotations

import numpy as np

from imp_driver.dataflow.aggregate.double_sums import SLACK, add_exactly, order_error
from imp_driver.values.codes import BooleanArray, FloatArray, IntegerArray
from imp_driver.values.float_grids import SHIFTS, UNITS

MOST_VALUES = 2**26
"""In one group; beyond these a sum of parts might be rounded."""


def split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the parts of values below LIMIT, one row for each grid, and what is left of them: the value is the sum of all, exactly."""
    coarse, middle = ((values + shift) - shift for shift in SHIFTS[:2])
    left = values - middle
    fine, finer = ((left + shift) - shift for shift in SHIFTS[2:4])
    below = left - finer
    finest = (below + SHIFTS[4]) - SHIFTS[4]
    return np.stack((coarse, middle - coarse, fine, finer - fine, finest)), below - finest


def rest_error(counts: IntegerArray) -> FloatArray:
    """Bound the error of adding what is left of so many values, in any order."""
    return order_error(counts, counts.astype(np.float64) * (UNITS[-1] / 2))


def rounded_sums(parts: FloatArray, rest: FloatArray, errors: FloatArray) -> tuple[FloatArray, BooleanArray]:
    """Return the doubles nearest to the exact sums, and which of them are known to be.

    Args:
        rest: the sums of what is left, each known within plus or minus its ``errors``.
    """
    high, low_high = add_exactly(parts[0], parts[1])
    fine, low_fine = add_exactly(parts[2], parts[3])
    total, low = add_exactly(high, fine)
    correction, doubt = low, errors
    for more in (low_high, low_fine, parts[4], rest):
        correction, lost = add_exactly(correction, more)
        doubt = doubt + np.abs(lost) * SLACK
    result, remainder = add_exactly(total, correction)
    # The neighbour towards zero may be nearer than the other one.
    half = (np.abs(result) - np.nextafter(np.abs(result), 0.0)) / 2
    known = (doubt == 0) | (np.abs(remainder) + doubt < half)
    return result, known
