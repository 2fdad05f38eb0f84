"""Selection before maintenance: changes of 2.5 % of the table by the selectivity of WHERE, Q_selpd (IMP report 8.4.1, figure 13 c)."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Systems
from benchmarks.upkeep import recapture, restore, version_of
from benchmarks.workloads.breakeven import large_change
from imp_driver.cli.synthetic import GROUPS

SHARE = 0.025
SELECTIVITIES = (0.02, 0.1, 0.25, 0.5, 0.75, 1.0)


def run(systems: Systems, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per selectivity. HAVING keeps half of the groups at the lowest.

    Column b is about the group, so a bound of b selects that share of groups and rows.
    """
    table = systems.table
    base = version_of(systems, table.name)
    records = []
    for selectivity in SELECTIVITIES:
        # Beyond the largest value by its noise, so that 100 % are all rows.
        bound = round(selectivity * GROUPS) + (100 if selectivity == 1.0 else 0)
        text = f"SELECT a, avg(b) AS ab FROM {table.name} WHERE b < {bound} GROUP BY a HAVING avg(c) < 100"
        restore(systems, table.name, base)
        recapture(systems, text, 1)
        record = large_change(systems, text, base, int(SHARE * table.rows), repetitions)
        records.append({"selectivity": f"{selectivity:.0%}"} | record)
        print(records[-1], flush=True)
    restore(systems, table.name, base)
    return records
