"""What skipping within files is worth: few large files, sorted within or not, with Parquet's page indexes used or not.

The filter leaves one file of four and 1 % of the rows.
"""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns, turn_of
from benchmarks.workloads.mixes import query
from imp_driver.cli.synthetic import GROUPS

FILES = 4
PAGES = "parquet.filter.columnindex.enabled"


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per layout; the runs with and without page indexes take turns."""
    for layout in ("sorted", "unsorted"):
        table = f"tpages_{layout}"
        _make(systems, table, is_sorted=layout == "sorted")
        low = GROUPS // 2 + 100
        text = query(table, 10, low).replace(" GROUP BY", f" WHERE a >= {low - 1} AND a <= {low + 51} GROUP BY")
        ways = {"without": partial(_ask, systems, text, is_on=False), "page indexes": partial(_ask, systems, text, is_on=True)}
        take_turns(journal.page({"rows within files": layout}), plan, Work(ways))
        systems.incremental.execute(f"DROP TABLE {table}").close()


def _make(systems: Systems, table: str, *, is_sorted: bool) -> None:
    systems.incremental.execute(f"DROP TABLE IF EXISTS {table}").close()
    rows = f"SELECT /*+ REPARTITION_BY_RANGE({FILES}, a) */ * FROM {systems.table.name}"
    systems.incremental.execute(f"CREATE TABLE {table} USING DELTA AS {rows}").close()
    if is_sorted:
        systems.incremental.execute(f"CLUSTER SKETCH TABLE {table} BY a FILES {FILES}").close()


def _ask(systems: Systems, text: str, *, is_on: bool) -> Turn:
    systems.plain.execute(f"SET {PAGES} = {str(is_on).lower()}").close()
    return turn_of(systems.ask("NS", text))
