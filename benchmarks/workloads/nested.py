"""Maintenance of groups over semi-joins, outer joins, unions, DISTINCT and inner groups against recapture (IMP paper section 5.2).

Changes of 20 rows of the side that the operator compares, or of the big table. The fact ``detail`` says how the last one was followed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import drop, upkeep
from benchmarks.workloads.aggregates import insert
from benchmarks.workloads.joins import insert_keys
from imp_driver.cli.synthetic import GROUPS

SMALL = "tnested"
DELTA = 20
SHAPES: dict[str, str] = {
    "IN": f"{{big}} t WHERE a IN (SELECT ttid FROM {SMALL} WHERE v > 10)",
    "NOT EXISTS": f"{{big}} t WHERE NOT EXISTS (SELECT 1 FROM {SMALL} s WHERE s.ttid = t.a AND s.v < 10)",
    "IN (groups)": f"{{big}} t WHERE a IN (SELECT ttid FROM {SMALL} GROUP BY ttid HAVING max(v) > 10)",
    "LEFT JOIN": f"{{big}} t LEFT JOIN {SMALL} s ON s.ttid = t.a",
    "JOIN (DISTINCT)": f"{{big}} t JOIN (SELECT DISTINCT ttid FROM {SMALL}) s ON s.ttid = t.a",
    "UNION ALL": f"(SELECT a, b, c FROM {{big}} UNION ALL SELECT a, b, c FROM {SMALL}_more) t",
}
"""What stands in FROM. The key ``ttid`` of the small table has twenty rows."""


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per operator and changed side."""
    systems.incremental.execute(f"DROP TABLE IF EXISTS {SMALL}").close()
    rows = f"SELECT CAST(id % {GROUPS} + 1 AS INT) AS ttid, id AS v FROM range({20 * GROUPS})"
    systems.incremental.execute(f"CREATE TABLE {SMALL} USING DELTA AS {rows}").close()
    systems.incremental.execute(f"DROP TABLE IF EXISTS {SMALL}_more").close()
    systems.incremental.execute(
        f"CREATE TABLE {SMALL}_more USING DELTA AS SELECT a, b, c FROM {systems.table.name} WHERE id < 100000"
    ).close()
    for shape, source in SHAPES.items():
        text = f"SELECT a, avg(b) AS ab FROM {source.format(big=systems.table.name)} GROUP BY a HAVING avg(c) < 1000"
        for side, change in _changes(systems, shape).items():
            upkeep(journal.page({"operator": shape, "changes of": side, "delta": DELTA}), plan, systems, text, change)
    drop(systems, SMALL, f"{SMALL}_more")


def _changes(systems: Systems, shape: str) -> dict[str, Callable[[], None]]:
    small = partial(_insert_more, systems) if shape == "UNION ALL" else partial(insert_keys, systems, SMALL, DELTA)
    return {"big": partial(insert, systems, DELTA), "small": small}


def _insert_more(systems: Systems) -> None:
    systems.incremental.execute(f"INSERT INTO {SMALL}_more SELECT a, b, c FROM {systems.table.name} LIMIT {DELTA}").close()
