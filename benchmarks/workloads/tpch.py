"""TPC-H (IMP report 8.2.1, figure 9): what the driver does about each query, maintenance against recapture by changes of lineitem, and
the query through the driver against plain Spark.

Most of TPC-H's queries keep all of their groups; a query that is not maintained has one row, which says why.
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
    """Return one record per query and delta size, one per query that is not maintained."""
    create(systems.incremental, scale)
    records = []
    for name, text in QUERIES.items():
        capture = recapture(systems, text)
        for delta in DELTAS:
            records.append({"query": name} | _deltas(systems, text, scale, delta, capture, repetitions))
            print(records[-1], flush=True)
            if records[-1]["maintain ms"] == "-":
                break
        systems.incremental.execute("DROP SKETCH ALL").close()
    return records


def _deltas(systems: Systems, text: str, scale: float, delta: int, capture: float | None, repetitions: int) -> dict[str, Any]:
    spent: list[float] = []
    cut: list[float] = []
    plain: list[float] = []
    for repetition in range(repetitions + WARM_UP):
        insert_lines(systems.incremental, scale, delta, systems.seed)
        systems.seed += 20
        # Whoever asks first after a change also pays for Delta's new snapshot.
        order = ("IMP", "NS") if repetition % 2 else ("NS", "IMP")
        answers: dict[str, Answer] = {system: systems.ask(system, text) for system in order}
        checked(list(answers.values()))
        last = answers["IMP"].report
        if repetition >= WARM_UP:
            if last.decision is Decision.MAINTAINED:
                spent.append(before_execution(last))
            cut.append(answers["IMP"].seconds * 1000)
            plain.append(answers["NS"].seconds * 1000)
    median = statistics.median(spent) if spent else None
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
