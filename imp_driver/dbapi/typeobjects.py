"""Type objects and constructors of PEP 249, and descriptions of result columns."""

from __future__ import annotations

import datetime

from imp_driver.ports import ResultColumn

Description = tuple[str, str, None, None, int | None, int | None, bool]
"""name, type_code (Spark's type name), display_size, internal_size, precision, scale, null_ok"""


class TypeObject:
    """Equal to every type code of its family: ``cursor.description[0][1] == NUMBER``. A code's parameters do not matter."""

    def __init__(self, name: str, *bases: str) -> None:
        self._name = name
        self._bases = frozenset(bases)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypeObject):
            return self._bases == other._bases
        return isinstance(other, str) and other.split("(", 1)[0].split("<", 1)[0].strip().lower() in self._bases

    def __hash__(self) -> int:
        return hash(self._bases)

    def __repr__(self) -> str:
        return self._name


STRING = TypeObject("STRING", "string", "char", "varchar")
BINARY = TypeObject("BINARY", "binary")
NUMBER = TypeObject("NUMBER", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean")
DATETIME = TypeObject("DATETIME", "date", "timestamp", "timestamp_ntz", "time")
ROWID = TypeObject("ROWID")

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime


def DateFromTicks(ticks: float) -> datetime.date:  # noqa: N802 - PEP 249 fixes this name
    """Return the local date of seconds since the epoch."""
    return datetime.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> datetime.time:  # noqa: N802 - PEP 249 fixes this name
    """Return the local time of day of seconds since the epoch."""
    return datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:  # noqa: N802 - PEP 249 fixes this name
    """Return the local date and time, without zone, of seconds since the epoch."""
    return datetime.datetime.fromtimestamp(ticks)


def Binary(value: bytes | bytearray | memoryview | str) -> bytes:  # noqa: N802 - PEP 249 fixes this name
    """Return bytes; text is encoded as UTF-8."""
    return value.encode() if isinstance(value, str) else bytes(value)


def describe(columns: tuple[ResultColumn, ...]) -> list[Description]:
    return [(column.name, column.type_name, None, None, column.precision, column.scale, column.nullable) for column in columns]
