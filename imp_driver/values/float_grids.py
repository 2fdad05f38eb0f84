"""Grids on which doubles are split into parts whose sums are exact, in a capture by Spark and in changes alike.

Source: reproducible summation by pre-rounding (Demmel and Nguyen, 2013): adding and taking away 1.5 * 2**52 units rounds a value to a grid.
"""

from __future__ import annotations

LIMIT = 2.0**60
"""Values from here on are not split."""
UNITS = (2.0**36, 2.0**10, 2.0**-16, 2.0**-42, 2.0**-68)
SHIFTS = tuple(1.5 * 2.0**52 * unit for unit in UNITS)
PARTS = len(UNITS)


def split_sql(value: str) -> tuple[str, ...]:
    """Return the parts of a column of doubles as SQL, and what is left below the finest grid."""

    def rounded(text: str, shift: float) -> str:
        return f"(({text} + {shift!r}D) - {shift!r}D)"

    coarse, middle = (rounded(value, shift) for shift in SHIFTS[:2])
    left = f"({value} - {middle})"
    fine, finer = (rounded(left, shift) for shift in SHIFTS[2:4])
    below = f"({left} - {finer})"
    finest = rounded(below, SHIFTS[4])
    return coarse, f"({middle} - {coarse})", fine, f"({finer} - {fine})", finest, f"({below} - {finest})"
