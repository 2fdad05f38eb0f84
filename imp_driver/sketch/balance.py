"""When ranges that follow a group key are cut anew: split where rows have piled up, merged where they are gone (IMP paper section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imp_driver.values.codes import IntegerArray

OVERFLOW = 2.0
"""Times the rows of the fullest range when the ranges were cut."""
EMPTY_SHARE = 0.25
"""Of the ranges, as many may lose all their rows."""
FEWEST_ROWS = 64
"""Ranges of fewer rows are not worth splitting."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What the ranges were like when they were cut: rows of the fullest, and how many were empty."""

    fullest: int
    empty: int

    @classmethod
    def of(cls, rows: IntegerArray) -> Balance:
        """Take rows per range."""
        return cls(int(rows.max(initial=0)), int(np.count_nonzero(rows == 0)))

    def is_lost(self, rows: IntegerArray) -> bool:
        now = Balance.of(rows)
        overflows = now.fullest > max(OVERFLOW * self.fullest, FEWEST_ROWS)
        return overflows or now.empty - self.empty > EMPTY_SHARE * len(rows)
