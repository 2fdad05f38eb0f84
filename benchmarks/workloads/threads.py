"""Queries per second of one and of eight threads on a cached template, with sketches and on plain Spark; the four take turns."""

from __future__ import annotations

import statistics
import threading
import time
from typing import Any

import imp_driver
from benchmarks.harness import Systems
from benchmarks.workloads.mixes import query
from imp_driver.cli.synthetic import GROUPS

SECONDS = 4.0
THREADS = (1, 8)


def run(systems: Systems, warehouse: str, repetitions: int) -> list[dict[str, Any]]:
    """Return the medians and what eight threads reach of one, each thread with a connection of its own."""
    text = query(systems.table.name, 3, GROUPS // 2)
    systems.ask("IMP", text)
    found: dict[tuple[str, int], list[float]] = {(mode, count): [] for mode in ("lazy", "off") for count in THREADS}
    for _ in range(repetitions):
        for (mode, count), rates in found.items():
            rates.append(_rate(warehouse, mode, count, text))
    medians = {key: statistics.median(rates) for key, rates in found.items()}
    records = [
        {
            "sketch": mode,
            "1 thread queries/s": round(medians[mode, 1], 2),
            "8 threads queries/s": round(medians[mode, 8], 2),
            "8 threads / 1": round(medians[mode, 8] / medians[mode, 1], 2),
        }
        for mode in ("lazy", "off")
    ]
    for record in records:
        print(record, flush=True)
    return records


def _rate(warehouse: str, mode: str, count: int, text: str) -> float:
    """Return the queries per second of ``count`` threads together."""
    done = [0] * count
    begin = threading.Barrier(count)

    def ask(number: int) -> None:
        with imp_driver.connect(warehouse=warehouse, sketch=mode) as connection:
            cursor = connection.cursor()
            cursor.execute(text).fetchall()
            begin.wait()
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                cursor.execute(text).fetchall()
                done[number] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / SECONDS
