"""Which conditions of blocks of one shape have had different constants: candidates for keys of their state."""

from __future__ import annotations

import threading

from imp_driver.values.bounded_cache import BoundedCache

_MOST_SHAPES = 10_000


class SeenConstants:
    """Remembers the conditions of each shape. Safe to use from several threads."""

    def __init__(self) -> None:
        self._seen: BoundedCache[str, tuple[tuple[str, ...], frozenset[int]]] = BoundedCache(_MOST_SHAPES)
        self._lock = threading.Lock()

    def varying(self, shape: str, conditions: tuple[str, ...]) -> frozenset[int]:
        """Note the conditions that a block is asked with, as texts in its order; return the places of those that were others before."""
        with self._lock:
            first, found = self._seen.get(shape) or (conditions, frozenset())
            if len(first) != len(conditions):
                first, found = conditions, frozenset()
            found |= {place for place, (one, other) in enumerate(zip(first, conditions, strict=True)) if one != other}
            self._seen[shape] = (first, found)
            return found
