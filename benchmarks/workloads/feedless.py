"""Upkeep on tables of every kind, 100 changed rows in one of 64 files: files written anew, deletion vectors, and the change feed."""

from __future__ import annotations

from itertools import count

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import drop, upkeep

GROUPS = 5_000
CHANGED = 100
PROPERTIES = {
    "files": "delta.enableChangeDataFeed = false, delta.enableDeletionVectors = false",
    "vectors": "delta.enableChangeDataFeed = false, delta.enableDeletionVectors = true",
    "feed": "delta.enableChangeDataFeed = true, delta.enableDeletionVectors = true",
}
CHANGES = {"update": "UPDATE {table} SET b = b + 1 WHERE {rows}", "delete": "DELETE FROM {table} WHERE {rows}"}


def run(journal: Journal, plan: Plan, systems: Systems, rows: int) -> None:
    """Measure one case per kind of table and of change; each change is of another group, and so mostly of another file."""
    table = GroupedTable("feedless", rows, GROUPS)
    table.create(systems)
    # The rows of a group have numbers all over the table.
    every = max(1, rows // GROUPS // CHANGED)
    groups = (1 + (number * 617) % GROUPS for number in count())
    for kind, properties in PROPERTIES.items():
        systems.incremental.execute(f"ALTER TABLE {table.name} SET TBLPROPERTIES ({properties})").close()
        for change, text in CHANGES.items():

            def commit(text: str = text) -> None:
                chosen = f"a = {next(groups)} AND id % {every} = 0"
                systems.incremental.execute(text.format(table=table.name, rows=chosen)).close()

            upkeep(journal.page({"table": kind, "change": change}), plan, systems, query(table.name), commit)
    drop(systems, table.name)


def query(table: str) -> str:
    """Return a query of three aggregates, in which few groups qualify."""
    return f"SELECT a, avg(b) AS ab, sum(c) AS sc FROM {table} GROUP BY a HAVING max(c) < {GROUPS // 25}"
