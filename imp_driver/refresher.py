"""Refreshes of materialized views that say ``EVERY n SECONDS``: one thread of a warehouse makes them while eager connections are open.

It has a session of its own, since a refresh sets the identifier of the commit that it makes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from imp_driver.errors import Error
from imp_driver.ports import Outcome, Pipeline
from imp_driver.state.named_views import Schedule
from imp_driver.state.worker import Life, Worker
from imp_driver.values.execution import Execution
from imp_driver.values.failures import described
from imp_driver.values.quoting import qualified

TICK_SECONDS = 0.5
LOOK_SECONDS = 60.0
"""Between two looks for views that others have made or dropped; those of this process are noticed at the next tick."""
JOIN_SECONDS = 10.0
"""How long the last connection waits for a refresh that was interrupted."""
_LOG = logging.getLogger("imp_driver.maintain")


class Refresher:
    """All methods are safe to call from several threads."""

    def __init__(self, schedule: Schedule, clock: Callable[[], float] = time.monotonic) -> None:
        self._schedule = schedule
        self._clock = clock
        self._condition = threading.Condition()
        self._worker = Worker()
        self._current: tuple[Pipeline, Execution] | None = None

    def open(self, path: Callable[[], Pipeline]) -> None:
        """Count a connection; the first has ``path`` opened and views refreshed through it: those of the schema that is current there."""
        self._worker.open(lambda: Life("imp-refresh", partial(self._run, path), self._condition, JOIN_SECONDS, _finished))

    def close(self) -> None:
        """Count a connection off; the last interrupts the refresh that is under way and waits for its end."""
        current = self._current
        if self._worker.is_last and current is not None:
            path, execution = current
            path.interrupt(execution)
        self._worker.close()

    def _run(self, open_path: Callable[[], Pipeline], life: Life) -> None:
        try:
            path = open_path()
        except Error as error:
            _LOG.warning("Materialized views are not refreshed by themselves: %s", described(error))
            return
        try:
            Rounds(self._schedule, self._clock).run(life, self._condition, partial(self._ask, path))
        finally:
            path.close()

    def _ask(self, path: Pipeline, text: str) -> Outcome:
        execution = Execution(text)
        self._current = path, execution
        try:
            return path.run(execution)
        finally:
            self._current = None


class Rounds:
    """Which views are due."""

    def __init__(self, schedule: Schedule, clock: Callable[[], float]) -> None:
        self._schedule = schedule
        self._clock = clock
        self._seen: tuple[int, float] | None = None
        self._seconds: dict[tuple[str, ...], int] = {}
        self._last: dict[tuple[str, ...], float] = {}

    def run(self, life: Life, condition: threading.Condition, ask: Callable[[str], Outcome]) -> None:
        """Refresh what is due, until the life is over."""
        while True:
            with condition:
                condition.wait_for(lambda: life.is_over, TICK_SECONDS)
            if life.is_over:
                return
            self.tick(ask, lambda: life.is_over)

    def tick(self, ask: Callable[[str], Outcome], is_over: Callable[[], bool]) -> None:
        """Look for views where that is due, and refresh those that are."""
        changes, now = self._schedule.changes, self._clock()
        if self._seen is None or self._seen[0] != changes or now - self._seen[1] >= LOOK_SECONDS:
            self._seen = changes, now
            try:
                self._seconds = dict(_listed(ask("SHOW MATERIALIZED VIEWS")))
            except Error as error:
                _LOG.warning("Materialized views that are to be refreshed cannot be listed: %s", described(error))
        for name, seconds in self._seconds.items():
            last = self._last.get(name)
            if is_over():
                return
            if last is None or self._clock() - last >= seconds:
                self._last[name] = self._clock()
                self._refresh(name, ask, is_over)

    def _refresh(self, name: tuple[str, ...], ask: Callable[[str], Outcome], is_over: Callable[[], bool]) -> None:
        try:
            ask(f"REFRESH MATERIALIZED VIEW {qualified(name)}")
        except Error as error:
            if not is_over():
                if name not in self._schedule.problems:
                    _LOG.warning("The refresh of %s failed, and is tried again: %s", ".".join(name), described(error))
                self._schedule.problems[name] = str(error)
        else:
            self._schedule.problems.pop(name, None)


def _listed(outcome: Outcome) -> Iterator[tuple[tuple[str, ...], int]]:
    assert outcome.stream is not None
    while (batch := outcome.stream.next_batch()) is not None:
        for row in batch.to_pylist():
            if row["every_seconds"] is not None:
                yield tuple(row["view_name"].split(".")), row["every_seconds"]


def _finished(has_ended: bool) -> None:
    if not has_ended:
        _LOG.warning("A refresh of a materialized view still runs; it ends with its statement.")
