"""Bytes of sketches, ranges and operator state (IMP report 8.6, figure 18).

A sketch is measured as it is serialised, a state by what Python's allocators hand out for it, beside its own estimate. The raw numbers
of a group are its key and, per average, a count and a sum.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from benchmarks.journal import Journal, Page
from benchmarks.records import Quantity, Stage
from benchmarks.report import line
from benchmarks.states import AVERAGE_BIGINT, AVERAGE_DOUBLE, KEY, SUM_BIGINT, make, random_rows
from imp_driver.values.aggregates import AggregateSpecification
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition

RANGES = (10, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 100_000)
GROUPS = (50, 1_000, 5_000, 50_000, 500_000)
KINDS = {"avg(DOUBLE)": AVERAGE_DOUBLE, "avg(BIGINT)": AVERAGE_BIGINT, "sum(BIGINT)": SUM_BIGINT}
KEY_BYTES = 4
NUMBERS_BYTES = 16
CHANGED = 1_000


def run(journal: Journal, most_groups: int) -> None:
    """Measure one case per number of ranges, and one per aggregates and groups up to ``most_groups``. Bytes do not vary: one repetition."""
    for ranges in RANGES:
        _sketches(journal.page({"ranges": ranges}), ranges)
    for name, kind in KINDS.items():
        for number in (1, 3, 10):
            for groups in GROUPS:
                if groups <= most_groups:
                    page = journal.page({"aggregate": name, "aggregates": number, "groups": groups})
                    _state(page, (kind,) * number, groups)


def _sketches(page: Page, ranges: int) -> None:
    chance = np.random.default_rng(ranges)
    half = np.sort(chance.choice(ranges, ranges // 2, replace=False)).tolist()
    total = ranges + 1
    first = ranges // 3
    partition = RangePartition(pa.int32(), tuple(range(1, ranges)))
    _write(
        page,
        {
            "random half": FragmentSet.of(half, total).memory,
            "every second": FragmentSet.of(range(0, ranges, 2), total).memory,
            "one run": FragmentSet.of(range(first, first + max(1, ranges // 10)), total).memory,
            "all": FragmentSet.all(total).memory,
            "bit vector": -(-total // 8),
            "bounds": sys.getsizeof(partition.bounds) + sum(sys.getsizeof(bound) for bound in partition.bounds),
            "codes of bounds": 8 * len(partition.bounds),
        },
    )


def _state(page: Page, specifications: tuple[AggregateSpecification, ...], groups: int) -> None:
    """Measure the state after some changes, since the first one may let its arrays grow."""
    chance = np.random.default_rng(groups)
    delta = random_rows(chance, specifications, groups, CHANGED).signed()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    state = make(chance, specifications, groups)
    state.apply(delta)
    allocated = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    raw = (KEY_BYTES + NUMBERS_BYTES * len(specifications)) * groups
    bounds = state.cuts[KEY].partition.bounds
    partition = sys.getsizeof(bounds) + (8 + 28) * len(bounds)
    _write(page, {"raw numbers": raw, "state": allocated, "state, its own estimate": state.memory, "ranges of the state": partition})


def _write(page: Page, sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        page.add(name, Stage.MEASURED, 0, {Quantity.SIZE: size})
    print(line(page.case), flush=True)
