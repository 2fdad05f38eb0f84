"""Queries per second of one and of eight threads on a cached template, with sketches and on plain Spark; the four take turns."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import imp_driver
from benchmarks.harness import Rows, Systems
from benchmarks.journal import Journal, Page
from benchmarks.protocol import Plan, Turn, Work, take_turns
from benchmarks.records import Quantity
from benchmarks.workloads.mixes import query
from imp_driver.cli.synthetic import GROUPS

SECONDS = 4.0
THREADS = (1, 8)
MODES = {"NS": "off", "IMP": "lazy"}


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str) -> None:
    """Measure the rates of all threads together, each with a connection of its own; the last answers of all threads are compared."""
    text = query(systems.table.name, 3, GROUPS // 2)
    systems.ask("IMP", text)
    page = journal.page({"aggregates": 3})
    ways = {
        f"{system}, {count} thread{'' if count == 1 else 's'}": partial(_rate, page, warehouse, mode, count, text)
        for system, mode in MODES.items()
        for count in THREADS
    }
    take_turns(page, plan, Work(ways))


def _rate(page: Page, warehouse: str, mode: str, count: int, text: str) -> Turn:
    """Return the queries per second of ``count`` threads together."""
    begin = threading.Barrier(count)
    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(lambda _: _ask(begin, warehouse, mode, text), range(count)))
    page.compare({f"{mode}, thread {number}": rows for number, (_, rows) in enumerate(found)})
    return Turn(found[0][1], {Quantity.RATE: sum(done for done, _ in found) / SECONDS})


def _ask(begin: threading.Barrier, warehouse: str, mode: str, text: str) -> tuple[int, Rows]:
    """Return how many queries one thread had answers of, and the last answer."""
    try:
        with imp_driver.connect(warehouse=warehouse, sketch=mode, answers="off") as connection:
            cursor = connection.cursor()
            rows = cursor.execute(text).fetchall()
            begin.wait()
            end, done = time.monotonic() + SECONDS, 0
            while time.monotonic() < end:
                rows = cursor.execute(text).fetchall()
                done += 1
            return done, rows
    except BaseException:
        # The others would wait for this thread for ever.
        begin.abort()
        raise
