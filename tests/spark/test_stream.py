"""Rows that the Arrow transfer delivers are those of plain Spark: settings, order, completeness, and commands that have committed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from imp_driver.errors import OperationalError
from imp_driver.spark.session import SparkChildSession
from imp_driver.values.execution import Execution

PATIENCE = 60.0
"""Seconds until Spark has noted what a job did, on a busy machine."""


def _rows(session: SparkChildSession, text: str, tag: str = "test") -> list[tuple[object, ...]]:
    stream = session.execute(Execution(text, tag=tag))
    rows: list[tuple[object, ...]] = []
    while (batch := stream.next_batch()) is not None:
        rows += [tuple(row.values()) for row in batch.to_pylist()]
    return rows


def _child(spark: SparkSession, kind: type[SparkChildSession] = SparkChildSession) -> SparkChildSession:
    return kind(spark.newSession(), owned_by_application=False, binds_natively=True, on_close=lambda: None)


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkChildSession]:
    session = _child(spark)
    yield session
    session.close()


@pytest.mark.parametrize("partitions", [1, 3])
def test_settings_of_the_session_reach_generated_code_and_tasks(session: SparkChildSession, partitions: int) -> None:
    query = f"SELECT to_date(concat('2020-1-', CAST(id + 1 AS STRING)), 'yyyy-MM-dd') AS d FROM range(0, 3, 1, {partitions})"
    _rows(session, "SET spark.sql.ansi.enabled = false")
    _rows(session, "SET spark.sql.legacy.timeParserPolicy = LEGACY")
    plain = [tuple(row) for row in session.spark.sql(query).collect()]
    assert plain[0][0] is not None
    assert _rows(session, query) == plain


def test_settings_of_one_session_do_not_reach_another(session: SparkChildSession, spark: SparkSession) -> None:
    _rows(session, "SET spark.sql.mapKeyDedupPolicy = LAST_WIN")
    query = "SELECT map(id % 1, 1, id % 1, 2) FROM range(0, 2, 1, 2)"
    assert _rows(session, query) == [([(0, 2)],), ([(0, 2)],)]
    with pytest.raises(Exception, match="DUPLICATED_MAP_KEY"):
        _rows(_child(spark), query)


@pytest.mark.parametrize("partitions", [1, 2, 3, 17, 64])
def test_every_partition_arrives_once_and_in_order(session: SparkChildSession, partitions: int) -> None:
    assert _rows(session, f"SELECT id FROM range(0, 200, 1, {partitions})") == [(number,) for number in range(200)]


def test_stream_dropped_half_way_leaves_the_session_usable(session: SparkChildSession) -> None:
    stream = session.execute(Execution("SELECT id FROM range(0, 1000000, 1, 32)"))
    assert stream.next_batch() is not None
    stream.close()
    assert stream.next_batch() is None
    # The tracker hears of the end of a job later than whoever waits for it.
    end = time.monotonic() + PATIENCE
    while jobs := session.spark.sparkContext.statusTracker().getActiveJobsIds():
        assert time.monotonic() < end, jobs
        time.sleep(0.05)
    assert _rows(session, "SELECT 1") == [(1,)]


def test_result_without_rows_keeps_its_schema(session: SparkChildSession) -> None:
    stream = session.execute(Execution("SELECT id, CAST(id AS STRING) AS s FROM range(0, 10, 1, 4) WHERE id > 99"))
    assert stream.next_batch() is None or stream.next_batch() is None
    assert stream.schema.names == ["id", "s"]


def test_cancel_between_two_groups_of_partitions_ends_the_stream(session: SparkChildSession) -> None:
    execution = Execution("SELECT id FROM range(0, 1000000, 1, 64)")
    stream = session.execute(execution)
    session.interrupt(execution)
    with pytest.raises(OperationalError, match="cancelled"):
        list(iter(stream.next_batch, None))


class _CancelledWhenDone(SparkChildSession):
    """Its INSERTs are cancelled when they have just committed."""

    def _frame(self, execution: Execution) -> DataFrame:
        frame = super()._frame(execution)
        if execution.text.startswith("INSERT"):
            self.interrupt(execution)
        return frame


def test_cancel_after_the_commit_does_not_deny_the_commit(spark: SparkSession) -> None:
    session = _child(spark, _CancelledWhenDone)
    _rows(session, "CREATE OR REPLACE TABLE cancelled_late (a INT) USING DELTA")
    _rows(session, "INSERT INTO cancelled_late VALUES (1)", "late")
    assert _rows(session, "SELECT a FROM cancelled_late") == [(1,)]


def test_limit_stops_at_the_partitions_that_fill_it(session: SparkChildSession) -> None:
    assert _rows(session, "SELECT id FROM range(0, 6400, 1, 64) LIMIT 3", "few") == [(0,), (1,), (2,)]
    tracker = session.spark.sparkContext._jsc.sc().statusTracker()
    end = time.monotonic() + PATIENCE
    # Spark notes what its jobs did after they have ended.
    while not (tasks := _tasks(tracker, "few")) and time.monotonic() < end:
        time.sleep(0.01)
    assert tasks == [1]


def _tasks(tracker: Any, tag: str) -> list[int]:
    jobs = [tracker.getJobInfo(job).get() for job in tracker.getJobIdsForTag(tag)]
    return [tracker.getStageInfo(stage).get().numTasks() for job in jobs for stage in job.stageIds()]


@pytest.mark.parametrize("rows", [1, 1999, 2000, 2001, 19_999, 20_001])
def test_limited_result_arrives_whole_and_in_order(session: SparkChildSession, rows: int) -> None:
    assert _rows(session, f"SELECT id FROM range(0, 64000, 1, 8) ORDER BY id LIMIT {rows}") == [(number,) for number in range(rows)]


def test_values_of_every_kind_arrive_alike_in_small_and_large_results(session: SparkChildSession) -> None:
    query = (
        "SELECT id, CAST(id AS TIMESTAMP) AS t, CAST(CAST(id AS TIMESTAMP) AS TIMESTAMP_NTZ) AS n, DATE '1500-01-01' AS d, x'00ff' AS b, "
        "CAST(id AS DECIMAL(38, 4)) AS c, array(id, NULL) AS a, named_struct('a', id, 'b', 'x') AS s, map('k', id) AS m, "
        "CAST('NaN' AS FLOAT) AS f, INTERVAL '1' DAY AS i, CAST(NULL AS STRING) AS v FROM range(0, 40, 1, 4) ORDER BY id"
    )
    few, all_rows = _rows(session, query + " LIMIT 7"), _rows(session, query)
    assert len(few) == 7
    assert str(few) == str(all_rows[:7])


class _CancelledWhilePlanning(SparkChildSession):
    """Its jobs are cancelled before there is one, and nothing else says so."""

    def _frame(self, execution: Execution) -> DataFrame:
        self._cancellation.cancel(execution.tag)
        return super()._frame(execution)


def test_cancel_before_the_first_job_stops_the_jobs_that_follow(spark: SparkSession) -> None:
    with pytest.raises(OperationalError, match=r"(?i)cancel"):
        _rows(_child(spark, _CancelledWhilePlanning), "SELECT count(*) FROM range(100000000000) WHERE hash(id) = 7", "planning")
