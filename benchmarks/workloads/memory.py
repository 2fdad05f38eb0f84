"""Memory of the state and of the process with growing changes, Q_groups and Q_joinsel (IMP report 8.6.1, figure 17).

``process MiB`` is the resident memory of the Python process, which holds all states; Spark's is its own process and not counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems, checked
from benchmarks.upkeep import drop, state_bytes
from benchmarks.workloads import groups
from benchmarks.workloads.joins import SHAPES
from imp_driver.cli.synthetic import GROUPS

DELTAS = (10, 100, 1_000, 10_000, 100_000)
SELECTIVITIES = ("1 %", "5 %", "10 %")


def run(systems: Systems, rows: int) -> list[dict[str, Any]]:
    """Return one record per query and delta size, and one for the state as captured."""
    records = []
    for number in groups.THRESHOLDS:
        table = GroupedTable(f"tmemory{number}g", rows, number)
        table.create(systems)
        text = f"SELECT a, avg(b) AS ab FROM {table.name} GROUP BY a HAVING avg(c) < {groups.THRESHOLDS[number]}"
        records += _measure(systems, f"{number} groups", text, partial(table.insert, systems))
        drop(systems, table.name)
    table = GroupedTable("tmemoryjoin", rows, GROUPS)
    table.create(systems)
    for place, shape in enumerate(SELECTIVITIES):
        helper = f"tjoinhelpmemory{place}"
        systems.incremental.execute(f"DROP TABLE IF EXISTS {helper}").close()
        keys = f"SELECT CAST(ttid AS INT) AS ttid, v FROM ({SHAPES[shape]})"
        systems.incremental.execute(f"CREATE TABLE {helper} USING DELTA AS {keys}").close()
        text = f"SELECT a, avg(b) AS ab FROM {table.name} JOIN {helper} ON (a = ttid) WHERE b < 1000 GROUP BY a HAVING avg(c) < 1000"
        records += _measure(systems, f"join, {shape}", text, partial(table.insert, systems))
        drop(systems, helper)
    drop(systems, table.name)
    return records


def _measure(systems: Systems, name: str, text: str, insert: Callable[[int], None]) -> list[dict[str, Any]]:
    records = []
    for delta in (0, *DELTAS):
        if delta:
            insert(delta)
        answer = systems.ask("IMP", text)
        record = {
            "query": name,
            "delta": delta,
            "decision": answer.report.decision.name,
            "detail": answer.report.detail,
            "state bytes": state_bytes(systems, answer.report),
            "process MiB": _resident() >> 20,
        }
        checked([systems.ask("NS", text), answer])
        records.append(record)
        print(record, flush=True)
    return records


def _resident() -> int:
    """Return resident bytes of this process, 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
