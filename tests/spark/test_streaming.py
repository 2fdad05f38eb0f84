"""Structured streaming of plain Spark writes to a table while queries are asked; shadow mode compares each answer with the plain one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import imp_driver
from tests.seeds import of_today

SUMS = "SELECT g, sum(v) AS total FROM {table} GROUP BY g HAVING sum(v) > 150"
TOP = "SELECT g, count(*) AS n, max(v) AS most FROM {table} GROUP BY g ORDER BY n DESC, g LIMIT 3"
PATIENCE = 120.0
"""Seconds until a stream that brings nothing is given up."""


@pytest.fixture
def stream_session(spark: SparkSession) -> SparkSession:
    """A session of its own, of which the driver knows nothing."""
    return spark.newSession()


@pytest.fixture(params=of_today(["true", "false"]), ids=lambda feed: "feed" if feed == "true" else "files")
def table(request: pytest.FixtureRequest, cursor: imp_driver.Cursor) -> Iterator[str]:
    """Twenty groups of ten rows, clustered by group; with and without a change data feed."""
    name = f"streamed_{request.node.originalname}_{request.param}"
    cursor.execute(
        f"CREATE TABLE {name} (id BIGINT, g INT, v INT) USING DELTA TBLPROPERTIES (delta.enableChangeDataFeed = {request.param})"
    )
    for half in (0, 100):
        cursor.execute(f"INSERT INTO {name} SELECT id + {half}, CAST((id + {half}) DIV 10 AS INT), 1 FROM range(100)")
    yield name
    cursor.execute(f"DROP TABLE {name}")


def _asked(cursor: imp_driver.Cursor, table: str) -> list[str]:
    """Ask both queries; return the decisions."""
    decisions = []
    for query in (SUMS, TOP):
        cursor.execute(query.format(table=table)).fetchall()
        assert cursor.sketch_report is not None
        assert cursor.sketch_report.reason.name not in ("INTERNAL", "CAPTURE_FAILED"), cursor.sketch_report
        decisions.append(cursor.sketch_report.decision.name)
    return decisions


def _one(cursor: imp_driver.Cursor, text: str) -> Any:
    row = cursor.execute(text).fetchone()
    assert row is not None
    return row[0]


def _streaming_commits(cursor: imp_driver.Cursor, table: str) -> int:
    rows = cursor.execute(f"DESCRIBE HISTORY {table}").fetchall()
    place = [column[0] for column in cursor.description or ()].index("operation")
    return [row[place] for row in rows].count("STREAMING UPDATE")


def test_batches_of_files_are_maintained(cursor: imp_driver.Cursor, stream_session: SparkSession, table: str, tmp_path: Path) -> None:
    source, checkpoint = tmp_path / "source", tmp_path / "checkpoint"
    source.mkdir()
    assert _asked(cursor, table) == ["CAPTURED", "CAPTURED"]
    decisions = []
    for batch in range(3):
        rows = {"id": range(1_000 * batch, 1_000 * batch + 60), "g": [number % 20 + batch for number in range(60)], "v": range(60)}
        kinds = {"id": pa.int64(), "g": pa.int32(), "v": pa.int32()}
        pq.write_table(pa.table({name: pa.array(rows[name], kinds[name]) for name in kinds}), source / f"{batch}.parquet")
        frame = stream_session.readStream.schema("id BIGINT, g INT, v INT").parquet(str(source))
        frame.writeStream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).toTable(table).awaitTermination()
        decisions += _asked(cursor, table)
    assert decisions == ["MAINTAINED"] * 6
    assert _streaming_commits(cursor, table) == 3
    assert _one(cursor, f"SELECT count(*) FROM {table}") == 200 + 180


def _until(is_over: Callable[[], bool], act: Callable[[], None]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_over():
        assert time.monotonic() < end, "the stream brought nothing"
        act()


def test_a_stream_that_runs_meanwhile(cursor: imp_driver.Cursor, stream_session: SparkSession, table: str, tmp_path: Path) -> None:
    decisions: Counter[str] = Counter(_asked(cursor, table))
    rates: DataFrame = stream_session.readStream.format("rate").option("rowsPerSecond", 40).load()
    frame = rates.selectExpr("value + 1000 AS id", "CAST(value % 23 AS INT) AS g", "CAST(value % 7 AS INT) AS v")
    writer = frame.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(processingTime="1 second")
    running = writer.toTable(table)
    try:
        _until(lambda: decisions["MAINTAINED"] >= 6, lambda: decisions.update(_asked(cursor, table)))
        assert running.isActive, running.exception()
    finally:
        running.stop()
    _asked(cursor, table)
    assert decisions["RECAPTURED"] == 0, decisions
    assert _streaming_commits(cursor, table) >= 3
    # Each row of the source is there once: the numbers have no gap.
    assert _one(cursor, f"SELECT count(*) = max(id) - 999 FROM {table} WHERE id >= 1000")


def test_a_stream_that_writes_the_whole_result_anew(
    cursor: imp_driver.Cursor, stream_session: SparkSession, table: str, tmp_path: Path
) -> None:
    """Output mode ``complete``: each commit takes all rows away and adds those of the newest result."""
    source = tmp_path / "source"
    source.mkdir()
    _asked(cursor, table)
    decisions = []
    for batch in range(2):
        groups = pa.array([number % 15 for number in range(90)], pa.int32())
        pq.write_table(pa.table({"g": groups}), source / f"{batch}.parquet")
        frame = stream_session.readStream.schema("g INT").parquet(str(source)).groupBy("g").count()
        frame = frame.selectExpr("CAST(g AS BIGINT) AS id", "g", "CAST(count * 100 AS INT) AS v")
        writer = frame.writeStream.outputMode("complete").option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).toTable(table).awaitTermination()
        decisions += _asked(cursor, table)
    assert set(decisions) <= {"MAINTAINED", "CAPTURED", "RECAPTURED"}
    assert "MAINTAINED" in decisions
    assert _streaming_commits(cursor, table) == 2
    assert cursor.execute(f"SELECT count(*), sum(v) FROM {table}").fetchall() == [(15, 180 * 100)]
