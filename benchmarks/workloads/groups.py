"""Maintenance by the number of groups against recapture, query Q_groups (IMP report 8.3.1, figure 11 b; Appendix A.1.2)."""

from __future__ import annotations

from functools import partial

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import drop, upkeep

THRESHOLDS = {50: 3, 1_000: 320, 5_000: 1_600, 500_000: 1_600}
"""Bound of HAVING by the number of groups; column c is about twice the group."""
DELTAS = (10, 100, 1000)


def run(journal: Journal, plan: Plan, systems: Systems, rows: int) -> None:
    """Measure one case per number of groups and delta size."""
    for groups in THRESHOLDS:
        table = GroupedTable(f"t{groups}g", rows, groups)
        table.create(systems)
        for delta in DELTAS:
            upkeep(journal.page({"groups": groups, "delta": delta}), plan, systems, query(table), partial(table.insert, systems, delta))
        drop(systems, table.name)


def query(table: GroupedTable) -> str:
    """Return the report's query for a number of groups."""
    return f"SELECT a, avg(b) AS ab FROM {table.name} GROUP BY a HAVING avg(c) < {THRESHOLDS[table.groups]}"
