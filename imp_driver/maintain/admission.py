"""When a first capture pays: at once for a template's first row conditions, for other row conditions when they are asked again.

A template whose constants below the groups change with every query would otherwise capture each time and gain nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

_LARGEST_MEMORY = 10_000


class Admission:
    """Remembers which states were asked for, per template."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, None] = OrderedDict()
        self._captured: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def admits(self, template: str, key: str) -> bool:
        """Count one request for a state and say whether it may be captured now."""
        with self._lock:
            admitted = template not in self._captured or key in self._asked
            self._asked[key] = None
            if admitted:
                self._captured[template] = None
            for memory in (self._asked, self._captured):
                while len(memory) > _LARGEST_MEMORY:
                    memory.popitem(last=False)
            return admitted

    def is_first(self, key: str) -> bool:
        """Count one request for a state that another one can serve; say whether it is the first."""
        with self._lock:
            found = key not in self._asked
            self._asked[key] = None
            return found

    def has_admitted(self, template: str) -> bool:
        """Say whether some state of a template was captured before."""
        with self._lock:
            return template in self._captured
