"""When a first capture pays: at once for a template's first row conditions, for other row conditions when they are asked again.
Where the last captures of a template were of no use, only after more and more requests.

A template whose constants below the groups change with every query would otherwise capture each time and gain nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

PATIENCE = 3
MOST_LEFT_OUT = 256
_LARGEST_MEMORY = 10_000
_ValueT = TypeVar("_ValueT")


@dataclass(frozen=True, slots=True)
class _Asked:
    """By which run a state was asked for last, whether by others before, and whether it was admitted."""

    run: str | None
    before: bool
    is_admitted: bool = False


class Admission:
    """Remembers which states were asked for, per template. One run that asks several times asks once."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, _Asked] = OrderedDict()
        self._captured: OrderedDict[str, int] = OrderedDict()
        self._misses: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._lock = threading.Lock()

    def admits(self, key: str, most: Mapping[str, int], run: str | None = None) -> bool:
        """Count one request for a state and say whether it may be captured now.

        Args:
            most: by name, how many states of what it belongs to are captured that were asked for once only.
        """
        with self._lock:
            asked = self._noted(key, run)
            admitted = asked.before or asked.is_admitted or all(self._captured.get(name, 0) < count for name, count in most.items())
            if admitted and not asked.is_admitted:
                self._asked[key] = replace(asked, is_admitted=True)
                for name in most:
                    self._captured[name] = self._captured.pop(name, 0) + 1
                _trimmed(self._captured)
            return admitted

    def is_first(self, key: str, run: str | None = None) -> bool:
        """Count one request for a state that another one can serve; say whether it is the first."""
        with self._lock:
            return not self._noted(key, run).before

    def _noted(self, key: str, run: str | None) -> _Asked:
        known = self._asked.get(key)
        if known is None or run is None or known.run != run:
            known = self._asked[key] = _Asked(run, known is not None)
            _trimmed(self._asked)
        return known

    def has_admitted(self, template: str) -> bool:
        """Say whether some state of a template was captured before."""
        with self._lock:
            return template in self._captured

    def learn(self, template: str, *, is_useful: bool) -> None:
        """Count a capture whose sketch would skip nothing; a useful one clears the count."""
        with self._lock:
            missed, _ = self._misses.pop(template, (0, 0))
            if not is_useful:
                self._misses[template] = (missed + 1, 0)
                while len(self._misses) > _LARGEST_MEMORY:
                    self._misses.popitem(last=False)

    def is_tired(self, template: str) -> bool:
        """Count one request for a capture and say whether it is left out: after PATIENCE misses all but one of 2, 4, 8 .. MOST_LEFT_OUT."""
        with self._lock:
            missed, left_out = self._misses.get(template, (0, 0))
            if missed < PATIENCE or left_out + 1 >= min(2 ** (missed - PATIENCE + 1), MOST_LEFT_OUT):
                return False
            self._misses[template] = (missed, left_out + 1)
            return True


def _trimmed(memory: OrderedDict[str, _ValueT]) -> None:
    while len(memory) > _LARGEST_MEMORY:
        memory.popitem(last=False)
