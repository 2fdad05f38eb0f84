"""Up to which share of the table maintenance beats capturing again (IMP report figure 12; goal: it still does at 5 %).

Each change is one commit of one file. The table is brought back before each, captured, and changed a little first, as a join reads its
other table then; so recaptures are of the table with the change, and nothing piles up.
"""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.harness import Systems, before_execution, checked
from benchmarks.upkeep import CAPTURES, WARM_UP, drop, forget_all, recapture, restore, rounded, version_of
from benchmarks.workloads.aggregates import insert
from benchmarks.workloads.aggregates import query as having_query
from benchmarks.workloads.joins import SHAPES
from benchmarks.workloads.joins import query as join_query
from imp_driver.observe.report import SketchReport
from imp_driver.reasons import Decision

SHARES = (0.001, 0.01, 0.025, 0.05, 0.1)
HELPER = "tjoinhelpbreakeven"


def run(systems: Systems, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per query and share of the table."""
    table = systems.table
    systems.incremental.execute(f"DROP TABLE IF EXISTS {HELPER}").close()
    keys = f"SELECT CAST(ttid AS INT) AS ttid, v FROM ({SHAPES['1-2K']})"
    systems.incremental.execute(f"CREATE TABLE {HELPER} USING DELTA AS {keys}").close()
    base = version_of(systems, table.name)
    texts = {
        "1 aggregate": having_query(table.name, 1),
        "10 aggregates": having_query(table.name, 10),
        "join 1-2K": join_query(table.name, HELPER),
    }
    records = []
    for name, text in texts.items():
        recapture(systems, text, 1)
        for share in SHARES:
            record = large_change(systems, text, base, int(share * table.rows), repetitions)
            records.append({"query": name, "share": f"{share:.1%}"} | record)
            print(records[-1], flush=True)
    restore(systems, table.name, base)
    drop(systems, HELPER)
    return records


def large_change(systems: Systems, text: str, base: int, delta: int, repetitions: int) -> dict[str, Any]:
    """Return the medians for changes of ``delta`` rows of the papers' table as of version ``base``; answers are compared each time."""
    maintained, captured, decisions = [], [], []
    again = systems.ask("FM", text)
    for _ in range(repetitions):
        restore(systems, systems.table.name, base)
        systems.ask("IMP", text)
        for _ in range(WARM_UP):
            insert(systems, 1)
            systems.ask("IMP", text)
        insert(systems, delta)
        answer = systems.ask("IMP", text)
        decisions.append(_said(answer.report))
        if answer.report.decision is Decision.MAINTAINED:
            maintained.append(before_execution(answer.report))
        forget_all(systems, again)
        again = systems.ask("FM", text)
        if again.report.decision in CAPTURES:
            captured.append(before_execution(again.report))
        checked([systems.ask("NS", text), answer, again])
    return _record(delta, maintained, captured, decisions)


def _said(report: SketchReport) -> str:
    if report.decision is Decision.NOT_USED:
        return report.reason.name
    return (report.recapture_reason or report.decision).name


def _record(delta: int, maintained: list[float], captured: list[float], decisions: list[str]) -> dict[str, Any]:
    middle = {
        "maintain": statistics.median(maintained) if maintained else None,
        "capture": statistics.median(captured) if captured else None,
    }
    ratio = None
    if middle["maintain"] is not None and middle["capture"] is not None:
        ratio = middle["capture"] / middle["maintain"]
    return {
        "delta": delta,
        "decisions": ", ".join(dict.fromkeys(decisions)),
        "maintain ms": rounded(middle["maintain"]),
        "recapture ms": rounded(middle["capture"]),
        "recapture/maintain": rounded(ratio, 2),
    }
