"""Rows that the driver itself makes (SHOW SKETCHES, EXPLAIN SKETCH), as a result stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from imp_driver.ports import ResultColumn

_TYPE_NAMES = {
    pa.string(): "string",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz",
    pa.timestamp("us", "UTC"): "timestamp",
}


def columns_of(schema: pa.Schema) -> tuple[ResultColumn, ...]:
    """Return what is told of columns that the driver itself makes."""
    return tuple(_column(field.name, field.type) for field in schema)


def _column(name: str, kind: pa.DataType) -> ResultColumn:
    if pa.types.is_decimal(kind):
        return ResultColumn(name, f"decimal({kind.precision},{kind.scale})", kind.precision, kind.scale, True)
    return ResultColumn(name, _TYPE_NAMES[kind], None, None, True)


class LocalStream:
    """A ResultStream over columns in memory."""

    def __init__(self, columns: Mapping[str, tuple[pa.DataType, Sequence[object]]]) -> None:
        self.schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()])
        self.columns = columns_of(self.schema)
        arrays = [pa.array(list(values), type=kind) for kind, values in columns.values()]
        self._batch: pa.RecordBatch | None = pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def next_batch(self) -> pa.RecordBatch | None:
        batch, self._batch = self._batch, None
        return batch

    def close(self) -> None:
        self._batch = None
