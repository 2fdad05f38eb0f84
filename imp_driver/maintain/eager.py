"""The worker of the eager strategy: one thread of a warehouse that maintains, between the queries, the states that were used lately."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable

from imp_driver.delta.contract import ChangeSource
from imp_driver.errors import OperationalError
from imp_driver.maintain.ahead import Round
from imp_driver.maintain.entry import StateEntry
from imp_driver.maintain.request import Request, Use
from imp_driver.observe.failures import described
from imp_driver.observe.guard import Guard
from imp_driver.observe.metrics import Metrics
from imp_driver.sketch.store import SketchStore

POLL_SECONDS = 2.0
"""Between two looks at the tables for the commits of other writers; those of this process wake the worker."""
JOIN_SECONDS = 10.0
"""How long the last connection waits for a step that is under way."""
_LOG = logging.getLogger("imp_driver.maintain")


class _Thread:
    """One life of the worker."""

    def __init__(self, rounds: Round, batch: int | None) -> None:
        self._rounds = rounds
        self._batch = batch
        self._condition = threading.Condition()
        self._asked = self._done = 0
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="imp-eager", daemon=True)
        self._thread.start()
        # A daemon thread inside a library while the interpreter ends could crash it.
        atexit.register(self.stop)

    def ask(self) -> int:
        """Ask for a round; return its number."""
        with self._condition:
            self._asked += 1
            self._condition.notify_all()
            return self._asked

    def wait_for(self, number: int, seconds: float) -> bool:
        with self._condition:
            return self._condition.wait_for(lambda: self._done >= number or self._is_over, seconds) and self._done >= number

    def stop(self) -> None:
        """Stop after the step that is under way, and wait for that."""
        with self._condition:
            self._is_over = True
            self._condition.notify_all()
        atexit.unregister(self.stop)
        self._thread.join(JOIN_SECONDS)
        if self._thread.is_alive():
            _LOG.warning("Eager maintenance still runs; it ends after its present step.")

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._is_over or self._asked > self._done, POLL_SECONDS)
                if self._is_over:
                    return
                number = self._asked
            try:
                self._rounds.run(self._batch, lambda: self._is_over)
            except Exception as error:
                _LOG.warning("A round of eager maintenance failed: %s", described(error))
            with self._condition:
                self._done = number
                self._condition.notify_all()


class EagerWorker:
    """Runs while connections with ``sketch=eager`` are open. All methods are safe to call from several threads."""

    def __init__(
        self,
        store: SketchStore[StateEntry],
        guard: Guard,
        source: ChangeSource,
        clock: Callable[[], float] = time.monotonic,
        metrics: Metrics | None = None,
    ) -> None:
        self._store = store
        self._guard = guard
        self._source = source
        self._clock = clock
        self._metrics = metrics or Metrics()
        self._lock = threading.Lock()
        self._connections = 0
        self._thread: _Thread | None = None

    def open(self, batch: int | None) -> None:
        """Count a connection; the first starts the worker and decides about its batch of changed rows (None: by measured cost)."""
        with self._lock:
            self._connections += 1
            if self._thread is None:
                self._thread = _Thread(Round(self._store, self._guard, self._source, self._clock, self._metrics), batch)

    def close(self) -> None:
        """Count a connection off; the last stops the worker and waits for the step that is under way."""
        thread = None
        with self._lock:
            self._connections -= 1
            if self._connections == 0:
                thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()

    def wake(self) -> None:
        """Let the worker look at the tables now; harmless when there is none."""
        thread = self._thread
        if thread is not None:
            thread.ask()

    def settle(self, seconds: float) -> bool:
        """Wait until every commit made so far was looked at; return False when there is no worker or it takes longer."""
        thread = self._thread
        return thread is not None and thread.wait_for(thread.ask(), seconds)

    def note_use(self, entry: StateEntry, request: Request) -> None:
        """Remember that a query used an entry; the caller holds its lock."""
        entry.ahead.use = Use.of(request, self._clock())

    def versions_behind(self, entry: StateEntry) -> int | None:
        """Return how many commits of its tables a state does not know; None without a state, or when they cannot be counted."""
        if entry.state is None:
            return None
        try:
            pairs = [(known, self._source.snapshot(location)) for location, known in entry.vector.items()]
        except OperationalError:
            return None
        if any(known.table_id != newest.table_id for known, newest in pairs):
            return None
        return sum(max(0, newest.version - known.version) for known, newest in pairs)
