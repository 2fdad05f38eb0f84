"""Queries on a table like Chicago's crime incidents, inserts and deletes (IMP report 8.2.2, figure 10; Appendix A.2).

The report's first query keeps every group, so a sketch has nothing to drop: it is also asked with HAVING. The second keeps almost every
beat when the table has millions of rows: it is also asked with a bound that grows with the table.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.crimes_table import NAME, Crimes
from benchmarks.harness import Systems
from benchmarks.upkeep import drop, end_to_end, maintain, recapture

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


def run(systems: Systems, rows: int, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per query, kind of change and number of changed rows."""
    table = Crimes(systems, rows)
    table.create()
    records = []
    for name, text in queries(rows).items():
        capture = recapture(systems, text)
        for kind, change in (("insert", table.insert), ("delete", table.delete)):
            for delta in DELTAS:
                measured = maintain(systems, text, partial(change, delta), repetitions)
                record = {"query": name, "change": kind, "delta": delta} | measured.columns(capture) | end_to_end(systems, text, 3)
                last = measured.last
                records.append(
                    record | {"last": f"{last.decision.name}, {last.reason.name}", "files": f"{last.files_kept}/{last.files_total}"}
                )
                print(records[-1], flush=True)
                if not measured.spent:
                    break
    drop(systems, NAME)
    return records
