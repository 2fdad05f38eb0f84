"""Total cost of maintenance for single-row updates that the eager worker takes in batches of several sizes (IMP report 8.5, figure 16).

All systems see the same updates, made before they take turns. ``eager`` has done its steps by then, which is its ``background ms``;
``lazy`` does one step, when the query asks for it. A warehouse has one batch size at a time, so each is a case of its own.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace

import imp_driver
from benchmarks.harness import Systems, ask, named_rows
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns, turn_of
from benchmarks.records import Quantity
from benchmarks.upkeep import Asked, restore, version_of
from benchmarks.workloads.mixes import query
from imp_driver.cli.synthetic import insert_rows

UPDATES = 100
BATCHES = (1, 5, 10, 50, 100)
QUICK_UPDATES = 20
_PATIENCE = 60.0
"""Seconds that a step may take."""


@dataclass(frozen=True, slots=True)
class Background:
    """Steps of the worker since its connection was opened."""

    steps: int = 0
    milliseconds: float = 0.0


@dataclass(slots=True)
class Eager:
    """A connection whose states are maintained in the background; it makes the updates, since those of others are seen later."""

    systems: Systems
    connection: imp_driver.Connection
    text: str
    updates: int
    batch: int
    told: Background = Background()

    def update(self) -> None:
        """Insert rows in commits of their own, and wait for the worker at each full batch, so that steps are of that size.

        Raises:
            TimeoutError: the worker makes no step.
        """
        before = self._background().steps
        for number in range(1, self.updates + 1):
            insert_rows(self.connection, self.systems.table.name, self.systems.next_id, 1, self.systems.seed)
            self.systems.next_id += 1
            self.systems.seed += 20
            if number % self.batch == 0:
                self._wait_for(before + number // self.batch)

    def ask(self) -> Turn:
        """Ask once; what the worker has spent since the last time goes with it."""
        turn = turn_of(ask(self.connection, self.text))
        now, before = self._background(), self.told
        self.told = now
        if now.steps == before.steps:
            return turn
        return replace(turn, spent={**turn.spent, Quantity.BACKGROUND: now.milliseconds - before.milliseconds})

    def _wait_for(self, steps: int) -> None:
        deadline = time.monotonic() + _PATIENCE
        while self._background().steps < steps:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the eager worker has made {self._background().steps} steps instead of {steps}")
            time.sleep(0.002)

    def _background(self) -> Background:
        rows = named_rows(self.connection, "SHOW SKETCHES")
        return Background(sum(row["eager_steps"] for row in rows), sum(row["eager_ms"] for row in rows))


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str, *, is_quick: bool) -> None:
    """Measure one case per batch size, each with a store of its own, which begins with a capture, and with the table as it was."""
    text = query(systems.table.name, 1, 2_000)
    updates = QUICK_UPDATES if is_quick else UPDATES
    version = version_of(systems, systems.table.name)
    for batch in (batch for batch in BATCHES if batch <= updates):
        systems.drop_sketches()
        with (
            tempfile.TemporaryDirectory() as store,
            imp_driver.connect(
                warehouse=warehouse, sketch="eager", answers="off", policy="incremental", eager_batch=batch, store=store
            ) as connection,
        ):
            eager = Eager(systems, connection, text, updates, batch)
            ways: dict[str, Way] = {"NS": Asked(systems, "NS", text), "eager": eager.ask, "lazy": Asked(systems, "IMP", text)}
            take_turns(journal.page({"batch": batch, "updates": updates}), plan, Work(ways, eager.update))
        restore(systems, systems.table.name, version)
