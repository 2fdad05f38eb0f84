"""Maintenance of TPC-H queries against recapture, by changes of lineitem, and the cut query against plain Spark (IMP report 8.2.1)."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.harness import Answer, Systems, before_execution, checked
from benchmarks.tpch_tables import QUERIES, create, insert_lines

WARM_UP = 2


def run(systems: Systems, scale: float, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per query and delta size."""
    create(systems.incremental, scale)
    records = []
    for name, text in QUERIES.items():
        first = systems.ask("IMP", text)
        recaptured = []
        for _ in range(3):
            systems.forget(systems.ask("FM", text))
            recaptured.append(before_execution(systems.ask("FM", text).report))
        for delta in (10, 100, 1000):
            records.append(_deltas(systems, name, scale, delta, statistics.median(recaptured), repetitions))
            print(records[-1], flush=True)
        print(name, first.report.decision, first.report.reason, first.report.detail, flush=True)
    return records


def _deltas(systems: Systems, name: str, scale: float, delta: int, capture: float, repetitions: int) -> dict[str, Any]:
    text, last = QUERIES[name], ""
    spent: list[float] = []
    cut: list[float] = []
    plain: list[float] = []
    for repetition in range(repetitions + WARM_UP):
        insert_lines(systems.incremental, scale, delta, systems.seed)
        systems.seed += 20
        answers: list[Answer] = [systems.ask("IMP", text), systems.ask("NS", text)]
        checked(answers)
        if repetition >= WARM_UP:
            if answers[0].report.decision.name == "MAINTAINED":
                spent.append(before_execution(answers[0].report))
            cut.append(answers[0].seconds * 1000)
            plain.append(answers[1].seconds * 1000)
        last = f"{answers[0].report.decision.name}, {answers[0].report.detail or answers[0].report.reason.name}"
    median = statistics.median(spent) if spent else None
    return {
        "query": name,
        "delta": delta,
        "maintained": f"{len(spent)} of {repetitions}",
        "maintain ms": "-" if median is None else round(median, 1),
        "recapture ms": round(capture, 1),
        "recapture/maintain": "-" if median is None else round(capture / median, 1),
        "IMP ms": round(statistics.median(cut)),
        "NS ms": round(statistics.median(plain)),
        "NS/IMP": round(statistics.median(plain) / statistics.median(cut), 2),
        "last": last,
    }
