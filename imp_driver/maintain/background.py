"""Captures that no query waits for: one thread of a warehouse makes them, one after the other, while connections are open."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from imp_driver.state.worker import Life
from imp_driver.values.failures import described

MOST_WAITING = 64
JOIN_SECONDS = 10.0
"""How long the last connection waits for a capture that was cancelled."""
_LOG = logging.getLogger("imp_driver.maintain")


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """``owner`` is the session that it runs in; ``cancel`` ends ``work``, from any thread."""

    key: str
    owner: object
    work: Callable[[], object]
    cancel: Callable[[], object]


class Background:
    """All methods are safe to call from several threads."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._connections = 0
        self._life: Life | None = None
        self._waiting: OrderedDict[str, Job] = OrderedDict()
        self._running: Job | None = None

    def open(self) -> None:
        """Count a connection."""
        with self._condition:
            self._connections += 1

    def close(self) -> None:
        """Count a connection off; the last, whose jobs have left, ends the thread."""
        with self._condition:
            self._connections -= 1
            life = None if self._connections else self._life
            if life is not None:
                self._life = None
        if life is not None:
            life.stop()

    def ask(self, job: Job) -> bool:
        """Have a job done soon; say whether it will be: not without a connection, nor where too many wait."""
        with self._condition:
            if not self._connections or (len(self._waiting) >= MOST_WAITING and job.key not in self._waiting):
                return False
            if self._running is None or self._running.key != job.key:
                self._waiting.setdefault(job.key, job)
                self._condition.notify_all()
            if self._life is None:
                # Most connections need no thread.
                self._life = Life("imp-background", self._run, self._condition, JOIN_SECONDS, _finished)
            return True

    def leave(self, owner: object) -> None:
        """Give up the jobs of a session that is about to close, and wait for the one that runs."""
        with self._condition:
            for key in [key for key, job in self._waiting.items() if job.owner is owner]:
                del self._waiting[key]
            running = self._running
            if running is None or running.owner is not owner:
                return
        running.cancel()
        with self._condition:
            self._condition.wait_for(lambda: self._running is not running, JOIN_SECONDS)

    def settle(self, seconds: float) -> bool:
        """Wait until nothing waits or runs; say whether that was so in time."""
        with self._condition:
            return self._condition.wait_for(lambda: self._running is None and not self._waiting, seconds)

    def _run(self, life: Life) -> None:
        while True:
            with self._condition:
                self._running = None
                self._condition.notify_all()
                self._condition.wait_for(lambda: life.is_over or bool(self._waiting))
                if life.is_over:
                    self._waiting.clear()
                    return
                _, self._running = self._waiting.popitem(last=False)
            try:
                self._running.work()
            except Exception as error:
                _LOG.info("A capture in the background failed: %s", described(error))


def _finished(has_ended: bool) -> None:
    if not has_ended:
        _LOG.warning("A capture in the background still runs; it ends with its query.")
