"""States in buckets as Delta tables of Spark: kernels run in Python workers, one bucket at a time, by ``applyInArrow``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pyarrow as pa

from imp_driver.spark.frames import frame_of
from imp_driver.values.buckets import BUCKET, BUCKET_ROW, BUCKET_STATE, BUCKET_SUMMARY, BucketKernel
from imp_driver.values.quoting import quoted_name

_DDL = {pa.int32(): "INT", pa.int64(): "BIGINT", pa.binary(): "BINARY", pa.string(): "STRING"}
_LAST_COMMIT = "spark.databricks.delta.lastCommitVersionInSession"
_STATE = ", ".join(BUCKET_STATE.names)


class SparkBuckets:
    """A BucketEngine over a session of Spark, in this process or at a server.

    ``read`` returns the rows of a query; ``running`` tags what runs and maps its errors.
    """

    def __init__(self, spark: Any, read: Callable[[str], pa.Table], running: Callable[[], AbstractContextManager[None]]) -> None:
        self._spark = spark
        self._read = read
        self._running = running

    def build(self, target: str, query: str, kernel: BucketKernel) -> tuple[int, pa.Table]:
        """Group the rows of a query by their bucket and write a row for each."""
        with self._running(), self._unnoticed():
            groups = self._spark.sql(query).groupBy(BUCKET)
            rows = _applied(groups, lambda table: kernel.built(table), BUCKET_ROW)
            # New tables of an embedded warehouse have a change feed, which would have every replaced bucket written twice.
            rows.write.format("delta").mode("error").option("delta.enableChangeDataFeed", "false").save(target)
        return self._written(target)

    def step(self, target: str, version: int, delta: pa.Table, kernel: BucketKernel) -> tuple[int, pa.Table]:
        """Cogroup the touched buckets with their signed rows and replace them."""
        touched = _is_among(delta.column(BUCKET).to_pylist())
        with self._running(), self._unnoticed():
            # A literal list, by which Delta skips the files of other buckets.
            before = self._spark.sql(f"SELECT {_STATE} FROM {_at(target, version)} WHERE {touched}").groupBy(BUCKET)
            pairs = before.cogroup(frame_of(self._spark, delta).groupBy(BUCKET))
            rows = _applied(pairs, lambda state, changes: kernel.stepped(state, changes), BUCKET_ROW)
            rows.write.format("delta").mode("overwrite").option("replaceWhere", touched).save(target)
        return self._written(target, touched)

    def ask(self, target: str, version: int, kernel: BucketKernel) -> pa.Table:
        """Run the kernel over every bucket and write nothing."""
        with self._running():
            states = self._spark.sql(f"SELECT {_STATE} FROM {_at(target, version)}").groupBy(BUCKET)
            found: pa.Table = _applied(states, lambda table: kernel.asked(table), BUCKET_SUMMARY).toArrow()
        return found.cast(BUCKET_SUMMARY)

    def summary(self, target: str, version: int) -> pa.Table:
        """Read what the rows say beside their groups."""
        return self._read(f"SELECT {', '.join(BUCKET_SUMMARY.names)} FROM {_at(target, version)}").cast(BUCKET_SUMMARY)

    def fetch(self, target: str, version: int, number: int) -> pa.Table:
        """Read one row; files of other buckets are skipped by their statistics."""
        return self._read(f"SELECT {_STATE} FROM {_at(target, version)} WHERE {BUCKET} = {number}").cast(BUCKET_STATE)

    @contextmanager
    def _unnoticed(self) -> Iterator[None]:
        """Leave what the session says of its last commit to the statements of the application."""
        before = self._spark.conf.get(_LAST_COMMIT, None)
        try:
            yield
        finally:
            if before is None:
                self._spark.conf.unset(_LAST_COMMIT)
            else:
                self._spark.conf.set(_LAST_COMMIT, before)

    def _written(self, target: str, touched: str = "TRUE") -> tuple[int, pa.Table]:
        # The session's own last commit could be that of another thread; one commit more than before can only be ours.
        version = self._read(f"DESCRIBE HISTORY delta.{quoted_name(target)} LIMIT 1").column("version")[0].as_py()
        summary = f"SELECT {', '.join(BUCKET_SUMMARY.names)} FROM {_at(target, version)} WHERE {touched}"
        return version, self._read(summary).cast(BUCKET_SUMMARY)


def _applied(groups: Any, function: Callable[..., pa.Table], schema: pa.Schema) -> Any:
    """Return the frame of what a function of plain arguments gives for each group: of methods PySpark miscounts the arguments."""
    with warnings.catch_warnings():
        # PySpark asks for pandas, of which it uses nothing here, and warns of the newest one.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return groups.applyInArrow(function, ", ".join(f"{field.name} {_DDL[field.type]}" for field in schema))


def _at(target: str, version: int) -> str:
    return f"delta.{quoted_name(target)} VERSION AS OF {version}"


def _is_among(numbers: list[int]) -> str:
    return f"{BUCKET} IN ({', '.join(map(str, numbers))})"
