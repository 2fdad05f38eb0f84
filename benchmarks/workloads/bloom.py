"""Changes of a small table that is joined by a column whose values lie anywhere in the large one's files (IMP report 8.4.2).

``partners`` is the share of the changed keys that the large table has. Without Bloom filters no file can be left out, so the engine joins;
with them only files that hold a key are read, and none where no key has a partner.
"""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import drop, upkeep
from imp_driver.delta import lookup

HELPER = "tbloom"
PER_CHANGE = 20
SHARES = (0, 5, 50, 100)
"""Percent."""


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per share of keys with partners, without and with filters."""
    rows = systems.table.rows
    systems.incremental.execute(f"DROP TABLE IF EXISTS {HELPER}").close()
    keys = f"SELECT id * 100 AS k, id AS v FROM range({rows // 100})"
    systems.incremental.execute(f"CREATE TABLE {HELPER} USING DELTA AS {keys}").close()
    text = f"SELECT a, sum(v) AS total FROM {systems.table.name} JOIN {HELPER} ON (id = k) GROUP BY a HAVING avg(c) < 1000"
    most = lookup.MOST_FILTERED_ROWS
    try:
        for name, limit in (("no", 0), ("yes", most)):
            lookup.MOST_FILTERED_ROWS = limit
            for share in SHARES:
                page = journal.page({"Bloom filters": name, "partners": f"{share} %"})
                upkeep(page, plan, systems, text, partial(_insert, systems, share))
    finally:
        lookup.MOST_FILTERED_ROWS = most
    drop(systems, HELPER)


def _insert(systems: Systems, share: int) -> None:
    """Insert rows of which so many percent have a key of the large table."""
    systems.seed += 1
    found = f"floor(rand({systems.seed}) * {systems.table.rows})"
    missing = f"{10 * systems.table.rows} + id"
    keys = f"SELECT CAST(IF(id * 100 < {share * PER_CHANGE}, {found}, {missing}) AS BIGINT), id FROM range({PER_CHANGE})"
    systems.incremental.execute(f"INSERT INTO {HELPER} {keys}").close()
