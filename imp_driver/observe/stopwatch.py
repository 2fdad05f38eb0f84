"""Times of the stages of one statement."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up milliseconds by stage name, in the order in which stages first began; a stage inside another is taken from it."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self._open: list[str] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.times.setdefault(name, 0.0)
        self._open.append(name)
        begin = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - begin) * 1000
            self._open.pop()
            self.times[name] += spent
            if self._open:
                self.times[self._open[-1]] -= spent
