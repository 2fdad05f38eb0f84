"""TPC-H (IMP report 8.2.1, figure 9): what the driver does about each query, maintenance against recapture by changes of lineitem, and
the query through the driver against plain Spark.

Most of TPC-H's queries keep all of their groups; a query that is not sketched has one row, which says why.
"""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.harness import Answer, Systems, before_execution, checked
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import create, insert_lines
from benchmarks.upkeep import WARM_UP, recapture, rounded
from imp_driver.reasons import Decision

DELTAS = (10, 100, 1000)


def run(systems: Systems, scale: float, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per query and delta size, one per query that has no sketch."""
    create(systems.incremental, scale)
    records = []
    for name, text in QUERIES.items():
        capture = recapture(systems, text)
        for delta in DELTAS if capture is not None else DELTAS[:1]:
            records.append({"query": name} | _deltas(systems, text, scale, delta, capture, repetitions))
            print(records[-1], flush=True)
        systems.incremental.execute("DROP SKETCH ALL").close()
    return records


def _deltas(systems: Systems, text: str, scale: float, delta: int, capture: float | None, repetitions: int) -> dict[str, Any]:
    spent: list[float] = []
    cut: list[float] = []
    plain: list[float] = []
    for repetition in range(repetitions + WARM_UP):
        insert_lines(systems.incremental, scale, delta, systems.seed)
        systems.seed += 20
        answers: list[Answer] = [systems.ask("IMP", text), systems.ask("NS", text)]
        checked(answers)
        if repetition >= WARM_UP:
            if answers[0].report.decision is Decision.MAINTAINED:
                spent.append(before_execution(answers[0].report))
            cut.append(answers[0].seconds * 1000)
            plain.append(answers[1].seconds * 1000)
    median = statistics.median(spent) if spent else None
    last = answers[0].report
    return {
        "delta": delta,
        "maintained": f"{len(spent)} of {repetitions}",
        "maintain ms": rounded(median),
        "recapture ms": rounded(capture),
        "recapture/maintain": rounded(None if capture is None or not median else capture / median),
        "IMP ms": round(statistics.median(cut)),
        "NS ms": round(statistics.median(plain)),
        "NS/IMP": round(statistics.median(plain) / statistics.median(cut), 2),
        "last decision": last.decision.name,
        "reason": last.reason.name,
        "detail": last.detail,
    }
