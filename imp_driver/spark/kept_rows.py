"""Rows of the driver's own queries that Spark keeps: local checkpoints, which a server makes as well, under temporary views.

A checkpoint lies in the storage of the executors, in memory and then on their disks, so that no folder is left behind. What it was computed
from is cut off: a query over the hundredth is planned as quickly as one over the first. An executor that is lost takes its part with it,
and queries over it fail.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql.types import ArrayType, BinaryType, DataType, DecimalType, MapType, StringType, StructType

from imp_driver.ports import KeptSize
from imp_driver.spark.errors import mapped
from imp_driver.spark.frames import frame_of
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import quoted_name

MOST_ROWS, MOST_BYTES = 100_000, 64 << 20
"""Up to which rows are handed over to each task that joins them, so that nothing else is sorted or sent around for the join."""
_LOG = logging.getLogger("imp_driver.spark")


class Checkpoints(Protocol):
    """Makes and frees the checkpoints of a session."""

    def checkpoint(self, frame: Any) -> Any:
        """Return a frame with the rows of another, which whoever asks for them first computes."""

    def release(self, frame: Any) -> None:
        """Free the rows of a checkpoint, of which no view is left."""


class SparkKeptRows:
    """A KeptRows over a session of Spark, in this process or at a server.

    ``running`` tags what runs on behalf of a run and maps its errors; ``checkpoints`` are those of the session.
    """

    def __init__(
        self,
        spark: Any,
        running: Callable[[Execution], AbstractContextManager[None]],
        checkpoints: Checkpoints,
        execution: Execution,
    ) -> None:
        self._spark = spark
        self._running = running
        self._checkpoints = checkpoints
        self._execution = execution
        # How to free what is computed, and what stands under each name.
        self._frames: dict[str, Callable[[], object]] = {}
        self._named: dict[str, Any] = {}

    def for_run(self, execution: Execution) -> SparkKeptRows:
        """Return rows that rest for another run; this object is of no use then."""
        other = SparkKeptRows(self._spark, self._running, self._checkpoints, execution)
        other._frames = self._frames
        try:
            with self._running(execution):
                for name, frame in self._named.items():
                    other._show(name, frame)
        except BaseException:
            other.close()
            raise
        return other

    def rest(self) -> None:
        """Drop the views and free nothing."""
        for name in self._named:
            self._try(partial(self._spark.catalog.dropTempView, name))

    def hand_over(self, name: str, rows: pa.Table) -> KeptSize:
        """Have rows of this process under the name of a temporary view, sent to each task that joins them."""
        with self._running(self._execution):
            self._show(name, frame_of(self._spark, rows).hint("broadcast"))
        return KeptSize(rows.num_rows, rows.nbytes, True)

    def show(self, name: str, query: str) -> None:
        """Have a query under the name of a temporary view; a table at a version is found in its log once."""
        with self._running(self._execution):
            self._show(name, self._spark.sql(query))

    def keep(self, name: str, query: str) -> KeptSize:
        """Run a query and keep its rows under the name of a temporary view."""
        with self._running(self._execution):
            # What counts the rows computes them: of a checkpoint that fails itself nobody would have the frame to free it.
            frame = self._checkpoints.checkpoint(self._spark.sql(query))
            self._frames[name] = partial(self._checkpoints.release, frame)
            try:
                size = _size(frame)
                # The estimate that Spark has of them is of the query behind the checkpoint.
                self._show(name, frame.hint("broadcast") if size.is_handed_over else frame)
            except BaseException:
                self.drop(name)
                raise
        return size

    def sort(self, name: str, query: str, by: str) -> None:
        """Run a query and keep its rows under the name of a temporary view, in batches that Spark knows the values of ``by`` of."""
        with self._running(self._execution):
            key = quoted_name(by)
            # Spark computes anew what it has cached of a table when it commits to it; a checkpoint is of no table.
            made = self._checkpoints.checkpoint(self._spark.sql(query).repartitionByRange(key).sortWithinPartitions(key))
            try:
                frame = made.persist()
                self._frames[name] = frame.unpersist
                frame.count()
                # To drop a view of the very frame would let its cached rows go, which rest without views between two runs.
                self._show(name, frame.where("true"))
            except BaseException:
                self.drop(name)
                raise
            finally:
                self._try(partial(self._checkpoints.release, made))

    def _show(self, name: str, frame: Any) -> None:
        frame.createOrReplaceTempView(name)
        self._named[name] = frame

    def drop(self, name: str) -> None:
        """Drop a view and free its rows, also in a run that was cancelled."""
        free = self._frames.pop(name, None)
        if self._named.pop(name, None) is not None:
            self._try(partial(self._spark.catalog.dropTempView, name))
        if free is not None:
            self._try(free)

    def close(self) -> None:
        """Drop all that is there."""
        for name in [*self._frames, *self._named]:
            self.drop(name)

    def _try(self, free: Callable[[], object]) -> None:
        try:
            with mapped():
                free()
        except Exception as error:
            _LOG.debug("Kept rows were not freed: %s", type(error).__name__)


def _size(frame: Any) -> KeptSize:
    """Count rows, and the bytes of their values."""
    fields = frame.schema.fields
    texts = [f"coalesce(octet_length(CAST({quoted_name(field.name)} AS STRING)), 0)" for field in fields if _is_wide(field.dataType)]
    fixed = sum(16 if isinstance(field.dataType, DecimalType) else 8 for field in fields if not _is_wide(field.dataType))
    rows, octets = frame.selectExpr("count(*)", f"coalesce(sum(CAST({' + '.join(texts) or '0'} AS BIGINT)), 0)").collect()[0]
    size = int(rows) * fixed + int(octets)
    return KeptSize(int(rows), size, int(rows) < MOST_ROWS and size < MOST_BYTES)


def _is_wide(kind: DataType) -> bool:
    return isinstance(kind, (StringType, BinaryType, ArrayType, MapType, StructType))
