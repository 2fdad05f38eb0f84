"""Maintenance against recapture: milliseconds from the SELECT received to the rewritten query ready, by delta size (IMP report 8.2)."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.harness import Systems, before_execution
from benchmarks.workloads.aggregates import insert
from benchmarks.workloads.mixes import query


def run(systems: Systems, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per number of aggregates and delta size."""
    records = []
    for aggregates in (1, 10):
        text = query(systems.table.name, aggregates, 2_000)
        systems.ask("IMP", text)
        captures = []
        for _ in range(3):
            systems.forget(systems.ask("FM", text))
            captures.append(before_execution(systems.ask("FM", text).report))
        capture = statistics.median(captures)
        for delta in (1, 20, 200, 2000):
            records.append(_deltas(systems, text, aggregates, delta, capture, repetitions))
            print(records[-1], flush=True)
    return records


def _deltas(systems: Systems, text: str, aggregates: int, delta: int, capture: float, repetitions: int) -> dict[str, Any]:
    spent = []
    for _ in range(repetitions):
        insert(systems, delta)
        answer = systems.ask("IMP", text)
        assert answer.report.decision.name == "MAINTAINED", answer.report
        spent.append(before_execution(answer.report))
    median = statistics.median(spent)
    return {
        "aggregates": aggregates,
        "delta": delta,
        "maintain ms": round(median, 1),
        "slowest ms": round(max(spent), 1),
        "recapture ms": round(capture, 1),
        "recapture/maintain": round(capture / median, 1),
    }
