"""Selection before maintenance: changes of 2.5 % of the table by the selectivity of WHERE, Q_selpd (IMP report 8.4.1, figure 13 c)."""

from __future__ import annotations

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.upkeep import restore, version_of
from benchmarks.workloads.breakeven import large_change
from imp_driver.cli.synthetic import GROUPS

SHARE = 0.025
SELECTIVITIES = (0.02, 0.1, 0.25, 0.5, 0.75, 1.0)


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per selectivity. HAVING keeps half of the groups at the lowest.

    Column b is about the group, so a bound of b selects that share of groups and rows.
    """
    table = systems.table
    base = version_of(systems, table.name)
    for selectivity in SELECTIVITIES:
        # Beyond the largest value by its noise, so that 100 % are all rows.
        bound = round(selectivity * GROUPS) + (100 if selectivity == 1.0 else 0)
        text = f"SELECT a, avg(b) AS ab FROM {table.name} WHERE b < {bound} GROUP BY a HAVING avg(c) < 100"
        delta = int(SHARE * table.rows)
        large_change(journal.page({"selectivity": f"{selectivity:.0%}", "delta": delta}), plan, systems, text, base, delta)
    restore(systems, table.name, base)
