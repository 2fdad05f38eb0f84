"""Sums of numbers that come and go: exact inside, so that a sum depends on the numbers that are there and not on how they came.

Finite doubles are whole multiples of the least one, so their sum is an integer; it is rounded once, when it is read.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from imp_driver.sparql.functions.numerals import EXACT, RANKS, Number, promoted, single, without_sign_of_zero

_UNITS: Final = 1 << 1074
"""As many of the least positive double are one."""


class ExactSum:
    """A multiset of numbers by its sum; counts may be negative for a while."""

    __slots__ = ("_counts", "_decimals", "_infinite", "_integers", "_units")

    def __init__(self) -> None:
        self._counts = [0, 0, 0, 0]
        self._integers = 0
        self._decimals = Decimal(0)
        self._units = 0
        # Of INF, -INF and NaN.
        self._infinite = [0, 0, 0]

    @property
    def count(self) -> int:
        return sum(self._counts)

    def add(self, number: Number, count: int) -> None:
        self._counts[RANKS[type(number)]] += count
        if isinstance(number, int):
            self._integers += number * count
        elif isinstance(number, Decimal):
            self._decimals = without_sign_of_zero(EXACT.add(self._decimals, EXACT.multiply(number, Decimal(count))))
        elif math.isfinite(number):
            self._units += _in_units(number) * count
        else:
            self._infinite[2 if math.isnan(number) else 0 if number > 0 else 1] += count

    def total(self) -> Number:
        """Return the sum, of the type that the numbers which are there are promoted to; the integer 0 where there are none."""
        rank = max((rank for rank, count in enumerate(self._counts) if count), default=0)
        if rank == 0:
            return self._integers
        exact = EXACT.add(self._decimals, Decimal(self._integers))
        if rank == 1:
            return without_sign_of_zero(exact)
        found = self._of_doubles(float(promoted(exact, rank)))
        return found if rank == 3 else single(found)

    def _of_doubles(self, others: float) -> float:
        """Return the sum of the doubles, and of the other numbers as one."""
        infinite, negative, undefined = (bool(count) for count in self._infinite)
        infinite, negative = infinite or others == math.inf, negative or others == -math.inf
        if undefined or (infinite and negative):
            return math.nan
        if infinite or negative:
            return math.inf if infinite else -math.inf
        units = self._units + _in_units(others)
        try:
            return units / _UNITS
        except OverflowError:
            return math.inf if units > 0 else -math.inf


def _in_units(number: float) -> int:
    numerator, denominator = float(number).as_integer_ratio()
    return numerator * (_UNITS // denominator)
