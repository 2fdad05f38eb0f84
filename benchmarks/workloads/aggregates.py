"""Maintenance by the number of aggregates against recapture, query Q_having (IMP report 8.3.2, figure 11 a; Appendix A.1.1).

The report's query on one aggregate has no HAVING, so it keeps every row; here it has one. Its queries are otherwise the same, the tenth
aggregate is a maximum.
"""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import upkeep
from imp_driver.cli.synthetic import insert_rows

CONDITIONS = ("avg(c) < 1000", "avg(d) < 1200", *(f"avg({column}) > 0" for column in "efghij"), "max(c) > 0")
NUMBERS = (1, 2, 3, 5, 10)
DELTAS = (10, 100, 1000)


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per number of aggregates and delta size."""
    for number in NUMBERS:
        for delta in DELTAS:
            page = journal.page({"aggregates": number, "delta": delta})
            upkeep(page, plan, systems, query(systems.table.name, number), partial(insert, systems, delta))


def query(table: str, number: int) -> str:
    """Return the query with ``number`` aggregates, that of the SELECT list counted."""
    tested = ("avg(b) < 500",) if number == 1 else CONDITIONS[: number - 1]
    return f"SELECT a, avg(b) AS ab FROM {table} GROUP BY a HAVING {' AND '.join(tested)}"


def insert(systems: Systems, count: int) -> None:
    """Insert rows into the papers' table in one commit."""
    insert_rows(systems.incremental, systems.table.name, systems.next_id, count, systems.seed)
    systems.next_id += count
    systems.seed += 20
