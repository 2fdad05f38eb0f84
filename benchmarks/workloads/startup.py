"""A later connect, with the jars in the cache, against the start of a bare SparkSession with the same jars; a fresh process each."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from typing import Any

_DRIVER = """
import time
begin = time.perf_counter()
import imp_driver
connection = imp_driver.connect(warehouse={folder!r})
print(time.perf_counter() - begin)
connection.close()
"""
_BARE = """
import time
begin = time.perf_counter()
from pathlib import Path
from pyspark.sql import SparkSession
from imp_driver.spark.java import find_java
from imp_driver.spark.packages import resolve_jars
jars = ",".join(str(jar) for jar in resolve_jars(find_java()))
session = (
    SparkSession.builder.master("local[2]").config("spark.jars", jars).config("spark.ui.enabled", "false")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog").getOrCreate()
)
print(time.perf_counter() - begin)
session.stop()
"""


def run(repetitions: int) -> list[dict[str, Any]]:
    """Return the medians in seconds; the two take turns."""
    with tempfile.TemporaryDirectory() as folder:
        driver, bare = [], []
        for _ in range(repetitions):
            bare.append(_seconds(_BARE))
            driver.append(_seconds(_DRIVER.format(folder=folder)))
    medians = statistics.median(driver), statistics.median(bare)
    record = {"connect s": round(medians[0], 2), "bare SparkSession s": round(medians[1], 2), "ratio": round(medians[0] / medians[1], 2)}
    print(record, flush=True)
    return [record]


def _seconds(program: str) -> float:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(run.stdout.strip().splitlines()[-1])
