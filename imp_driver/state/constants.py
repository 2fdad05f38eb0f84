"""Which conditions on the rows of a template's block have had different constants: candidates for keys of its state."""

from __future__ import annotations

import threading

from imp_driver.values.bounded_cache import BoundedCache

_MOST_TEMPLATES = 10_000


class SeenConstants:
    """Remembers the conditions of each template. Safe to use from several threads."""

    def __init__(self) -> None:
        self._seen: BoundedCache[str, tuple[tuple[str, ...], frozenset[int]]] = BoundedCache(_MOST_TEMPLATES)
        self._lock = threading.Lock()

    def varying(self, template: str, conditions: tuple[str, ...]) -> frozenset[int]:
        """Note the conditions that a template is asked with, as texts in its order; return the places of those that were others before."""
        with self._lock:
            first, found = self._seen.get(template) or (conditions, frozenset())
            if len(first) != len(conditions):
                first, found = conditions, frozenset()
            found |= {place for place, (one, other) in enumerate(zip(first, conditions, strict=True)) if one != other}
            self._seen[template] = (first, found)
            return found
