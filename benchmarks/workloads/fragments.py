"""Maintenance by the number of fragments of the partition, query Q_sketch over a join (IMP report 8.3.5, figure 11 f; Appendix A.1.5).

The table has as many groups as the most fragments need, so the query is that of the report's 1-20 join. ``fragments`` is what the
connection asks for; FM has a store and thereby a state of its own.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial

import imp_driver
from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import drop, upkeep

GROUPS = 500_000
FRAGMENTS = (10, 100, 1_000, 5_000, 100_000)
DELTAS = (10, 1000)
HELPER = "tjoinhelpfragments"


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str, rows: int) -> None:
    """Measure one case per number of fragments and delta size."""
    table = GroupedTable("tfragments", rows, GROUPS)
    table.create(systems)
    systems.incremental.execute(f"DROP TABLE IF EXISTS {HELPER}").close()
    keys = f"SELECT CAST(id + 1 AS INT) AS ttid, id AS v FROM range({GROUPS})"
    systems.incremental.execute(f"CREATE TABLE {HELPER} USING DELTA AS {keys}").close()
    inner = f"SELECT a AS a, b AS b, c AS c FROM {table.name} WHERE b < 100000"
    text = f"SELECT a, avg(b) AS ab FROM ({inner}) tt JOIN {HELPER} ON (a = ttid) GROUP BY a HAVING avg(c) < 100000"
    for fragments in FRAGMENTS:
        with (
            tempfile.TemporaryDirectory() as store,
            imp_driver.connect(warehouse=warehouse, fragments=fragments, answers="off", store=store) as full,
            imp_driver.connect(warehouse=warehouse, fragments=fragments, answers="off") as incremental,
        ):
            own = replace(systems, full=full, incremental=incremental)
            for delta in DELTAS:
                page = journal.page({"fragments": fragments, "delta": delta})
                upkeep(page, plan, own, text, partial(table.insert, own, delta))
            systems.seed, systems.next_id = own.seed, own.next_id
            own.drop_sketches()
    drop(systems, table.name, HELPER)
