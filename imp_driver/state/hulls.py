"""How far constants of conditions have reached: bounds that hold all that were asked for, and move rarely."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from imp_driver.values.bounded_cache import BoundedCache

_MOST_PLACES = 10_000
_MOST_MOVES = 8
"""Each makes a bound reach twice as far; what is asked for beyond so many of them has no end."""
Outward: TypeAlias = Callable[[Fraction], Fraction]
"""Moves a value away from all that it bounds, to one that is likely to hold the next too."""


@dataclass(slots=True)
class _Hull:
    """``bound`` is at or beyond all constants, ``last`` is the one that is furthest from it."""

    bound: Fraction
    last: Fraction
    moves: int = 0


class Hulls:
    """Remembers lower and upper bounds, each by what it is a bound of. Safe to use from several threads."""

    def __init__(self) -> None:
        self._hulls: BoundedCache[tuple[str, int, bool], _Hull] = BoundedCache(_MOST_PLACES)
        self._lock = threading.Lock()

    def bound(self, shape: str, place: int, value: Fraction, *, is_lower: bool, outward: Outward) -> Fraction | None:
        """Return a bound of all values that were noted for a place of a shape, this one with them; None after too many moves."""
        sign = 1 if is_lower else -1
        with self._lock:
            known = self._hulls.get((shape, place, is_lower))
            if known is None:
                known = self._hulls[(shape, place, is_lower)] = _Hull(outward(value), value)
            if value * sign > known.last * sign:
                known.last = value
            if value * sign < known.bound * sign:
                known.bound = outward(2 * value - known.last)
                known.moves += 1
            return known.bound if known.moves <= _MOST_MOVES else None
