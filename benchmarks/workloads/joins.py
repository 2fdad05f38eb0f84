"""Maintenance of groups over joins against recapture (IMP report 8.3.3 and 8.3.4; queries of its Appendix A.1.3 and A.1.4).

The big table has some 2,000 rows for each key. ``changes of`` says which side changes: those of the big table find their partners in the
small one in memory; those of the small one are joined in process with the files of the big one that may hold their keys.
"""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import upkeep
from benchmarks.workloads.aggregates import insert
from imp_driver.cli.synthetic import GROUPS

SHAPES = {
    "1-2K": f"SELECT id + 1 AS ttid, id AS v FROM range({GROUPS})",
    "20-2K": f"SELECT id % {GROUPS} + 1 AS ttid, id AS v FROM range({20 * GROUPS})",
    "1 %": f"SELECT id * 100 + 1 AS ttid, id AS v FROM range({GROUPS // 100})",
    "5 %": f"SELECT id * 20 + 1 AS ttid, id AS v FROM range({GROUPS // 20})",
    "10 %": f"SELECT id * 10 + 1 AS ttid, id AS v FROM range({GROUPS // 10})",
}
"""Name and rows of the small table: each key once, twenty times, or a share of the keys once."""
DELTAS = (1, 20, 200, 2000)
SMALL_DELTA = 20


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per join, changed side and delta size."""
    for place, (shape, rows) in enumerate(SHAPES.items()):
        small = f"tjoinhelp{place}"
        systems.incremental.execute(f"DROP TABLE IF EXISTS {small}").close()
        systems.incremental.execute(f"CREATE TABLE {small} USING DELTA AS SELECT CAST(ttid AS INT) AS ttid, v FROM ({rows})").close()
        text = query(systems.table.name, small)
        for delta in DELTAS:
            page = journal.page({"join": shape, "changes of": "big", "delta": delta})
            upkeep(page, plan, systems, text, partial(insert, systems, delta))
        page = journal.page({"join": shape, "changes of": "small", "delta": SMALL_DELTA})
        upkeep(page, plan, systems, text, partial(insert_keys, systems, small, SMALL_DELTA))


def query(big: str, small: str) -> str:
    """Return the report's query on groups over a join."""
    inner = f"SELECT a AS a, b AS b, c AS c FROM {big} WHERE b < 1000"
    return f"SELECT a, avg(b) AS ab FROM ({inner}) tt JOIN {small} ON (a = ttid) GROUP BY a HAVING avg(c) < 1000"


def insert_keys(systems: Systems, small: str, count: int) -> None:
    """Insert rows with random keys into a small table, in one commit."""
    keys = f"SELECT CAST(floor(rand({systems.seed}) * {GROUPS}) + 1 AS INT), id FROM range({count})"
    systems.incremental.execute(f"INSERT INTO {small} {keys}").close()
    systems.seed += 20
