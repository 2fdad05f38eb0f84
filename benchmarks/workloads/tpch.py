"""TPC-H (IMP report 8.2.1, figure 9): what the driver does about each query, maintenance against recapture by changes of lineitem, and
the query through the driver against plain Spark.

Most of TPC-H's queries keep all of their groups; a query that is not maintained has one case, whose facts say why.
"""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.records import Quantity
from benchmarks.tpch_queries import QUERIES
from benchmarks.tpch_tables import create, insert_lines
from benchmarks.upkeep import upkeep

DELTAS = (10, 100, 1000)


def run(journal: Journal, plan: Plan, systems: Systems, scale: float) -> None:
    """Measure one case per query and delta size, one per query that is not maintained."""
    create(systems.incremental, scale)
    for name, text in QUERIES.items():
        for delta in DELTAS:
            page = journal.page({"query": name, "delta": delta})
            upkeep(page, plan, systems, text, partial(_insert, systems, scale, delta))
            if not page.case.values("IMP", Quantity.MAINTENANCE):
                break
    systems.drop_sketches()


def _insert(systems: Systems, scale: float, delta: int) -> None:
    insert_lines(systems.incremental, scale, delta, systems.seed)
    systems.seed += 20
