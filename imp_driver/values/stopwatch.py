"""Times of the stages of one statement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

_NOTHING = nullcontext()


def nothing_around(stage: str) -> AbstractContextManager[object]:
    """Enter nothing for a stage."""
    return _NOTHING


class Stopwatch:
    """Adds up milliseconds by stage name, in the order in which stages first began; a stage inside another is taken from it.

    ``around`` gives by its name what is entered for as long as a stage runs.
    """

    def __init__(self, around: Callable[[str], AbstractContextManager[object]] = nothing_around) -> None:
        self.times: dict[str, float] = {}
        self._open: list[str] = []
        self._around = around

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.times.setdefault(name, 0.0)
        self._open.append(name)
        begin = time.perf_counter()
        try:
            with self._around(name):
                yield
        finally:
            spent = (time.perf_counter() - begin) * 1000
            self._open.pop()
            self.times[name] += spent
            if self._open:
                self.times[self._open[-1]] -= spent
