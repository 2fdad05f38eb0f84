"""What a filter of 1 to 80 ranges costs and saves, spread over the domain so that with many no file is skipped (sketch-safety rules 3.3).

The numbers behind the factors of imp_driver/rewrite/gain.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from benchmarks.harness import Systems, interleaved
from imp_driver.cli.synthetic import GROUPS
from imp_driver.rewrite.ranges import range_condition
from imp_driver.sketch.ranges import RangePartition

RUNS = (1, 5, 10, 20, 40, 80)
SHARES = (0.02, 0.4)
PARTITION = RangePartition(pa.int32(), tuple(range(2, GROUPS + 1)))


def run(systems: Systems, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per number of ranges and share of the groups that they hold, spread evenly over the domain."""
    table = systems.table.name
    plain = f"SELECT count(*), sum(ab) FROM (SELECT a, avg(b) AS ab FROM {table} GROUP BY a)"
    records = []
    for runs in RUNS:
        for share in SHARES:
            held = _spread(runs, share)
            condition = range_condition("a", "integer", PARTITION, held, False)
            texts = {"no filter": plain, "filter": plain.replace(" GROUP BY", f" WHERE {condition} GROUP BY")}
            medians = interleaved({name: _asking(systems, text) for name, text in texts.items()}, repetitions)
            record = {"ranges": runs, "share of groups": share} | {f"{name} ms": round(value) for name, value in medians.items()}
            records.append(record | {"no filter/filter": round(medians["no filter"] / medians["filter"], 2)})
            print(records[-1], flush=True)
    return records


def _spread(runs: int, share: float) -> tuple[tuple[int, int], ...]:
    step, width = GROUPS // runs, max(1, round(GROUPS * share / runs))
    return tuple((number * step, number * step + width - 1) for number in range(runs))


def _asking(systems: Systems, text: str) -> Callable[[], object]:
    return lambda: systems.ask("NS", text)
