"""How long following the changes of each table took in this process, where these were not told row by row."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from imp_driver.reasons import DeltaSource

MOST_TABLES = 500
TOLD_BY_FILES = (DeltaSource.CHANGED_FILES, DeltaSource.SPARK_FILES)
"""Ways that read more rows than have changed."""


@dataclass(frozen=True, slots=True)
class UpkeepTime:
    """``steps`` of any states, ``seconds`` of all of them; ``source`` of the last."""

    table: tuple[str, ...]
    source: DeltaSource
    steps: int = 0
    seconds: float = 0.0


class UpkeepTimes:
    """Safe to use from several threads; the tables that were least recently followed are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, ...], UpkeepTime] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, tables: Iterable[tuple[str, ...]], source: DeltaSource | None, seconds: float) -> None:
        """Add one step that some tables had changed for; one that read changed rows alone is left out."""
        if source is None or source not in TOLD_BY_FILES:
            return
        with self._lock:
            for table in tables:
                known = self._known.pop(table, UpkeepTime(table, source))
                self._known[table] = replace(known, source=source, steps=known.steps + 1, seconds=known.seconds + seconds)
            while len(self._known) > MOST_TABLES:
                self._known.popitem(last=False)

    def every(self) -> tuple[UpkeepTime, ...]:
        with self._lock:
            return tuple(self._known.values())
