"""A state beyond the memory budget: capture and steps in buckets, beside those in memory and the plain query, taking turns.

Source: design of incremental views, section 5, tier 2. ``few`` changes fall into one range of the key, ``spread`` ones into all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count

import imp_driver
from benchmarks.harness import Systems, ask
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns, turn_of

NAME = "tbuckets"
GROUPS = 500_000
CHANGES = {"few": "{start} + id DIV 10", "spread": "(id * 7919) % 500000"}
DELTA = 1_000
PLACES = {"memory": 1 << 30, "buckets": 1 << 20}
"""Bytes of the budget by where the state lies with it."""


@dataclass(slots=True)
class Changes:
    """Inserts rows of one kind, into other groups each time."""

    systems: Systems
    key: str
    number: Iterator[int]

    def insert(self) -> None:
        rows = f"SELECT CAST({self.key.format(start=next(self.number) * 1000)} AS INT), 1 FROM range({DELTA})"
        self.systems.incremental.execute(f"INSERT INTO {NAME} {rows}").close()


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str, rows: int) -> None:
    """Measure one case per kind of change."""
    systems.incremental.execute(f"DROP TABLE IF EXISTS {NAME}").close()
    values = f"SELECT CAST(id % {GROUPS} AS INT) AS a, IF(id % {GROUPS} < {GROUPS // 10}, 100, 1) AS b FROM range({rows})"
    systems.incremental.execute(f"CREATE TABLE {NAME} AS SELECT /*+ REPARTITION_BY_RANGE(64, a) */ * FROM ({values})").close()
    text = f"SELECT a, sum(b) AS s FROM {NAME} GROUP BY a HAVING sum(b) > {50 * rows // GROUPS}"
    for kind, key in CHANGES.items():
        with _connections(warehouse) as connections:
            ways = {place: partial(_ask, connection, text) for place, connection in connections.items()}
            take_turns(journal.page({"change": kind}), plan, Work(ways, Changes(systems, key, count()).insert))
    systems.incremental.execute(f"DROP TABLE {NAME}").close()


@contextmanager
def _connections(warehouse: str) -> Iterator[dict[str, imp_driver.Connection]]:
    """Open new connections with empty stores, so that each kind of change begins with a capture."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        plain = stack.enter_context(imp_driver.connect(warehouse=warehouse, sketch="off"))
        yield {"plain": plain} | {
            place: stack.enter_context(
                imp_driver.connect(warehouse=warehouse, memory=budget, store=f"{folder}/{place}", policy="incremental", answers="off")
            )
            for place, budget in PLACES.items()
        }


def _ask(connection: imp_driver.Connection, text: str) -> Turn:
    return turn_of(ask(connection, text))
