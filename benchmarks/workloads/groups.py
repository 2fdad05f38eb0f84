"""Maintenance by the number of groups against recapture, query Q_groups (IMP report 8.3.1, figure 11 b; Appendix A.1.2)."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.upkeep import drop, end_to_end, maintain, recapture, state_bytes

THRESHOLDS = {50: 3, 1_000: 320, 5_000: 1_600, 500_000: 1_600}
"""Bound of HAVING by the number of groups; column c is about twice the group."""
DELTAS = (10, 100, 1000)


def run(systems: Systems, rows: int, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per number of groups and delta size."""
    records = []
    for groups in THRESHOLDS:
        table = GroupedTable(f"t{groups}g", rows, groups)
        table.create(systems)
        text = query(table)
        capture = recapture(systems, text)
        for delta in DELTAS:
            measured = maintain(systems, text, partial(table.insert, systems, delta), repetitions)
            record = {"groups": groups, "delta": delta} | measured.columns(capture)
            record |= {"state bytes": state_bytes(systems, measured.last)} | end_to_end(systems, text, 3)
            records.append(record)
            print(record, flush=True)
        drop(systems, table.name)
    return records


def query(table: GroupedTable) -> str:
    """Return the report's query for a number of groups."""
    return f"SELECT a, avg(b) AS ab FROM {table.name} GROUP BY a HAVING avg(c) < {THRESHOLDS[table.groups]}"
