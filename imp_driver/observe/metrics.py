"""The counters of one warehouse in this process, and the list of all there are (docs/observability.md)."""

from __future__ import annotations

import bisect
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from imp_driver.values.failures import described

_LOG = logging.getLogger("imp_driver.observe")
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds in seconds; one more bucket has no bound. Counts that were written with other bounds cannot be added up."""

Key: TypeAlias = tuple[str, tuple[str, ...]]
"""Name of a family, and the values of its labels in their order."""


class FamilyKind(Enum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: ``labels`` are those beside the warehouse."""

    name: str
    kind: FamilyKind
    meaning: str
    labels: tuple[str, ...] = ()


FAMILIES = (
    Family("imp_statements_total", FamilyKind.COUNTER, "Statements, those that failed too.", ("kind",)),
    Family("imp_decisions_total", FamilyKind.COUNTER, "Queries by what was done about a sketch, and why.", ("decision", "reason")),
    Family("imp_errors_total", FamilyKind.COUNTER, "Statements and fetches that raised, by class of PEP 249.", ("error",)),
    Family("imp_captures_total", FamilyKind.COUNTER, "States captured, by why an older one was thrown away.", ("recapture_reason",)),
    Family("imp_maintenance_steps_total", FamilyKind.COUNTER, "States brought up to date incrementally.", ("by",)),
    Family("imp_delta_rows_total", FamilyKind.COUNTER, "Signed rows that maintenance read.", ("by",)),
    Family("imp_background_problems_total", FamilyKind.COUNTER, "Background steps that were left to the next query.", ("problem",)),
    Family("imp_considered_bytes_total", FamilyKind.COUNTER, "Bytes of the files that filtered queries would read without a sketch."),
    Family("imp_skipped_bytes_total", FamilyKind.COUNTER, "Bytes of these that need not be read, by file statistics."),
    Family("imp_evictions_total", FamilyKind.COUNTER, "States dropped because the memory of the warehouse was used up."),
    Family("imp_statement_seconds", FamilyKind.HISTOGRAM, "From a statement to its first rows.", ("kind",)),
    Family("imp_stage_seconds", FamilyKind.HISTOGRAM, "Time of a statement's stage without the stages inside it.", ("stage",)),
    Family("imp_background_step_seconds", FamilyKind.HISTOGRAM, "Time of a maintenance step between the queries."),
    Family("imp_connections", FamilyKind.GAUGE, "Open connections."),
    Family("imp_sketches", FamilyKind.GAUGE, "States in memory."),
    Family("imp_state_bytes", FamilyKind.GAUGE, "Bytes of states and sketches in memory."),
    Family("imp_state_limit_bytes", FamilyKind.GAUGE, "Bytes that they may have together."),
    Family("imp_disabled_templates", FamilyKind.GAUGE, "Templates that the guard has seen wrong rows of."),
    Family("imp_graph_states", FamilyKind.GAUGE, "Queries of SPARQL whose solutions are kept."),
    Family("imp_graph_bytes", FamilyKind.GAUGE, "Bytes of these solutions and of what they are made from, about."),
)
BY_NAME = {family.name: family for family in FAMILIES}


@dataclass(frozen=True, slots=True)
class Distribution:
    """``counts`` of observations by bucket of BUCKETS, not cumulative, the unbounded one last; ``total`` is their sum in seconds."""

    counts: tuple[int, ...] = (0,) * (len(BUCKETS) + 1)
    total: float = 0.0

    def plus(self, other: Distribution, sign: int = 1) -> Distribution:
        counts = tuple(one + sign * two for one, two in zip(self.counts, other.counts, strict=True))
        return Distribution(counts, self.total + sign * other.total)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All values at one moment."""

    counters: Mapping[Key, float] = field(default_factory=dict)
    distributions: Mapping[Key, Distribution] = field(default_factory=dict)
    gauges: Mapping[Key, float] = field(default_factory=dict)

    def plus(self, other: Snapshot) -> Snapshot:
        """Add everything of both."""
        return Snapshot(
            _sums(self.counters, other.counters), _merged(self.distributions, other.distributions), _sums(self.gauges, other.gauges)
        )

    def since(self, earlier: Snapshot) -> Snapshot:
        """Return what was counted since an earlier moment; gauges are those of now."""
        counters = {key: value - earlier.counters.get(key, 0) for key, value in self.counters.items()}
        none = Distribution()
        distributions = {key: each.plus(earlier.distributions.get(key, none), -1) for key, each in self.distributions.items()}
        return Snapshot(counters, distributions, self.gauges)

    def without_gauges(self) -> Snapshot:
        """Return what is left of a process that has ended."""
        return Snapshot(self.counters, self.distributions)


def _sums(one: Mapping[Key, float], other: Mapping[Key, float]) -> dict[Key, float]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}


def _merged(one: Mapping[Key, Distribution], other: Mapping[Key, Distribution]) -> dict[Key, Distribution]:
    none = Distribution()
    return {key: one.get(key, none).plus(other.get(key, none)) for key in {**one, **other}}


def _gauges(read: Callable[[], Mapping[str, float]]) -> Mapping[str, float]:
    """Read one source; what it measures may change meanwhile, and the counters must not be lost for that."""
    try:
        return read()
    except Exception as error:
        _LOG.warning("Gauges could not be read: %s", described(error))
        return {}


class Metrics:
    """Counts. All methods are safe to call from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[Key, float] = {}
        self._counts: dict[Key, list[int]] = {}
        self._totals: dict[Key, float] = {}
        self._connections = 0
        self._gauges: dict[str, Callable[[], Mapping[str, float]]] = {}

    def count(self, name: str, *labels: str, amount: float = 1) -> None:
        """Add to a counter; the first time makes it, with an amount of 0 too."""
        with self._lock:
            key = (name, labels)
            self._counters[key] = self._counters.get(key, 0) + amount

    def observe(self, name: str, seconds: float, *labels: str) -> None:
        """Add one observation to a histogram."""
        with self._lock:
            key = (name, labels)
            if key not in self._counts:
                self._counts[key], self._totals[key] = [0] * (len(BUCKETS) + 1), 0.0
            self._counts[key][bisect.bisect_left(BUCKETS, seconds)] += 1
            self._totals[key] += seconds

    def connected(self, change: int) -> int:
        """Count a connection on (1) or off (-1); return how many are open."""
        with self._lock:
            self._connections += change
            return self._connections

    def read_gauges(self, source: str, read: Callable[[], Mapping[str, float]]) -> None:
        """Ask ``read`` for gauges by name with every snapshot; a source that is known already is asked by the newer way."""
        with self._lock:
            self._gauges[source] = read

    def snapshot(self) -> Snapshot:
        """Return all values of now."""
        with self._lock:
            counters = dict(self._counters)
            distributions = {key: Distribution(tuple(counts), self._totals[key]) for key, counts in self._counts.items()}
            gauges: dict[Key, float] = {("imp_connections", ()): self._connections}
            sources = tuple(self._gauges.values())
        for read in sources:
            for name, value in _gauges(read).items():
                gauges[name, ()] = gauges.get((name, ()), 0) + value
        return Snapshot(counters, distributions, gauges)
