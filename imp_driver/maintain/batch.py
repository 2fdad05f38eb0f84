"""What one maintenance step costs, learnt from the steps that were made, and how many rows are worth one.

Source: IMP report section 8.5, figure 16: the fixed cost of a step dominates small batches, so that those below 50 rows do not pay.
"""

from __future__ import annotations

from dataclasses import dataclass

LEAST_BATCH = 50
MOST_BATCH = 10_000
FIXED_SHARE = 0.2
"""Largest share of a step that may be its fixed cost."""
_KEPT = 0.9
"""Weight of the past at each new step: tables grow and machines get busy."""
_TRIES = 3
"""Steps with different batches before anything is concluded."""


@dataclass(slots=True)
class BatchCost:
    """Least squares of milliseconds = a + b * rows with fading weights. Mutable; ``steps`` counts what was learnt from."""

    steps: int = 0
    _weight: float = 0.0
    _rows: float = 0.0
    _squares: float = 0.0
    _milliseconds: float = 0.0
    _products: float = 0.0

    def learn(self, rows: int, milliseconds: float) -> None:
        """Add one step."""
        self.steps += 1
        self._weight = self._weight * _KEPT + 1
        self._rows = self._rows * _KEPT + rows
        self._squares = self._squares * _KEPT + rows * rows
        self._milliseconds = self._milliseconds * _KEPT + milliseconds
        self._products = self._products * _KEPT + rows * milliseconds

    def batch(self) -> int:
        """Return the changed rows, LEAST_BATCH to MOST_BATCH, at which the fixed cost is FIXED_SHARE of a step.

        Until steps of different sizes are known, sizes are tried.
        """
        spread = self._weight * self._squares - self._rows * self._rows
        if self.steps < _TRIES or spread <= 1e-6 * self._weight * self._squares:
            return int(LEAST_BATCH * 2 ** (self.steps % _TRIES))
        each = (self._weight * self._products - self._rows * self._milliseconds) / spread
        fixed = (self._milliseconds - each * self._rows) / self._weight
        if fixed <= 0:
            return LEAST_BATCH
        if each <= 0:
            return MOST_BATCH
        return int(min(max(fixed * (1 - FIXED_SHARE) / (FIXED_SHARE * each), LEAST_BATCH), MOST_BATCH))
