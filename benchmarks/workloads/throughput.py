"""Signed rows that the grouped aggregation takes in per second once they are fetched (the operator of IMP report 5.2.5, cost of 8.3.2).

Half of each batch is inserted, the other half deletes what the batch before inserted, so the state keeps its size.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from benchmarks.states import (
    AVERAGE_BIGINT,
    AVERAGE_DOUBLE,
    COUNT_DISTINCT,
    COUNT_ROWS,
    MAXIMUM_DOUBLE,
    MINIMUM_DOUBLE,
    SUM_BIGINT,
    SUM_DOUBLE,
    make,
    random_rows,
)
from imp_driver.dataflow.contract import AggregateSpecification

GROUPS = 5_000
BATCHES = (1_000, 10_000, 100_000, 1_000_000)
ROWS_PER_GROUP = 100
AGGREGATES = {
    "count(*)": (COUNT_ROWS,),
    "avg(DOUBLE)": (AVERAGE_DOUBLE,),
    "sum(DOUBLE)": (SUM_DOUBLE,),
    "avg(BIGINT)": (AVERAGE_BIGINT,),
    "sum(BIGINT)": (SUM_BIGINT,),
    "3 avg(DOUBLE)": (AVERAGE_DOUBLE,) * 3,
    "10 avg(DOUBLE)": (AVERAGE_DOUBLE,) * 10,
    "count(DISTINCT BIGINT)": (COUNT_DISTINCT,),
    "min(DOUBLE)": (MINIMUM_DOUBLE,),
    "max(DOUBLE)": (MAXIMUM_DOUBLE,),
}


def run(repetitions: int, largest: int) -> list[dict[str, Any]]:
    """Return one record per aggregate and batch size up to ``largest``; rates are those of the median batch."""
    records = []
    for name, specifications in AGGREGATES.items():
        for batch in BATCHES:
            if batch <= largest:
                records.append({"aggregate": name, "groups": GROUPS, "batch": batch} | _rate(specifications, batch, repetitions))
                print(records[-1], flush=True)
    return records


def _rate(specifications: tuple[AggregateSpecification, ...], batch: int, repetitions: int) -> dict[str, float]:
    chance = np.random.default_rng(1)
    state = make(chance, specifications, GROUPS)
    state.apply(random_rows(chance, specifications, GROUPS, GROUPS * ROWS_PER_GROUP).signed())
    before = random_rows(chance, specifications, GROUPS, batch // 2)
    state.apply(before.signed())
    spent = []
    for _ in range(repetitions):
        inserted = random_rows(chance, specifications, GROUPS, batch // 2)
        delta = inserted.signed(before)
        begin = time.perf_counter()
        state.apply(delta)
        spent.append(time.perf_counter() - begin)
        before = inserted
    median = statistics.median(spent)
    return {"ms": round(median * 1000, 2), "million rows/s": round(batch / median / 1e6, 2)}
