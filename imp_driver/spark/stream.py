"""Results of Spark as streams of Arrow batches: a group of partitions per job, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyspark.core.rdd import _load_from_socket
from pyspark.errors import PySparkException
from pyspark.serializers import NoOpSerializer
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DecimalType, StructType

from imp_driver.errors import NotSupportedError, cancelled
from imp_driver.ports import ResultColumn, ResultTooLarge
from imp_driver.spark.classes import java_class, scala_object
from imp_driver.spark.errors import mapped


def described(schema: StructType) -> tuple[ResultColumn, ...]:
    """Describe the columns of a result exactly, before any row is there."""
    columns = []
    for field in schema:
        kind = field.dataType
        precision, scale = (kind.precision, kind.scale) if isinstance(kind, DecimalType) else (None, None)
        columns.append(ResultColumn(field.name, kind.simpleString(), precision, scale, field.nullable))
    return tuple(columns)


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow form of a result; timestamps are in UTC.

    Raises:
        NotSupportedError: a column's type has no Arrow form.
    """
    try:
        made = to_arrow_schema(schema, timezone="UTC")
    except (PySparkException, pa.ArrowException, ValueError) as error:
        names = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)
        raise NotSupportedError(f"A column of ({names}) has no Arrow form; cast it to STRING in the query.") from error
    # Some commands declare fields NOT NULL and deliver NULL in them; a result must not fail over that.
    return pa.schema([pa.field(field.name, _nullable(field.type)) for field in made])


def _nullable(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(kind.field(place).name, _nullable(kind.field(place).type)) for place in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", _nullable(kind.value_type)))
    return kind


def drained(stream: BatchStream, most_bytes: int | None = None) -> pa.Table:
    """Return all rows of a stream.

    Raises:
        ResultTooLarge: they have more bytes than this; the rest is not read.
    """
    batches, size, rows = [], 0, 0
    while (batch := stream.next_batch()) is not None:
        batches.append(batch)
        size, rows = size + batch.nbytes, rows + batch.num_rows
        if most_bytes is not None and size > most_bytes:
            stream.close()
            raise ResultTooLarge(size / max(1, rows))
    return pa.Table.from_batches(batches, stream.schema)


class BatchStream:
    """A ResultStream over batches that an iterator delivers; ``stop`` frees what is behind it."""

    def __init__(
        self,
        columns: tuple[ResultColumn, ...],
        schema: pa.Schema,
        batches: Iterator[pa.RecordBatch],
        stop: Callable[[], None],
        is_cancelled: Callable[[], bool],
        tag: str,
    ) -> None:
        self.columns = columns
        self.schema = schema
        self._batches: Iterator[pa.RecordBatch] | None = batches
        self._stop = stop
        self._is_cancelled = is_cancelled
        self._tag = tag
        self._first: pa.RecordBatch | None = self._read()

    def next_batch(self) -> pa.RecordBatch | None:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return self._read()

    def _read(self) -> pa.RecordBatch | None:
        if self._is_cancelled():
            self.close()
            raise cancelled(self._tag)
        if self._batches is None:
            return None
        try:
            with mapped(self._tag):
                batch = next(self._batches, None)
        except Exception as error:
            self.close()
            raise (cancelled(self._tag) if self._is_cancelled() else error) from error.__cause__
        if batch is None:
            self._batches = None
            self._stop()
        return batch

    def close(self) -> None:
        if self._batches is not None:
            self._batches = None
            self._first = None
            self._stop()


_AT_ONCE = 20_000
"""Rows up to which a result is collected in one go."""
_BATCH = 2_000
"""Rows of one Arrow batch of a result that is collected in one go."""


class OptimizedPlan:
    """What Spark has made of a statement before it runs; asked for once, since every question is an exchange with the JVM."""

    def __init__(self, frame: DataFrame) -> None:
        self._plan: Any = frame._jdf.queryExecution().optimizedPlan()

    @property
    def has_few_rows(self) -> bool:
        """Whether the plan bounds its rows by a small number: a LIMIT, one row of totals."""
        bound = self._plan.maxRows()
        return bool(bound.isDefined()) and int(bound.get()) <= _AT_ONCE

    @property
    def is_command(self) -> bool:
        """Whether the statement was a command; its rows are there already."""
        return str(self._plan.nodeName()) == "CommandResult"


def rows_at_once(frame: DataFrame, schema: pa.Schema, jobs: Callable[[], AbstractContextManager[None]]) -> Iterator[pa.RecordBatch]:
    """Yield a few rows as Spark's own collect finds them: a LIMIT then stops at the first partitions that fill it."""
    jvm: Any = frame.sparkSession.sparkContext._jvm
    plan = frame._jdf.queryExecution().executedPlan()
    with jobs():
        rows = plan.executeCollect()
    converters, sequences = _classes(jvm)
    iterator = sequences.unsafeWrapArray(rows).iterator()
    payloads = converters.toBatchIterator(iterator, plan.schema(), _BATCH, "UTC", False, False, None)
    while payloads.hasNext():
        yield pa.ipc.read_record_batch(pa.py_buffer(bytes(payloads.next())), schema)


@lru_cache(maxsize=2)
def _classes(jvm: Any) -> tuple[Any, Any]:
    converters = scala_object(jvm, "org.apache.spark.sql.execution.arrow.ArrowConverters")
    return converters, java_class(jvm, "scala.collection.immutable.ArraySeq")


_SERVER = 2
"""Place of the thread that sends, beside its port and its secret."""
_SMALL = 8 << 20
"""Bytes of one group of partitions below which the next group may be twice as large."""


def rows_of_partitions(frame: DataFrame, schema: pa.Schema, jobs: Callable[[], AbstractContextManager[None]]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query in order, a group of partitions per job; ``jobs`` is entered around each job.

    A group starts as wide as the cores and doubles while its rows are few: all cores work, a result of many small partitions takes few
    jobs, and a large one is never in memory as a whole. Each group's bytes are sent in one go, without an exchange per partition.
    """
    context = frame.sparkSession.sparkContext
    jvm: Any = context._jvm
    with jobs():
        batches = frame._jdf.toArrowBatchRdd().toJavaRDD()
        count, size = batches.getNumPartitions(), max(1, context.defaultParallelism)
    start = 0
    while start < count:
        with jobs():
            served = java_class(jvm, "org.apache.spark.api.python.PythonRDD").runJob(
                context._jsc.sc(), batches, list(range(start, min(start + size, count)))
            )
        received = 0
        with _load_from_socket(served, NoOpSerializer()) as payloads:
            for payload in payloads:
                received += len(payload)
                yield pa.ipc.read_record_batch(pa.py_buffer(payload), schema)
        # A JVM that dies or fails while it sends ends the bytes as a whole result does; only its own word says that this was all.
        served[_SERVER].getResult()
        start += size
        size = size * 2 if received < _SMALL else max(1, context.defaultParallelism)
