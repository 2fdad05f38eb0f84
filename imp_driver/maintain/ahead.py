"""One round of the eager strategy: which relations have enough changed rows waiting, and one maintenance step for each, without the engine.

The steps are those of step.py. What they cannot do from the tables' own files, or what would end in a new capture, is left to the next
query, with the relation as it was. Source: IMP report section 8.5.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.maintain.batch import BatchCost
from imp_driver.maintain.changes import are_read_in_process
from imp_driver.maintain.guard import Guard
from imp_driver.maintain.request import Request, Use
from imp_driver.maintain.step import apply_rows, planned, read_rows
from imp_driver.maintain.upkeep import Upkeep
from imp_driver.observe.metrics import Metrics
from imp_driver.snapshot.vector import Vector, vector_of
from imp_driver.state.maintained import Maintained
from imp_driver.state.registry import Registry
from imp_driver.state.values import Cause
from imp_driver.values.failures import described
from imp_driver.values.tables import ChangeSource, ChangesUnavailable, TableSnapshot

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

    def forget_others(self, relations: Iterable[Maintained]) -> None:
        """Forget what no relation waits for any more."""
        kept = {(location, known.table_id, known.version) for relation in relations for location, known in relation.vector.items()}
        self._waiting = {key: waiting for key, waiting in self._waiting.items() if key in kept}


@dataclass(slots=True, eq=False)
class Ahead:
    """What the worker knows of a relation. Mutable; changed by who holds that.

    Attributes:
        use: the newest query that was served; None before the first.
        left: the vector from which the worker did not get on; the next query does.
        problem: why, or what went wrong; empty after a step that succeeded.
        steps, milliseconds: of the worker.
    """

    use: Use | None = None
    left: Vector | None = None
    problem: str = ""
    steps: int = 0
    milliseconds: float = 0.0
    cost: BatchCost = field(default_factory=BatchCost)

    def leave(self, vector: Vector, problem: str) -> None:
        """Leave a relation at a vector to the next query."""
        self.left, self.problem = vector, problem

    def count(self, delta_rows: int, milliseconds: float) -> None:
        """Learn from a step that succeeded."""
        self.problem = ""
        self.steps += 1
        self.milliseconds += milliseconds
        self.cost.learn(delta_rows, milliseconds)


class Round:
    """Looks at every relation in turn. Used by one thread; ``ahead`` finds what is known of one, ``clock`` gives seconds."""

    def __init__(
        self,
        registry: Registry,
        ahead: Callable[[Maintained], Ahead],
        guard: Guard,
        source: ChangeSource,
        clock: Callable[[], float],
        metrics: Metrics,
    ) -> None:
        self._registry = registry
        self._ahead = ahead
        self._guard = guard
        self._source = source
        self._clock = clock
        self._metrics = metrics
        self._backlog = Backlog(source)

    def run(self, batch: int | None, is_over: Callable[[], bool]) -> None:
        """Maintain what ``batch`` changed rows or more wait for (None: by measured cost), the newest uses first, until ``is_over``."""
        snapshots: dict[str, TableSnapshot] = {}
        relations = self._registry.relations()
        self._backlog.forget_others(relations)
        for relation in reversed(relations):
            if is_over():
                return
            if self._is_hot(relation):
                self._look_at(relation, batch, snapshots)
        self._metrics.count("imp_evictions_total", amount=len(self._registry.evict()))

    def _is_hot(self, relation: Maintained) -> bool:
        ahead = self._ahead(relation)
        if ahead.use is None or ahead.left is relation.vector or relation.state is None:
            return False
        is_wanted = not relation.costs.is_useless and self._guard.problem(relation.identity.template) is None
        return is_wanted and self._clock() - ahead.use.at <= HOT_SECONDS

    def _look_at(self, relation: Maintained, batch: int | None, snapshots: dict[str, TableSnapshot]) -> None:
        vector, ahead = relation.vector, self._ahead(relation)
        try:
            for location in vector:
                if location not in snapshots:
                    snapshots[location] = self._source.snapshot(location)
            rows = self._backlog.rows(vector, snapshots)
            if rows is None or rows >= (batch or ahead.cost.batch()):
                self._advance(relation, ahead, snapshots)
        except (ChangesUnavailable, NeedsEngine) as found:
            ahead.leave(vector, f"left to the next query: {found}")
            self._metrics.count("imp_background_problems_total", "left")
        except Exception as error:
            ahead.leave(vector, f"{type(error).__name__}: {error}".split("\n", 1)[0])
            self._metrics.count("imp_background_problems_total", "failed")
            _LOG.warning("Eager maintenance of sketch %s failed: %s", relation.identifier, described(error))

    def _advance(self, relation: Maintained, ahead: Ahead, snapshots: Mapping[str, TableSnapshot]) -> None:
        # A query that holds the relation brings it up to date itself.
        with relation.ownership.held_if_free() as is_held:
            if not is_held or ahead.use is None or not self._is_hot(relation) or not set(relation.vector) <= set(snapshots):
                return
            request = ahead.use.request_at(snapshots)
            if relation.is_ahead_of(request.tables) or relation.vector == vector_of(request.tables):
                return
            begin = time.perf_counter()
            try:
                upkeep = maintain_ahead(relation, request, self._source)
            finally:
                self._registry.weigh(relation)
            seconds = time.perf_counter() - begin
            ahead.count(upkeep.delta_rows, seconds * 1000)
            relation.costs.note_maintenance(upkeep.delta_rows, seconds)
            self._count(upkeep, seconds)

    def _count(self, upkeep: Upkeep, seconds: float) -> None:
        self._metrics.count("imp_maintenance_steps_total", "background")
        self._metrics.count("imp_delta_rows_total", "background", amount=upkeep.delta_rows)
        self._metrics.observe("imp_background_step_seconds", seconds)
        _LOG.debug("step decision=%s delta_rows=%d total_ms=%.2f", upkeep.decision.name, upkeep.delta_rows, seconds * 1000)


def maintain_ahead(relation: Maintained, request: Request, source: ChangeSource) -> Upkeep:
    """Bring a relation to the request's versions by the steps of lazy maintenance; the caller holds it.

    Raises:
        NeedsEngine: that would take a query of the engine; the relation is as it was.
        ChangesUnavailable: only a new capture would do; the relation is as it was, or knows that the capture is due.
    """
    changes = planned(relation, request, source)
    if not are_read_in_process(changes):
        raise NeedsEngine("the changed rows can only be had by a query")
    step = read_rows(relation, request, changes, source, _no_engine)
    try:
        return apply_rows(relation, request, step)
    except ChangesUnavailable as unavailable:
        relation.invalidated(Cause(unavailable.reason, unavailable.detail))
        raise


def _no_engine(text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
    raise NeedsEngine("an expression of the query can only be evaluated by a query")
