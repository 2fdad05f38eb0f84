"""Queries on a table like Chicago's crime incidents, inserts and deletes (IMP report 8.2.2, figure 10; Appendix A.2).

The report's first query keeps every group, so a sketch has nothing to drop: it is also asked with HAVING. The second keeps almost every
beat when the table has millions of rows: it is also asked with a bound that grows with the table.
"""

from __future__ import annotations

from functools import partial

from benchmarks.crimes_table import NAME, Crimes
from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.records import Quantity
from benchmarks.upkeep import drop, upkeep

SHARE = 0.73
"""Rows of the report's table for each of the synthetic one's 10 million."""
DELTAS = (10, 100, 1000)


def queries(rows: int) -> dict[str, str]:
    """Return the queries for a table of a size."""
    areas = "district, community_area, ward, beat"
    first = f"SELECT beat, year, count(id) AS crime_count FROM {NAME} GROUP BY beat, year"
    second = f"SELECT {areas}, count(beat) AS crime_count FROM {NAME} GROUP BY {areas} HAVING count(id) >"
    return {
        "CQ1": first,
        "CQ1 with HAVING": f"{first} HAVING count(id) > {rows // 1_000}",
        "CQ2": f"{second} 1000",
        "CQ2 with a higher bound": f"{second} {rows // 100}",
    }


def run(journal: Journal, plan: Plan, systems: Systems, rows: int) -> None:
    """Measure one case per query, kind of change and number of changed rows; one per kind where the driver does not maintain."""
    table = Crimes(systems, rows)
    table.create()
    for name, text in queries(rows).items():
        for kind, change in (("insert", table.insert), ("delete", table.delete)):
            for delta in DELTAS:
                page = journal.page({"query": name, "change": kind, "delta": delta})
                upkeep(page, plan, systems, text, partial(change, delta))
                if not page.case.values("IMP", Quantity.MAINTENANCE):
                    break
    drop(systems, NAME)
