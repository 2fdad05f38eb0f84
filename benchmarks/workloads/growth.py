"""The same query and changes on tables of growing size (IMP report 8.2.1 and 8.3: maintenance hardly depends on the table's size)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.upkeep import drop, end_to_end, maintain, recapture, state_bytes
from imp_driver.cli.synthetic import GROUPS, having

DELTAS = (1, 20, 200, 2000)
BYTES_PER_ROW = 90
SAFETY = 2.5
"""Spark sorts the table on disk before it writes it."""


def run(systems: Systems, warehouse: str, sizes: Sequence[int], repetitions: int) -> list[dict[str, Any]]:
    """Return one record per size and delta; sizes that the disk cannot hold are left out."""
    records = []
    for rows in sizes:
        wanted, free = int(rows * BYTES_PER_ROW * SAFETY), shutil.disk_usage(warehouse).free
        if free < wanted:
            print(f"growth: {rows:,} rows left out, they may take {wanted >> 20:,} MiB of disk and {free >> 20:,} are free", flush=True)
            continue
        table = GroupedTable(f"growth{rows}", rows, GROUPS)
        records += _measure(systems, table, repetitions)
        drop(systems, table.name)
        # DROP TABLE deletes the files; should any be left, the next size might not fit.
        shutil.rmtree(Path(warehouse) / table.name, ignore_errors=True)
    return records


def _measure(systems: Systems, table: GroupedTable, repetitions: int) -> list[dict[str, Any]]:
    table.create(systems)
    low = GROUPS // 2
    text = f"SELECT a, avg(b) AS ab FROM {table.name} GROUP BY a {having(1, low, low + 50)}"
    capture = recapture(systems, text)
    records = []
    for delta in DELTAS:
        measured = maintain(systems, text, partial(table.insert, systems, delta), repetitions)
        record = {"rows": table.rows, "delta": delta} | measured.columns(capture)
        record |= {"state bytes": state_bytes(systems, measured.last)} | end_to_end(systems, text, 5)
        records.append(record)
        print(record, flush=True)
    return records
