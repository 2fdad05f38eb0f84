"""Conditions with aggregates of other rows, after each event of a stream (section 5 of the RPAI paper, figures 7 and 8).

The driver's operators in the way that they choose, in the paper's ways (RPAI tree and PAI map for VWAP, the general algorithm), and a
program that computes the query from nothing. All are in this process and in Python, and keep their state from one measurement to the
next. Beyond the paper: more rows, batches, and what answers an event is always read.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

from benchmarks.journal import Journal
from benchmarks.nested.queries import QUERIES
from benchmarks.nested.streams import Event, stream
from benchmarks.nested.systems import System, systems
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns
from benchmarks.records import Quantity

SIZES = (1_000, 10_000, 100_000)
EVENTS = 300
"""Of a turn where each is followed by itself."""
BATCHES = (1, 100, 1_000)
BATCHED = ("VWAP", "MST")


def run(journal: Journal, plan: Plan, *, is_quick: bool) -> None:
    """Measure one case per query, number of rows and size of batches; ``is_quick`` leaves out the largest number of rows."""
    plan = replace(plan, settling=0, warm_up=min(plan.warm_up, 1))
    for query in QUERIES:
        for rows in SIZES[:-1] if is_quick else SIZES:
            measure(journal, plan, query, rows)


def measure(journal: Journal, plan: Plan, query: str, rows: int) -> None:
    """Measure one query with a number of rows, in all sizes of batches that are measured."""
    source = stream(query)
    loading = list(source.loading(rows))
    made = {name: make() for name, make in systems(query, rows).items()}
    for system in made.values():
        system.load(loading)
    events = source.events()
    for batch in BATCHES if query in BATCHED else BATCHES[:1]:
        page = journal.page({"query": query, "rows": rows, "batch": batch})
        drawn: list[Event] = []

        def draw(batch: int = batch, drawn: list[Event] = drawn) -> None:
            drawn[:] = islice(events, max(EVENTS, batch))

        ways: Mapping[str, Way] = {name: partial(_turn, system, drawn, batch) for name, system in made.items()}
        # The cold start too has events of its own.
        draw()
        take_turns(page, plan, Work(ways, change=lambda: None, before=draw))


def _turn(system: System, events: list[Event], batch: int) -> Turn:
    was_enabled = gc.isenabled()
    # All systems share the heap of this process: Python's collector would make one pay for the state of another.
    gc.disable()
    try:
        microseconds = system.follow(events, batch)
    finally:
        if was_enabled:
            gc.enable()
    return Turn(system.rows(), {Quantity.EVENT: microseconds, Quantity.SIZE: system.memory})
