"""A nested aggregate whose groups are beyond the memory budget, beside the same in memory: VWAP of a book with as many prices as orders.

Plain Spark would join each order with all cheaper ones. A commit brings a hundred orders, ``near`` one price or ``spread`` over all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count

import imp_driver
from benchmarks.answering import answered
from benchmarks.harness import Systems, ask
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns

NAME = "tnested_buckets"
ORDERS = 1_000_000
CHANGES = {"near": "500000000 + {number} * 1000 + id", "spread": "pmod(hash(id, {number}), 1000000000)"}
CHANGED = 100
PLACES = {"memory": 1 << 30, "buckets": 32 << 20}
"""Bytes of the budget by where the state lies with it."""
_TEXT = (
    f"SELECT sum(b.price * b.volume) AS v FROM {NAME} b WHERE 0.75 * (SELECT sum(volume) FROM {NAME}) < "
    f"(SELECT sum(c.volume) FROM {NAME} c WHERE c.price <= b.price)"
)


@dataclass(slots=True)
class _Changes:
    systems: Systems
    key: str
    number: Iterator[int]

    def insert(self) -> None:
        price = self.key.format(number=next(self.number))
        self.systems.incremental.execute(f"INSERT INTO {NAME} SELECT CAST({price} AS BIGINT), 1 + id % 100 FROM range({CHANGED})").close()


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str) -> None:
    """Measure one case per kind of change."""
    values = f"SELECT CAST(pmod(hash(id), 1000000000) AS BIGINT) AS price, 1 + pmod(hash(id, 1), 100) AS volume FROM range({ORDERS})"
    systems.incremental.execute(f"CREATE OR REPLACE TABLE {NAME} AS {values}").close()
    for kind, key in CHANGES.items():
        with _connections(warehouse) as connections:
            ways = {place: partial(_ask, connection) for place, connection in connections.items()}
            page = journal.page({"change": kind, "orders": ORDERS, "delta": CHANGED})
            take_turns(page, plan, Work(ways, _Changes(systems, key, count()).insert))
    systems.incremental.execute(f"DROP TABLE {NAME}").close()


@contextmanager
def _connections(warehouse: str) -> Iterator[dict[str, imp_driver.Connection]]:
    """Open new connections with empty stores, so that each kind of change begins with a capture."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        yield {
            place: stack.enter_context(
                imp_driver.connect(warehouse=warehouse, memory=budget, store=f"{folder}/{place}", policy="incremental")
            )
            for place, budget in PLACES.items()
        }


def _ask(connection: imp_driver.Connection) -> Turn:
    return answered(ask(connection, _TEXT))
