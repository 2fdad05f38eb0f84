"""A sketch-filtered query of 10 aggregates at 1 % of the domain, against plain and against the ideal hand-written predicate."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Systems, checked, interleaved
from benchmarks.workloads.mixes import query
from imp_driver.cli.synthetic import GROUPS


def run(systems: Systems, repetitions: int) -> list[dict[str, Any]]:
    """Return the medians of the three, which take turns."""
    low = GROUPS // 2
    text = query(systems.table.name, 10, low)
    ideal = text.replace(" GROUP BY", f" WHERE a >= {low - 1} AND a <= {low + 51} GROUP BY")
    checked([systems.ask("IMP", text), systems.ask("NS", ideal), systems.ask("NS", text)])
    medians = interleaved(
        {
            "IMP": lambda: systems.ask("IMP", text),
            "ideal": lambda: systems.ask("NS", ideal),
            "NS": lambda: systems.ask("NS", text),
        },
        repetitions,
    )
    record = {f"{name} ms": round(value, 1) for name, value in medians.items()}
    record["NS/IMP"] = round(medians["NS"] / medians["IMP"], 2)
    record["IMP/ideal"] = round(medians["IMP"] / medians["ideal"], 3)
    print(record, flush=True)
    return [record]
