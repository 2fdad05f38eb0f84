"""Whether queries are asked again. Where few are, as in an exploration, groups are captured the second time that one is asked."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

WINDOW = 16
"""Different queries that are looked back on."""
FEWEST = 4
"""Of them, below which nothing is concluded."""
LEAST_SHARE = 0.25
"""Of them, that must have been asked again for a new one to be likely to."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """By which run first, and whether by others since."""

    run: str | None
    again: bool = False


class Returning:
    """Remembers the last queries by their texts without constants. Safe to use from several threads."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, _Asked] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, text: str, run: str | None = None) -> None:
        """Count one query; one run that asks several times asks once. ``run`` is None where it can only be another one."""
        with self._lock:
            self._note(text, run)

    def is_likely(self, text: str, run: str | None) -> bool:
        """Count one query and say whether it is likely to be asked again: it was before, or most others are."""
        with self._lock:
            if self._note(text, run).again:
                return True
            again = sum(each.again for each in self._asked.values())
            return len(self._asked) < FEWEST or again >= LEAST_SHARE * len(self._asked)

    def _note(self, text: str, run: str | None) -> _Asked:
        known = self._asked.get(text)
        if known is None:
            known = self._asked[text] = _Asked(run)
            while len(self._asked) > WINDOW:
                self._asked.popitem(last=False)
        elif not known.again and (run is None or run != known.run):
            known = self._asked[text] = replace(known, again=True)
        return known
