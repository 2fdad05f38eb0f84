"""What skipping within files is worth: few large files, sorted within or not, with Parquet's page indexes used or not.

The filter leaves one file of four and 1 % of the rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.harness import Answer, Systems, checked, interleaved
from benchmarks.workloads.mixes import query
from imp_driver.cli.synthetic import GROUPS

FILES = 4
PAGES = "parquet.filter.columnindex.enabled"


def run(systems: Systems, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per layout; the runs with and without page indexes take turns."""
    records = []
    for layout in ("sorted", "unsorted"):
        table = f"tpages_{layout}"
        _make(systems, table, is_sorted=layout == "sorted")
        low = GROUPS // 2 + 100
        text = query(table, 10, low).replace(" GROUP BY", f" WHERE a >= {low - 1} AND a <= {low + 51} GROUP BY")
        runs = {"page indexes ms": partial(_ask, systems, text, is_on=True), "without ms": partial(_ask, systems, text, is_on=False)}
        checked([ask() for ask in runs.values()])
        medians = interleaved(dict(runs), repetitions)
        record: dict[str, Any] = {"rows within files": layout} | {name: round(value, 1) for name, value in medians.items()}
        record["without/with"] = round(medians["without ms"] / medians["page indexes ms"], 2)
        print(record, flush=True)
        records.append(record)
        systems.incremental.execute(f"DROP TABLE {table}").close()
    return records


def _make(systems: Systems, table: str, *, is_sorted: bool) -> None:
    systems.incremental.execute(f"DROP TABLE IF EXISTS {table}").close()
    rows = f"SELECT /*+ REPARTITION_BY_RANGE({FILES}, a) */ * FROM {systems.table.name}"
    systems.incremental.execute(f"CREATE TABLE {table} USING DELTA AS {rows}").close()
    if is_sorted:
        systems.incremental.execute(f"CLUSTER SKETCH TABLE {table} BY a FILES {FILES}").close()


def _ask(systems: Systems, text: str, *, is_on: bool) -> Answer:
    systems.plain.execute(f"SET {PAGES} = {str(is_on).lower()}").close()
    return systems.ask("NS", text)
