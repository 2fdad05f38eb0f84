"""What a filter of 1 to 80 ranges costs and saves, spread over the domain so that with many no file is skipped (sketch-safety rules 3.3).

The numbers behind the factors of imp_driver/rewrite/gain.py. The two queries have different answers; what they must be is computed here
from the groups of the whole table.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import partial

import pyarrow as pa

from benchmarks.harness import Rows, Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns, turn_of
from imp_driver.cli.synthetic import GROUPS
from imp_driver.rewrite.ranges import range_condition
from imp_driver.values.ranges import RangePartition

RUNS = (1, 5, 10, 20, 40, 80)
SHARES = (0.02, 0.4)
PARTITION = RangePartition(pa.int32(), tuple(range(2, GROUPS + 1)))


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per number of ranges and share of the groups that they hold, spread evenly over the domain."""
    groups = f"SELECT a, avg(b) AS ab FROM {systems.table.name} GROUP BY a"
    plain = f"SELECT count(*), sum(ab) FROM ({groups})"
    averages = systems.ask("NS", groups).rows
    for runs in RUNS:
        for share in SHARES:
            held = spread(runs, share)
            condition = range_condition("a", "integer", PARTITION, held, False)
            texts = {"no filter": plain, "filter": plain.replace(" GROUP BY", f" WHERE {condition} GROUP BY")}
            ways = {name: partial(_ask, systems, text) for name, text in texts.items()}
            expected = {"no filter": total(averages, ((0, GROUPS),)), "filter": total(averages, held)}
            take_turns(journal.page({"ranges": runs, "share of groups": share}), plan, Work(ways, expected=expected))


def spread(runs: int, share: float) -> tuple[tuple[int, int], ...]:
    """Return the first and the last range of each run."""
    step, width = GROUPS // runs, max(1, round(GROUPS * share / runs))
    return tuple((number * step, number * step + width - 1) for number in range(runs))


def total(averages: Rows, held: tuple[tuple[int, int], ...]) -> Rows:
    """Return the number of groups in some runs of ranges, and the sum of their averages."""
    kept = [average for group, average in averages if any(first <= bisect_right(PARTITION.bounds, group) <= last for first, last in held)]
    return [(len(kept), math.fsum(kept))]


def _ask(systems: Systems, text: str) -> Turn:
    return turn_of(systems.ask("NS", text))
