"""Arrow columns <-> rows of Python values that are equal where Spark groups them as one: 0.0 for -0.0, one NaN, numbers for days."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import pyarrow as pa

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.values.codes import as_grouped, one_array

_NAN = math.nan


def as_rows(columns: Sequence[pa.Array | pa.ChunkedArray]) -> list[Row]:
    """Return the rows of columns of the same length, of which there is at least one."""
    return list(zip(*(as_values(one_array(column)) for column in columns), strict=True))


def as_values(array: pa.Array) -> list[object]:
    """Return the values of one column of rows."""
    kind = array.type
    if pa.types.is_floating(kind):
        # Two NaN are equal in a dictionary only where they are the same object.
        return [value if value is None or value == value else _NAN for value in as_grouped(array).to_pylist()]
    stored = _stored(kind)
    return list((array if stored is None else array.view(stored)).to_pylist())


def as_column(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    """Return a column of values that ``as_rows`` has given."""
    stored = _stored(kind)
    return pa.array(values, kind) if stored is None else pa.array(values, stored).view(kind)


def as_table(rows: Collection[Row], schema: pa.Schema) -> pa.Table:
    """Return rows, of which there may be none, as a table."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.table([as_column(values, kind) for values, kind in zip(columns, schema.types, strict=True)], schema=schema)


def is_same_kind(one: pa.DataType, other: pa.DataType) -> bool:
    """Say whether Spark compares values of two types as Python does."""
    return bool(one == other or all(pa.types.is_signed_integer(kind) for kind in (one, other)))


def is_temporal(kind: pa.DataType) -> bool:
    """Say whether values of a type are whole numbers here."""
    return _stored(kind) is not None


def _stored(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_timestamp(kind):
        return pa.int64()
    return pa.int32() if pa.types.is_date32(kind) else None
