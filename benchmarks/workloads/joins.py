"""Maintenance of groups over joins against recapture (IMP report 8.3.3 and 8.3.4; queries of its Appendix A.1.3 and A.1.4).

The big table has some 2,000 rows for each key. ``changes of`` says which side changes: those of the big table find their partners in the
small one in memory; those of the small one are joined in process with the files of the big one that may hold their keys.
"""

from __future__ import annotations

import statistics
from typing import Any

import imp_driver
from benchmarks.harness import Systems, before_execution, checked
from benchmarks.upkeep import WARM_UP
from benchmarks.workloads.aggregates import insert
from imp_driver.cli.synthetic import GROUPS

SHAPES = {
    "1-2K": f"SELECT id + 1 AS ttid, id AS v FROM range({GROUPS})",
    "20-2K": f"SELECT id % {GROUPS} + 1 AS ttid, id AS v FROM range({20 * GROUPS})",
    "1 %": f"SELECT id * 100 + 1 AS ttid, id AS v FROM range({GROUPS // 100})",
    "5 %": f"SELECT id * 20 + 1 AS ttid, id AS v FROM range({GROUPS // 20})",
    "10 %": f"SELECT id * 10 + 1 AS ttid, id AS v FROM range({GROUPS // 10})",
}
"""Name and rows of the small table: each key once, twenty times, or a share of the keys once."""


def run(systems: Systems, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per join, changed side and delta size."""
    records = []
    for place, (shape, rows) in enumerate(SHAPES.items()):
        small = f"tjoinhelp{place}"
        systems.incremental.execute(f"DROP TABLE IF EXISTS {small}").close()
        systems.incremental.execute(f"CREATE TABLE {small} USING DELTA AS SELECT CAST(ttid AS INT) AS ttid, v FROM ({rows})").close()
        text = query(systems.table.name, small)
        capture = _capture(systems, text)
        for delta in (1, 20, 200, 2000):
            records.append(_deltas(systems, shape, text, "", delta, capture, repetitions))
        records.append(_deltas(systems, shape, text, small, 20, capture, repetitions))
    return records


def query(big: str, small: str) -> str:
    """Return the report's query on groups over a join."""
    inner = f"SELECT a AS a, b AS b, c AS c FROM {big} WHERE b < 1000"
    return f"SELECT a, avg(b) AS ab FROM ({inner}) tt JOIN {small} ON (a = ttid) GROUP BY a HAVING avg(c) < 1000"


def _capture(systems: Systems, text: str) -> float:
    systems.ask("IMP", text)
    captures = []
    for _ in range(3):
        systems.forget(systems.ask("FM", text))
        captures.append(before_execution(systems.ask("FM", text).report))
    checked([systems.ask("NS", text), systems.ask("IMP", text)])
    return statistics.median(captures)


def _deltas(systems: Systems, shape: str, text: str, small: str, delta: int, capture: float, repetitions: int) -> dict[str, Any]:
    spent, in_memory = [], 0
    for repetition in range(repetitions + WARM_UP):
        if small:
            insert_keys(systems.incremental, small, delta, systems.seed)
            systems.seed += 20
        else:
            insert(systems, delta)
        answer = systems.ask("IMP", text)
        assert answer.report.decision.name == "MAINTAINED", answer.report
        if repetition >= WARM_UP:
            spent.append(before_execution(answer.report))
            in_memory += "in memory" in answer.report.detail
    checked([systems.ask("NS", text), systems.ask("IMP", text)])
    median = statistics.median(spent)
    record = {
        "join": shape,
        "changes of": "small" if small else "big",
        "delta": delta,
        "in memory": f"{in_memory} of {len(spent)}",
        "maintain ms": round(median, 1),
        "slowest ms": round(max(spent), 1),
        "recapture ms": round(capture, 1),
        "recapture/maintain": round(capture / median, 1),
    }
    print(record, flush=True)
    return record


def insert_keys(connection: imp_driver.Connection, small: str, count: int, seed: int) -> None:
    """Insert rows with random keys into a small table, in one commit."""
    keys = f"SELECT CAST(floor(rand({seed}) * {GROUPS}) + 1 AS INT), id FROM range({count})"
    connection.execute(f"INSERT INTO {small} {keys}").close()
