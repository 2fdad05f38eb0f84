"""The worker of the eager strategy: one thread of a warehouse that maintains, between the queries, the states that were used lately."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from weakref import WeakKeyDictionary

from imp_driver.errors import OperationalError
from imp_driver.maintain.ahead import Ahead, Round
from imp_driver.maintain.guard import Guard
from imp_driver.maintain.request import Request, Use
from imp_driver.observe.metrics import Metrics
from imp_driver.state.maintained import Maintained
from imp_driver.state.registry import Registry
from imp_driver.state.worker import Life, Worker
from imp_driver.values.failures import described
from imp_driver.values.tables import ChangeSource

POLL_SECONDS = 2.0
"""Between two looks at the tables for the commits of other writers; those of this process wake the worker."""
JOIN_SECONDS = 10.0
"""How long the last connection waits for a step that is under way."""
_LOG = logging.getLogger("imp_driver.maintain")


class EagerWorker:
    """Runs while connections with ``sketch=eager`` are open. All methods are safe to call from several threads."""

    def __init__(
        self,
        registry: Registry,
        guard: Guard,
        source: ChangeSource,
        clock: Callable[[], float] = time.monotonic,
        metrics: Metrics | None = None,
    ) -> None:
        self._registry = registry
        self._guard = guard
        self._source = source
        self._clock = clock
        self._metrics = metrics or Metrics()
        self._worker = Worker()
        self._mutex = threading.Lock()
        self._condition = threading.Condition(self._mutex)
        self._asked = self._done = 0
        self._notes: WeakKeyDictionary[Maintained, Ahead] = WeakKeyDictionary()

    def open(self, batch: int | None) -> None:
        """Count a connection; the first starts the worker and decides about its batch of changed rows (None: by measured cost)."""
        self._worker.open(lambda: Life("imp-eager", partial(self._run, batch), self._condition, JOIN_SECONDS, _finished))

    def close(self) -> None:
        """Count a connection off; the last stops the worker and waits for the step that is under way."""
        self._worker.close()

    def round(self) -> Round:
        """Return rounds that are made by hand."""
        return Round(self._registry, self.ahead, self._guard, self._source, self._clock, self._metrics)

    def wake(self) -> None:
        """Let the worker look at the tables now; harmless when there is none."""
        if self._worker.is_running:
            self._ask()

    def settle(self, seconds: float) -> bool:
        """Wait until every commit made so far was looked at; return False when there is no worker or it takes longer."""
        number = self._ask()
        with self._mutex:
            self._condition.wait_for(lambda: self._done >= number or not self._worker.is_running, seconds)
            return self._worker.is_running and self._done >= number

    def _ask(self) -> int:
        """Ask for a round; return its number."""
        with self._mutex:
            self._asked += 1
            self._condition.notify_all()
            return self._asked

    def _run(self, batch: int | None, life: Life) -> None:
        rounds = self.round()
        while True:
            with self._mutex:
                self._condition.wait_for(lambda: life.is_over or self._asked > self._done, POLL_SECONDS)
                if life.is_over:
                    return
                number = self._asked
            try:
                rounds.run(batch, lambda: life.is_over)
            except Exception as error:
                _LOG.warning("A round of eager maintenance failed: %s", described(error))
            with self._mutex:
                self._done = max(self._done, number)
                self._condition.notify_all()

    def ahead(self, relation: Maintained) -> Ahead:
        """Return what the worker knows of a relation."""
        return self._notes.setdefault(relation, Ahead())

    def note_use(self, relation: Maintained, request: Request) -> None:
        """Remember that a query used a relation."""
        self.ahead(relation).use = Use.of(request, self._clock())

    def versions_behind(self, relation: Maintained) -> int | None:
        """Return how many commits of its tables a relation does not know; None without groups in memory, or when it cannot be said."""
        if relation.state is None:
            return None
        try:
            pairs = [(known, self._source.snapshot(location)) for location, known in relation.vector.items()]
        except OperationalError:
            return None
        if any(known.table_id != newest.table_id for known, newest in pairs):
            return None
        return sum(max(0, newest.version - known.version) for known, newest in pairs)


def _finished(has_ended: bool) -> None:
    if not has_ended:
        _LOG.warning("Eager maintenance still runs; it ends after its present step.")
