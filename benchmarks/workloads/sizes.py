"""Bytes of sketches, ranges and operator state (IMP report 8.6, figure 18).

A sketch is measured as it is serialised, a state by what Python's allocators hand out for it, beside its own estimate. The raw numbers
of a group are its key and, per average, a count and a sum.
"""

from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.states import AVERAGE_BIGINT, AVERAGE_DOUBLE, SUM_BIGINT, make, random_rows
from imp_driver.dataflow.contract import AggregateSpecification
from imp_driver.sketch.fragments import FragmentSet
from imp_driver.sketch.ranges import RangePartition

RANGES = (10, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 100_000)
GROUPS = (50, 1_000, 5_000, 50_000, 500_000)
KINDS = {"avg(DOUBLE)": AVERAGE_DOUBLE, "avg(BIGINT)": AVERAGE_BIGINT, "sum(BIGINT)": SUM_BIGINT}
KEY_BYTES = 4
NUMBERS_BYTES = 16
CHANGED = 1_000


def run(most_groups: int) -> dict[str, list[dict[str, Any]]]:
    """Return the tables ``sketches`` and ``states``, the latter up to ``most_groups`` groups."""
    sketches = [_sketches(ranges) for ranges in RANGES]
    states = []
    for name, kind in KINDS.items():
        for number in (1, 3, 10):
            for groups in GROUPS:
                if groups <= most_groups:
                    states.append({"aggregate": name, "aggregates": number, "groups": groups} | _state((kind,) * number, groups))
                    print(states[-1], flush=True)
    return {"sketches": sketches, "states": states}


def _sketches(ranges: int) -> dict[str, Any]:
    chance = np.random.default_rng(ranges)
    half = np.sort(chance.choice(ranges, ranges // 2, replace=False)).tolist()
    total = ranges + 1
    first = ranges // 3
    partition = RangePartition(pa.int32(), tuple(range(1, ranges)))
    bounds = sys.getsizeof(partition.bounds) + sum(sys.getsizeof(bound) for bound in partition.bounds)
    record = {
        "ranges": ranges,
        "random half bytes": FragmentSet.of(half, total).memory,
        "every second bytes": FragmentSet.of(range(0, ranges, 2), total).memory,
        "one run bytes": FragmentSet.of(range(first, first + max(1, ranges // 10)), total).memory,
        "all bytes": FragmentSet.all(total).memory,
        "bit vector bytes": -(-total // 8),
        "bounds bytes": bounds,
        "codes of bounds bytes": 8 * len(partition.bounds),
    }
    print(record, flush=True)
    return record


def _state(specifications: tuple[AggregateSpecification, ...], groups: int) -> dict[str, float]:
    """Measure the state after some changes, since the first one may let its arrays grow."""
    chance = np.random.default_rng(groups)
    delta = random_rows(chance, specifications, groups, CHANGED).signed()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    state = make(chance, specifications, groups)
    state.apply(delta)
    allocated = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    raw = KEY_BYTES + NUMBERS_BYTES * len(specifications)
    partition = sys.getsizeof(state.partition.bounds) + (8 + 28) * len(state.partition.bounds)
    return {
        "raw bytes/group": raw,
        "own estimate bytes/group": round(state.memory / groups, 1),
        "allocated bytes/group": round(allocated / groups, 1),
        "of it ranges bytes/group": round(partition / groups, 1),
        "estimate/raw": round(state.memory / groups / raw, 2),
        "allocated/raw": round(allocated / groups / raw, 2),
    }
