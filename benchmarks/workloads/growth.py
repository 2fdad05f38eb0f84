"""The same query and changes on tables of growing size (IMP report 8.2.1 and 8.3: maintenance hardly depends on the table's size)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import drop, upkeep
from imp_driver.cli.synthetic import GROUPS, having

DELTAS = (1, 20, 200, 2000)
BYTES_PER_ROW = 90
SAFETY = 2.5
"""Spark sorts the table on disk before it writes it."""


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str, sizes: Sequence[int]) -> None:
    """Measure one case per size and delta; sizes that the disk cannot hold have a case that says so."""
    for rows in sizes:
        wanted, free = int(rows * BYTES_PER_ROW * SAFETY), shutil.disk_usage(warehouse).free
        if free < wanted:
            why = f"left out: it may take {wanted >> 20:,} MiB of disk and {free >> 20:,} are free"
            journal.page({"rows": rows}).facts["size"] = why
            print(f"growth: {rows:,} rows {why}", flush=True)
            continue
        table = GroupedTable(f"growth{rows}", rows, GROUPS)
        _measure(journal, plan, systems, table)
        drop(systems, table.name)
        # DROP TABLE deletes the files; should any be left, the next size might not fit.
        shutil.rmtree(Path(warehouse) / table.name, ignore_errors=True)


def _measure(journal: Journal, plan: Plan, systems: Systems, table: GroupedTable) -> None:
    table.create(systems)
    low = GROUPS // 2
    text = f"SELECT a, avg(b) AS ab FROM {table.name} GROUP BY a {having(1, low, low + 50)}"
    for delta in DELTAS:
        upkeep(journal.page({"rows": table.rows, "delta": delta}), plan, systems, text, partial(table.insert, systems, delta))
