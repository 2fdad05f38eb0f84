"""TPC-H with refresh: all 22 queries with parameters drawn anew each round, over dbgen's data, answered from states and by plain Spark."""

from __future__ import annotations

from random import Random

from benchmarks.answering import opened
from benchmarks.dbgen_tables import TABLES, create, deleted, inserted, refresh_keys
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.recomputing import recomputing
from benchmarks.refreshed import Subject, changing_rounds, measure
from benchmarks.tpch_texts import TEMPLATES

SCHEMA = "dbgen"
_SEED = 22


def run(journal: Journal, plan: Plan, warehouse: str, scale: float) -> None:
    """Measure one case per query and one for the changes."""
    keys = refresh_keys(Random(_SEED), changing_rounds(plan))
    with opened(warehouse, SCHEMA) as connections:
        create(connections.plain, scale)
        with recomputing(connections.plain, TABLES) as engine:
            subject = Subject(
                TEMPLATES, scale, connections, lambda each: inserted(keys.copied[each]), lambda each: deleted(keys.deleted[each]), engine
            )
            measure(journal, plan, subject)
