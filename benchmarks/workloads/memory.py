"""Memory of the state and of the process with growing changes, Q_groups and Q_joinsel (IMP report 8.6.1, figure 17).

Both are weighed after each query of IMP, from the capture of the cold start on. FM does not take part: its states are in the same process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Work, take_turns
from benchmarks.upkeep import Asked, Weighed, drop
from benchmarks.workloads import groups
from benchmarks.workloads.joins import SHAPES
from imp_driver.cli.synthetic import GROUPS

DELTAS = (10, 100, 1_000, 10_000, 100_000)
SELECTIVITIES = ("1 %", "5 %", "10 %")


def run(journal: Journal, plan: Plan, systems: Systems, rows: int) -> None:
    """Measure one case per query and delta size, each from a cold start without sketches."""
    for number in groups.THRESHOLDS:
        table = GroupedTable(f"tmemory{number}g", rows, number)
        table.create(systems)
        _measure(journal, plan, systems, f"{number} groups", groups.query(table), partial(table.insert, systems))
        drop(systems, table.name)
    table = GroupedTable("tmemoryjoin", rows, GROUPS)
    table.create(systems)
    for place, shape in enumerate(SELECTIVITIES):
        helper = f"tjoinhelpmemory{place}"
        systems.incremental.execute(f"DROP TABLE IF EXISTS {helper}").close()
        keys = f"SELECT CAST(ttid AS INT) AS ttid, v FROM ({SHAPES[shape]})"
        systems.incremental.execute(f"CREATE TABLE {helper} USING DELTA AS {keys}").close()
        text = f"SELECT a, avg(b) AS ab FROM {table.name} JOIN {helper} ON (a = ttid) WHERE b < 1000 GROUP BY a HAVING avg(c) < 1000"
        _measure(journal, plan, systems, f"join, {shape}", text, partial(table.insert, systems))
        drop(systems, helper)
    drop(systems, table.name)


def _measure(journal: Journal, plan: Plan, systems: Systems, name: str, text: str, insert: Callable[[int], None]) -> None:
    for delta in DELTAS:
        systems.drop_sketches()
        asked = Asked(systems, "IMP", text)
        page = journal.page({"query": name, "delta": delta})
        take_turns(page, plan, Work({"NS": Asked(systems, "NS", text), "IMP": Weighed(asked)}, partial(insert, delta)))
        assert asked.last is not None
        page.facts["detail"] = asked.last.report.detail
