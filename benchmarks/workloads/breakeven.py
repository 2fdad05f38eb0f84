"""Up to which share of the table maintenance beats capturing again (IMP report figure 12; goal: it still does at 5 %).

Each change is one commit of one file. The table is brought back before each, captured, and changed a little first, as a join reads its
other table then; so recaptures are of the table with the change, and nothing piles up.
"""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal, Page
from benchmarks.protocol import Plan
from benchmarks.upkeep import WARM_UP, drop, restore, upkeep, version_of
from benchmarks.workloads.aggregates import insert
from benchmarks.workloads.aggregates import query as having_query
from benchmarks.workloads.joins import SHAPES
from benchmarks.workloads.joins import query as join_query

SHARES = (0.001, 0.01, 0.025, 0.05, 0.1)
HELPER = "tjoinhelpbreakeven"


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per query and share of the table."""
    table = systems.table
    systems.incremental.execute(f"DROP TABLE IF EXISTS {HELPER}").close()
    keys = f"SELECT CAST(ttid AS INT) AS ttid, v FROM ({SHAPES['1-2K']})"
    systems.incremental.execute(f"CREATE TABLE {HELPER} USING DELTA AS {keys}").close()
    base = version_of(systems, table.name)
    texts = {
        "1 aggregate": having_query(table.name, 1),
        "10 aggregates": having_query(table.name, 10),
        "join 1-2K": join_query(table.name, HELPER),
    }
    for name, text in texts.items():
        for share in SHARES:
            delta = int(share * table.rows)
            large_change(journal.page({"query": name, "share": f"{share:.1%}", "delta": delta}), plan, systems, text, base, delta)
    restore(systems, table.name, base)
    drop(systems, HELPER)


def large_change(page: Page, plan: Plan, systems: Systems, text: str, base: int, delta: int) -> None:
    """Measure changes of ``delta`` rows of the papers' table as of version ``base``, to which it is brought back before each."""
    upkeep(page, plan, systems, text, partial(insert, systems, delta), before=partial(_back, systems, text, base))


def _back(systems: Systems, text: str, base: int) -> None:
    restore(systems, systems.table.name, base)
    systems.ask("IMP", text)
    for _ in range(WARM_UP):
        insert(systems, 1)
        systems.ask("IMP", text)
