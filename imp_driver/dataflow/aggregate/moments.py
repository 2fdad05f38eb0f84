"""Variances from exact sums, and how far those may be that Spark finds by updating and merging in doubles.

The bound. Let S be the sum of squared distances from the mean of n values, u = 2**-53. The mean of k of them is within sqrt(S / k) of that
of all. A mean is a buffer's, which grows with each step, or is merged into one, by each of the stages of a query, of which 16 are allowed
for. A step mixes two means exactly but for u times the new mean and 3.1 u times its distance from the buffer's old one; along all steps the
former add up to u ((n + 32) |mean| + 2 sqrt(n S)), the latter to 3.1 u 4 sqrt(n S), the merges of stages to 120 u sqrt(S) at most: E.
A step adds d**2 w to S, for two parts whose means are d apart, w = n1 n2 / (n1 + n2), with d known within 2 E. The sum of all w is below
W = n (log2(n) / 2 + 1), that of all d**2 w is S, so with Cauchy and Schwarz the error is below 4 E sqrt(S W) + 4 E**2 W, beside
(2 n + 64) u S for the roundings of products and additions. Converting values to doubles moves sqrt(S) by u sqrt(Q) at most. All is taken
half as large again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imp_driver.dataflow.aggregate.double_sums import UNIT_ROUNDOFF
from imp_driver.dataflow.aggregate.limbs import Limbs, as_floats, as_integers
from imp_driver.values.aggregates import ValueForm
from imp_driver.values.codes import BooleanArray, FloatArray, IntegerArray

_SAMPLES = (ValueForm.SAMPLE_VARIANCE, ValueForm.SAMPLE_DEVIATION)
_DEVIATIONS = (ValueForm.POPULATION_DEVIATION, ValueForm.SAMPLE_DEVIATION)
_EXACT = 2.0**52
"""Below this, with room for the rounding of what is compared with it, integers are doubles."""
_SLACK = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Values of some groups, how far Spark's may be from each, and where there is none."""

    value: FloatArray
    spread: FloatArray
    is_null: BooleanArray


def moments_of(counts: IntegerArray, sums: Limbs, squares: Limbs, scale: int, form: ValueForm) -> Moments:
    """Return the variance or deviation of ``counts`` values whose unscaled sums and sums of squares are known."""
    is_sample = form in _SAMPLES
    variance = _quotients(counts, sums, squares, scale, is_sample=is_sample)
    is_null = counts <= (1 if is_sample else 0)
    # Of one value all of Spark's steps are exact.
    spread = np.where(counts == 1, 0.0, _spread(counts, sums, squares, scale, variance, is_sample=is_sample))
    if form not in _DEVIATIONS:
        return Moments(variance, spread, is_null)
    with np.errstate(all="ignore"):
        deviation = np.sqrt(variance)
        moved = np.where(variance > 0, np.minimum(spread / deviation, np.sqrt(spread)), np.sqrt(spread))
    return Moments(deviation, np.where(counts == 1, 0.0, (moved + 2 * UNIT_ROUNDOFF * deviation) * _SLACK), is_null)


def _quotients(counts: IntegerArray, sums: Limbs, squares: Limbs, scale: int, *, is_sample: bool) -> FloatArray:
    """Return the nearest doubles; 0 where there is no value."""
    others = np.maximum(counts - 1, 1) if is_sample else np.maximum(counts, 1)
    unit = 10 ** (2 * scale)
    with np.errstate(all="ignore"):
        is_small = (counts * as_floats(squares) < _EXACT) & (counts.astype(np.float64) * others * float(unit) < _EXACT)
    result = np.zeros(len(counts))
    small = np.flatnonzero(is_small)
    if len(small):
        total, square = (each[0, small] + (each[1, small] << 32) for each in (sums, squares))
        result[small] = (counts[small] * square - total**2) / (np.maximum(counts[small], 1) * others[small] * unit)
    large = np.flatnonzero(~is_small)
    if len(large):
        number = counts[large].astype(object)
        exact = number * as_integers(squares[:, large]) - as_integers(sums[:, large]) ** 2
        divisors = number * others[large].astype(object) * unit
        result[large] = [above / below for above, below in zip(exact.tolist(), divisors.tolist(), strict=True)]
    # Only sums that are lost say otherwise.
    return np.maximum(result, 0.0)


def _spread(counts: IntegerArray, sums: Limbs, squares: Limbs, scale: int, variance: FloatArray, *, is_sample: bool) -> FloatArray:
    """Bound how far Spark's variance may be from the exact one, and that from ours."""
    number = np.maximum(counts, 1).astype(np.float64)
    divisor = np.maximum(number - 1, 1) if is_sample else number
    unit = 10.0**scale
    converted = UNIT_ROUNDOFF * np.sqrt(np.maximum(as_floats(squares), 0.0)) / unit
    moment = variance * divisor
    root = np.sqrt(moment) + converted
    mean = np.abs(as_floats(sums)) / number / unit
    means = UNIT_ROUNDOFF * ((number + 32) * mean + (15 * np.sqrt(number) + 120) * root)
    weight = number * (np.log2(number) / 2 + 1)
    steps = 4 * means * root * np.sqrt(weight) + 4 * means**2 * weight + (2 * number + 64) * UNIT_ROUNDOFF * root**2
    conversion = converted * (2 * root + converted)
    return (steps + conversion) / divisor * _SLACK + 4 * UNIT_ROUNDOFF * variance
