"""One round of the eager strategy: which entries have enough changed rows waiting, and one maintenance step for each, without the engine.

The steps are those of lazy.py. What they cannot do from the tables' own files, or what would end in a new capture, is left to the next
query, with the state as it was. Source: IMP report section 8.5.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.delta.contract import ChangeSource, ChangesUnavailable, TableSnapshot
from imp_driver.maintain.changes import are_read_in_process
from imp_driver.maintain.entry import PATIENCE, StateEntry, Vector, vector_of
from imp_driver.maintain.lazy import apply_rows, planned, read_rows
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Upkeep
from imp_driver.observe.failures import described
from imp_driver.observe.guard import Guard
from imp_driver.observe.metrics import Metrics
from imp_driver.sketch.store import SketchStore

HOT_SECONDS = 600.0
"""Since the last query that used an entry; after that it is maintained before use only."""
_LOG = logging.getLogger("imp_driver.maintain")


class NeedsEngine(Exception):
    """A step cannot be made from the tables' own files."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Changed rows of one table between two versions; None when unknown."""

    up_to: int
    rows: int | None


class Backlog:
    """Counts the changed rows between the version of a state and the newest one; a commit is looked at once, however long it waits."""

    def __init__(self, source: ChangeSource) -> None:
        self._source = source
        self._waiting: dict[tuple[str, str, int], _Waiting] = {}

    def rows(self, vector: Vector, snapshots: Mapping[str, TableSnapshot]) -> int | None:
        """Return the rows that wait for a state; None when unknown. Raises ChangesUnavailable."""
        found = [self._of_table(snapshots[location], known.table_id, known.version) for location, known in vector.items()]
        return None if any(each is None for each in found) else sum(each or 0 for each in found)

    def _of_table(self, snapshot: TableSnapshot, table_id: str, version: int) -> int | None:
        key = (snapshot.location, table_id, version)
        known = self._waiting.get(key, _Waiting(version, 0))
        if known.up_to < snapshot.version:
            rows = self._source.plan(snapshot.location, table_id, known.up_to, snapshot.version).rows
            known = _Waiting(snapshot.version, None if rows is None or known.rows is None else known.rows + rows)
            self._waiting[key] = known
        return known.rows

    def forget_others(self, entries: tuple[StateEntry, ...]) -> None:
        """Forget what no entry waits for any more."""
        kept = {(location, known.table_id, known.version) for entry in entries for location, known in entry.vector.items()}
        self._waiting = {key: waiting for key, waiting in self._waiting.items() if key in kept}


class Round:
    """Looks at every entry in turn. Used by one thread; ``clock`` gives seconds."""

    def __init__(
        self,
        store: SketchStore[StateEntry],
        guard: Guard,
        source: ChangeSource,
        clock: Callable[[], float],
        metrics: Metrics | None = None,
    ) -> None:
        self._store = store
        self._guard = guard
        self._source = source
        self._clock = clock
        self._metrics = metrics or Metrics()
        self._backlog = Backlog(source)

    def run(self, batch: int | None, is_over: Callable[[], bool]) -> None:
        """Maintain what ``batch`` changed rows or more wait for (None: by measured cost), the newest uses first, until ``is_over``."""
        snapshots: dict[str, TableSnapshot] = {}
        entries = self._store.entries()
        self._backlog.forget_others(entries)
        for entry in reversed(entries):
            if is_over():
                return
            if self._is_hot(entry):
                self._look_at(entry, batch, snapshots)
        self._metrics.count("imp_evictions_total", amount=len(self._store.evict()))

    def _is_hot(self, entry: StateEntry) -> bool:
        ahead = entry.ahead
        if ahead.use is None or ahead.due is not None or ahead.left is entry.vector or entry.state is None:
            return False
        is_wanted = entry.useless < PATIENCE and self._guard.problem(entry.template) is None
        return is_wanted and self._clock() - ahead.use.at <= HOT_SECONDS

    def _look_at(self, entry: StateEntry, batch: int | None, snapshots: dict[str, TableSnapshot]) -> None:
        vector = entry.vector
        try:
            for location in vector:
                if location not in snapshots:
                    snapshots[location] = self._source.snapshot(location)
            rows = self._backlog.rows(vector, snapshots)
            if rows is None or rows >= (batch or entry.ahead.cost.batch()):
                self._advance(entry, snapshots)
        except (ChangesUnavailable, NeedsEngine) as found:
            _leave(entry, vector, f"left to the next query: {found}")
            self._metrics.count("imp_background_problems_total", "left")
        except Exception as error:
            _leave(entry, vector, f"{type(error).__name__}: {error}".split("\n", 1)[0])
            self._metrics.count("imp_background_problems_total", "failed")
            _LOG.warning("Eager maintenance of sketch %s failed: %s", entry.identifier, described(error))

    def _advance(self, entry: StateEntry, snapshots: Mapping[str, TableSnapshot]) -> None:
        # A query that holds the lock brings the entry up to date itself.
        if not entry.lock.acquire(blocking=False):
            return
        try:
            use = entry.ahead.use
            if use is None or not self._is_hot(entry) or not set(entry.vector) <= set(snapshots):
                return
            request = use.request_at(snapshots)
            if entry.is_ahead_of(request.tables) or entry.vector == vector_of(request.tables):
                return
            begin = time.perf_counter()
            upkeep = maintain_ahead(entry, request, self._source)
            seconds = time.perf_counter() - begin
            _count(entry, upkeep, seconds * 1000)
            self._count(upkeep, seconds)
        finally:
            entry.lock.release()

    def _count(self, upkeep: Upkeep, seconds: float) -> None:
        self._metrics.count("imp_maintenance_steps_total", "background")
        self._metrics.count("imp_delta_rows_total", "background", amount=upkeep.delta_rows)
        self._metrics.observe("imp_background_step_seconds", seconds)
        _LOG.debug("step decision=%s delta_rows=%d total_ms=%.2f", upkeep.decision.name, upkeep.delta_rows, seconds * 1000)


def maintain_ahead(entry: StateEntry, request: Request, source: ChangeSource) -> Upkeep:
    """Bring a state to the request's versions by the steps of lazy maintenance; the caller holds the entry's lock.

    Raises:
        NeedsEngine: that would take a query of the engine; the state is as it was.
        ChangesUnavailable: only a new capture would do; the state is as it was, or the entry knows that the capture is due.
    """
    changes = planned(entry, request, source)
    if not are_read_in_process(changes):
        raise NeedsEngine("the changed rows can only be had by a query")
    state = entry.state
    assert state is not None
    step = read_rows(entry, state.partition, request, changes, source, _no_engine)
    # The state stays in its place meanwhile: without the lock others only ask whether there is one.
    try:
        return apply_rows(entry, state, request, step)
    except ChangesUnavailable as unavailable:
        entry.ahead.due, entry.stored = unavailable, None
        raise
    except BaseException:
        entry.state = None
        raise


def _no_engine(text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
    raise NeedsEngine("an expression of the query can only be evaluated by a query")


def _leave(entry: StateEntry, vector: Vector, problem: str) -> None:
    entry.ahead.left, entry.ahead.problem = vector, problem


def _count(entry: StateEntry, upkeep: Upkeep, milliseconds: float) -> None:
    entry.counters.maintained += 1
    entry.counters.delta_rows += upkeep.delta_rows
    entry.ahead.problem = ""
    entry.ahead.steps += 1
    entry.ahead.milliseconds += milliseconds
    entry.ahead.cost.learn(upkeep.delta_rows, milliseconds)
    entry.costs.note_maintenance(upkeep.delta_rows, milliseconds / 1000)
