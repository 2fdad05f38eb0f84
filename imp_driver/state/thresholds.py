"""Up to which value of their first key the rows of an order are kept, by the rows of which they are the first."""

from __future__ import annotations

from dataclasses import dataclass

from imp_driver.values.bounded_cache import BoundedCache

_MOST_NAMES = 2_000
_LEAST_ROWS = 1_000
_DEPTH = 8
_GROWTH = 16


@dataclass(frozen=True, slots=True)
class Threshold:
    """``value`` is what stands for a marker, None where there are fewer than ``rows`` rows, or none is to be had."""

    value: object
    rows: int

    def is_outgrown(self, rows: int) -> bool:
        """Say whether so many rows pass by now that another value would keep much fewer."""
        return rows > _GROWTH * self.rows


def rows_for(needed: int) -> int:
    """Return how many rows are kept, of which so many are asked for: deletes and updates take some of them away."""
    return max(_LEAST_ROWS, _DEPTH * needed)


class Thresholds:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: BoundedCache[str, Threshold | None] = BoundedCache(_MOST_NAMES)

    def __len__(self) -> int:
        return len(self._known)

    def get(self, name: str) -> Threshold | None:
        return self._known.get(name)

    def is_first(self, name: str) -> bool:
        """Say whether a name is asked for the first time, and remember it."""
        is_first = name not in self._known
        if is_first:
            self._known[name] = None
        return is_first

    def learn(self, name: str, threshold: Threshold | None) -> None:
        """Remember a threshold; None is one that is to be learned anew."""
        self._known[name] = threshold
