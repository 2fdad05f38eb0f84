"""What the driver adds to a statement that no sketch concerns: its own stages, and the whole against Spark alone on the same session."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

from benchmarks.harness import Systems, before_execution, interleaved
from imp_driver.config import Options
from imp_driver.spark import local


def run(systems: Systems, warehouse: str, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per statement."""
    spark = local.open_session(Options(warehouse=warehouse)).spark
    records = []
    for text in (
        "SELECT 1",
        f"SELECT count(*) FROM {systems.table.name} WHERE a = 17",
        f"SELECT a, b FROM {systems.table.name} WHERE a = 17 AND id < 0",
    ):
        stages = statistics.median(before_execution(systems.ask("IMP", text).report) for _ in range(repetitions))
        medians = interleaved({"driver": partial(systems.ask, "IMP", text), "Spark": partial(_collect, spark, text)}, repetitions)
        record = {
            "statement": text,
            "driver's own stages ms": round(stages, 2),
            "driver ms": round(medians["driver"], 1),
            "Spark ms": round(medians["Spark"], 1),
            "added ms": round(medians["driver"] - medians["Spark"], 1),
        }
        records.append(record)
        print(record, flush=True)
    return records


def _collect(spark: Any, text: str) -> object:
    return spark.sql(text).collect()
