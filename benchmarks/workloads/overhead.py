"""What the driver adds to a statement that no sketch concerns: its own stages, and the whole against Spark alone on the same session."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns, turn_of
from benchmarks.records import Quantity
from imp_driver.spark import local
from imp_driver.values.options import Options


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str) -> None:
    """Measure one case per statement; ``own stages ms`` are part of the driver's query."""
    spark = local.open_session(Options(warehouse=warehouse)).spark
    for text in (
        "SELECT 1",
        f"SELECT count(*) FROM {systems.table.name} WHERE a = 17",
        f"SELECT a, b FROM {systems.table.name} WHERE a = 17 AND id < 0",
    ):
        ways = {"Spark": partial(_collect, spark, text), "driver": partial(_ask, systems, text)}
        take_turns(journal.page({"statement": text}), plan, Work(ways))


def _ask(systems: Systems, text: str) -> Turn:
    return turn_of(systems.ask("IMP", text))


def _collect(spark: Any, text: str) -> Turn:
    begin = time.perf_counter()
    rows = spark.sql(text).collect()
    milliseconds = (time.perf_counter() - begin) * 1000
    return Turn([tuple(row) for row in rows], {Quantity.QUERY: milliseconds})
