"""Signed rows that the grouped aggregation takes in per second once they are fetched (the operator of IMP report 5.2.5, cost of 8.3.2).

Half of each batch is inserted, the other half deletes what the batch before inserted, so the state keeps its size.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns
from benchmarks.records import Quantity
from benchmarks.states import (
    AVERAGE_BIGINT,
    AVERAGE_DOUBLE,
    COUNT_DISTINCT,
    COUNT_ROWS,
    MAXIMUM_DOUBLE,
    MINIMUM_DOUBLE,
    SUM_BIGINT,
    SUM_DOUBLE,
    Rows,
    make,
    random_rows,
)
from imp_driver.values.aggregates import AggregateSpecification

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


def run(journal: Journal, plan: Plan, largest: int) -> None:
    """Measure one case per aggregate and batch size up to ``largest``. There is one system, so no answers are compared."""
    for name, specifications in AGGREGATES.items():
        for batch in BATCHES:
            if batch <= largest:
                page = journal.page({"aggregate": name, "groups": GROUPS, "batch": batch})
                take_turns(page, plan, Work({"IMP": Batches(specifications, batch)}))


class Batches:
    """Changes one state: half of each batch are new rows, the other half take away those of the batch before."""

    def __init__(self, specifications: tuple[AggregateSpecification, ...], batch: int) -> None:
        self._chance = np.random.default_rng(1)
        self._specifications, self._batch = specifications, batch
        self._state = make(self._chance, specifications, GROUPS)
        self._state.apply(random_rows(self._chance, specifications, GROUPS, GROUPS * ROWS_PER_GROUP).signed())
        self._before = self._drawn()
        self._state.apply(self._before.signed())

    def __call__(self) -> Turn:
        inserted = self._drawn()
        delta = inserted.signed(self._before)
        begin = time.perf_counter()
        self._state.apply(delta)
        seconds = time.perf_counter() - begin
        self._before = inserted
        return Turn(None, {Quantity.RATE: self._batch / seconds})

    def _drawn(self) -> Rows:
        return random_rows(self._chance, self._specifications, GROUPS, self._batch // 2)
