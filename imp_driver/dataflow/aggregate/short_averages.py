"""Averages of decimals of at most DIGITS_OF_DOUBLES digits, as Spark computes them: with doubles, rounded from what these are in digits."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from imp_driver.values.codes import IntegerArray

_MORE_DIGITS = 4
_OFF = 5e-16
"""By which a quotient of doubles, divided twice and written in digits, may be off, relative."""


def short_averages(sums: IntegerArray, counts: IntegerArray, scale: int) -> IntegerArray:
    """Return unscaled averages of four more digits.

    Args:
        sums: unscaled, below 2**53.
        counts: above 0.
        scale: of the values that were summed.
    """
    # In two steps nothing leaves 64 bits.
    whole, left = np.divmod(np.abs(sums), counts)
    halves, rests = np.divmod(2 * left * 10**_MORE_DIGITS + counts, 2 * counts)
    halves += whole * 10**_MORE_DIGITS
    averages: IntegerArray = np.where(sums < 0, -halves, halves)
    # Far from a half both ways of rounding agree: the rest is the distance from the half below.
    distance = np.minimum(rests, 2 * counts - rests) / (2.0 * counts)
    places = np.flatnonzero(distance <= (halves + 1) * _OFF)
    if len(places):
        found = sums[places] / counts[places] / 10.0**scale
        unit = Decimal(1).scaleb(-scale - _MORE_DIGITS)
        averages[places] = [int(Decimal(repr(each)).quantize(unit, ROUND_HALF_UP).scaleb(scale + _MORE_DIGITS)) for each in found.tolist()]
    return averages
