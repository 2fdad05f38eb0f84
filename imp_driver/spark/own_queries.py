"""What sessions over the JVM of this process and over a Spark Connect server do alike.

Both run queries of the driver's own, some over rows that Spark sees as temporary views meanwhile, and tag what they run to interrupt it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pyarrow as pa

from imp_driver.errors import Error, cancelled
from imp_driver.ports import CHAR_WIDTH
from imp_driver.spark.bucket_tables import SparkBuckets
from imp_driver.spark.cancellation import Cancellation
from imp_driver.spark.errors import mapped
from imp_driver.spark.frames import frame_of
from imp_driver.spark.kept_rows import Checkpoints, SparkKeptRows
from imp_driver.spark.meaning import CHAR_MARK
from imp_driver.spark.stream import BatchStream, drained
from imp_driver.values.execution import Execution


class OwnQueries(ABC):
    """The part of a Session that both kinds of sessions have alike; they say how a statement is executed.

    Attributes:
        spark: the SparkSession, for tests; the driver does not touch it.
    """

    spark: Any
    _cancellation: Cancellation
    _checkpoints: Checkpoints

    @abstractmethod
    def execute(self, execution: Execution) -> BatchStream:
        """Run a statement."""

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        """Run a query of the driver itself and return all its rows."""
        return drained(self.execute(execution.of(text)), most_bytes)

    def read_with(self, text: str, view: str, rows: pa.Table, execution: Execution) -> pa.Table:
        """Run a query of the driver itself while ``rows`` are visible as a temporary view."""
        with self._visible(view, rows, execution):
            return self.read(text, execution)

    def execute_with(self, execution: Execution, views: Mapping[str, pa.Table]) -> BatchStream:
        """Run a query of the driver itself while rows are visible as temporary views; it was analysed when its first rows are there."""
        with ExitStack() as visible:
            for view, rows in views.items():
                visible.enter_context(self._visible(view, rows, execution))
            return self.execute(execution)

    def buckets(self, execution: Execution) -> SparkBuckets:
        """Return the holder of states of this session."""
        return SparkBuckets(self.spark, lambda text: self.read(text, execution), lambda: self._running(execution))

    def kept_rows(self, execution: Execution) -> SparkKeptRows:
        """Return what keeps rows of queries in this session for a run."""
        return SparkKeptRows(self.spark, self._running, self._checkpoints, execution)

    def append(self, text: str, view: str, rows: pa.Table, execution: Execution) -> None:
        """Run a statement while ``rows`` are visible as a temporary view."""
        with self._visible(view, rows, execution):
            self.execute(execution.of(text)).close()

    @contextmanager
    def _visible(self, view: str, rows: pa.Table, execution: Execution) -> Iterator[None]:
        with mapped(execution.tag):
            frame = frame_of(self.spark, rows)
            for field in rows.schema:
                if field.metadata and CHAR_WIDTH in field.metadata:
                    # What Spark reads of a CHAR column bears this mark; by it comparisons ignore the blanks at the end.
                    frame = frame.withMetadata(field.name, {CHAR_MARK: f"char({field.metadata[CHAR_WIDTH].decode()})"})
            frame.createOrReplaceTempView(view)
        try:
            yield
        finally:
            with mapped(execution.tag):
                self.spark.catalog.dropTempView(view)

    @contextmanager
    def _running(self, execution: Execution) -> Iterator[None]:
        """Tag what this thread starts and turn whatever goes wrong into an error of this driver."""
        if execution.token.is_cancelled:
            raise cancelled(execution.tag)
        try:
            with mapped(execution.tag), self._cancellation.running(execution.tag):
                yield
        except Error as error:
            raise (cancelled(execution.tag) if execution.token.is_cancelled else error) from error.__cause__

    def interrupt(self, execution: Execution) -> None:
        """Stop what runs on behalf of a run, and what is about to."""
        execution.token.cancel()
        self._cancellation.cancel(execution.tag)
