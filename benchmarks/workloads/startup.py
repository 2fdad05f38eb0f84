"""A later connect, with the jars in the cache, against the start of a bare SparkSession with the same jars; a fresh process each."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import partial

from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns
from benchmarks.records import Quantity

_DRIVER = """
import time
begin = time.perf_counter()
import imp_driver
connection = imp_driver.connect(warehouse={folder!r})
print(time.perf_counter() - begin)
import json
with connection.execute("SELECT 1") as cursor:
    print(json.dumps(cursor.fetchall()))
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
import json
print(json.dumps(session.sql("SELECT 1").collect()))
session.stop()
"""


def run(journal: Journal, plan: Plan) -> None:
    """Measure the two by turns, until they could take a statement; its answers are compared."""
    with tempfile.TemporaryDirectory() as folder:
        ways = {"bare SparkSession": partial(_start, _BARE), "driver": partial(_start, _DRIVER.format(folder=folder))}
        take_turns(journal.page({}), plan, Work(ways))


def _start(program: str) -> Turn:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    *_, seconds, rows = run.stdout.strip().splitlines()
    return Turn([tuple(row) for row in json.loads(rows)], {Quantity.QUERY: float(seconds) * 1000})
