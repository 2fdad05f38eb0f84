"""Arrow batches -> Python rows, a slice at a time; any mix of fetches loses and repeats nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pyarrow as pa

from imp_driver.errors import DataError
from imp_driver.ports import ResultStream

Row = tuple[Any, ...]
Wait: TypeAlias = Callable[[Callable[[], pa.RecordBatch | None]], pa.RecordBatch | None]
_SLICE = 1024
"""Rows converted at once: enough to be quick, few enough that fetchone on a large batch does not convert all of it."""


def _without_more(next_batch: Callable[[], pa.RecordBatch | None]) -> pa.RecordBatch | None:
    return next_batch()


class Rows:
    """Reads one stream as rows or as batches. ``position`` is the number of rows handed out.

    ``wait`` calls what waits for the next batch.
    """

    def __init__(self, stream: ResultStream, wait: Wait = _without_more) -> None:
        self._stream = stream
        self._wait = wait
        self._batch: pa.RecordBatch | None = None
        self._offset = 0
        self._converted: list[Row] = []
        self._next = 0
        self.position = 0

    @property
    def schema(self) -> pa.Schema:
        return self._stream.schema

    def take(self, count: int | None) -> list[Row]:
        """Return the next ``count`` rows, fewer at the end; all that are left for None.

        Raises DataError: Python has no such value, and the rows are still to be read as batches.
        """
        taken: list[Row] = []
        while count is None or len(taken) < count:
            if self._next == len(self._converted) and not self._convert():
                break
            end = len(self._converted) if count is None else min(len(self._converted), self._next + count - len(taken))
            taken += self._converted[self._next : end]
            self._next = end
        self.position += len(taken)
        return taken

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows that are left, as batches; rows already handed out are not among them."""
        while (batch := self._rest_of_batch()) is not None:
            self.position += batch.num_rows
            yield batch

    def close(self) -> None:
        self._stream.close()

    def _rest_of_batch(self) -> pa.RecordBatch | None:
        while True:
            unread = len(self._converted) - self._next
            self._offset -= unread
            self._converted, self._next = [], 0
            if self._batch is not None and self._offset < self._batch.num_rows:
                rest, self._batch = self._batch.slice(self._offset), None
                return rest
            self._batch, self._offset = self._wait(self._stream.next_batch), 0
            if self._batch is None:
                return None

    def _convert(self) -> bool:
        """Convert the next slice; False at the end."""
        while self._batch is None or self._offset >= self._batch.num_rows:
            self._batch, self._offset = self._wait(self._stream.next_batch), 0
            if self._batch is None:
                return False
        piece = self._batch.slice(self._offset, _SLICE)
        columns = [_checked(name, column) for name, column in zip(piece.schema.names, piece.columns, strict=True)]
        self._offset += piece.num_rows
        self._converted = list(zip(*columns, strict=True)) if columns else [()] * piece.num_rows
        self._next = 0
        return True


def _checked(name: str, column: pa.Array) -> list[Any]:
    try:
        return _values(column)
    except (OverflowError, ValueError) as error:
        raise DataError(
            f"Column {name!r} has a value of type {column.type} that Python cannot hold, as dates outside the years 1 to 9999. "
            "Ask for CAST(.. AS STRING), or read the rows with fetch_record_batches."
        ) from error


def _values(column: pa.Array) -> list[Any]:
    convert = _converter(column.type)
    values: list[Any] = column.to_pylist()
    return values if convert is None else [None if value is None else convert(value) for value in values]


def _converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """Return what turns Arrow's Python form into ours: maps become dicts, at any depth; None where nothing changes."""
    if pa.types.is_map(kind):
        key, item = _converter(kind.key_type), _converter(kind.item_type)
        return lambda value: {_apply(key, k): _apply(item, v) for k, v in value}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = _converter(kind.value_type)
        return None if inner is None else lambda value: [_apply(inner, each) for each in value]
    if pa.types.is_struct(kind):
        fields = {kind.field(place).name: _converter(kind.field(place).type) for place in range(kind.num_fields)}
        if not any(fields.values()):
            return None
        return lambda value: {name: _apply(fields[name], each) for name, each in value.items()}
    return None


def _apply(convert: Callable[[Any], Any] | None, value: Any) -> Any:
    return value if convert is None or value is None else convert(value)
