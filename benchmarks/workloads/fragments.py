"""Maintenance by the number of fragments of the partition, query Q_sketch over a join (IMP report 8.3.5, figure 11 f; Appendix A.1.5).

The table has as many groups as the most fragments need, so the query is that of the report's 1-20 join. ``fragments`` is what the
connection asks for; FM asks for one more, so that it has a state of its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import imp_driver
from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.upkeep import drop, end_to_end, maintain, recapture, state_bytes

GROUPS = 500_000
FRAGMENTS = (10, 100, 1_000, 5_000, 100_000)
DELTAS = (10, 1000)
HELPER = "tjoinhelpfragments"


def run(systems: Systems, warehouse: str, rows: int, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per number of fragments and delta size."""
    table = GroupedTable("tfragments", rows, GROUPS)
    table.create(systems)
    systems.incremental.execute(f"DROP TABLE IF EXISTS {HELPER}").close()
    keys = f"SELECT CAST(id + 1 AS INT) AS ttid, id AS v FROM range({GROUPS})"
    systems.incremental.execute(f"CREATE TABLE {HELPER} USING DELTA AS {keys}").close()
    records = []
    for fragments in FRAGMENTS:
        with (
            imp_driver.connect(warehouse=warehouse, fragments=fragments + 1) as full,
            imp_driver.connect(warehouse=warehouse, fragments=fragments) as incremental,
        ):
            own = replace(systems, full=full, incremental=incremental)
            records += _measure(own, table, fragments, repetitions)
            systems.seed, systems.next_id = own.seed, own.next_id
    drop(systems, table.name, HELPER)
    return records


def _measure(systems: Systems, table: GroupedTable, fragments: int, repetitions: int) -> list[dict[str, Any]]:
    inner = f"SELECT a AS a, b AS b, c AS c FROM {table.name} WHERE b < 100000"
    text = f"SELECT a, avg(b) AS ab FROM ({inner}) tt JOIN {HELPER} ON (a = ttid) GROUP BY a HAVING avg(c) < 100000"
    capture = recapture(systems, text)
    records = []
    for delta in DELTAS:
        measured = maintain(systems, text, partial(table.insert, systems, delta), repetitions)
        record = {"fragments": fragments, "delta": delta} | measured.columns(capture)
        record |= {"kept": f"{measured.last.fragments_kept} of {measured.last.fragments_total}"}
        record |= {"state bytes": state_bytes(systems, measured.last)} | end_to_end(systems, text, 3)
        records.append(record)
        print(record, flush=True)
    systems.incremental.execute("DROP SKETCH ALL").close()
    return records
