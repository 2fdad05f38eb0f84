"""Maintenance against recapture: milliseconds from the SELECT received to the rewritten query ready, by delta size (IMP report 8.2)."""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import upkeep
from benchmarks.workloads.aggregates import insert
from benchmarks.workloads.mixes import query

AGGREGATES = (1, 10)
DELTAS = (1, 20, 200, 2000)


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per number of aggregates and delta size."""
    for aggregates in AGGREGATES:
        text = query(systems.table.name, aggregates, 2_000)
        for delta in DELTAS:
            upkeep(journal.page({"aggregates": aggregates, "delta": delta}), plan, systems, text, partial(insert, systems, delta))
