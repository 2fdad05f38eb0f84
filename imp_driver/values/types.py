"""Names of column types, as Delta and Spark write them, and their Arrow types."""

from __future__ import annotations

import re

import pyarrow as pa

INSTANT, LOCAL = pa.timestamp("us", tz="UTC"), pa.timestamp("us")
"""What TIMESTAMP and TIMESTAMP_NTZ are."""
LENGTHS = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000, "week": 604_800_000_000}
"""Microseconds of units that are always as long, where no clocks are put back or on."""
_PLAIN: dict[str, pa.DataType] = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": INSTANT,
    "timestamp_ntz": LOCAL,
    "boolean": pa.bool_(),
}
_SPARK_NAMES = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "boolean": "BOOLEAN",
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")


def arrow_type(type_name: str) -> pa.DataType | None:
    """Return the Arrow type of a Delta type name, None for types that no operator handles (nested, binary, CHAR, intervals)."""
    match = _DECIMAL.fullmatch(type_name)
    if match:
        return pa.decimal128(int(match.group(1)), int(match.group(2)))
    return _PLAIN.get(type_name)


def sql_name(kind: pa.DataType) -> str:
    """Return the SQL name of an Arrow type; what no operator handles is called as Arrow does."""
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_null(kind):
        return "VOID"
    return next((_SPARK_NAMES[name] for name, each in _PLAIN.items() if each == kind), str(kind))


def spark_type(type_name: str) -> str:
    """Return the SQL name of a Delta type that arrow_type knows."""
    return type_name.upper() if type_name.startswith("decimal") else _SPARK_NAMES[type_name]
