"""Window functions as values: what they read, by the names of columns, and over which rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Number(Enum):
    """What says where a row stands in its partition."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    PERCENT_RANK = "percent_rank"
    CUME_DIST = "cume_dist"
    NTILE = "ntile"


class Value(Enum):
    """What gives the value of another row: of the partition, or of the frame."""

    LAG = "lag"
    LEAD = "lead"
    FIRST = "first_value"
    LAST = "last_value"
    NTH = "nth_value"


class Running(Enum):
    """Aggregates of the rows of a frame."""

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "avg"
    MINIMUM = "min"
    MAXIMUM = "max"


FunctionKind: TypeAlias = Number | Value | Running


@dataclass(frozen=True, slots=True)
class Frame:
    """ROWS, or RANGE up to rows that tie. ``first`` and ``last`` are rows from the row itself, None for the partition's ends."""

    is_range: bool
    first: int | None
    last: int | None


UP_TO_PEERS, WHOLE = Frame(is_range=True, first=None, last=0), Frame(is_range=True, first=None, last=None)
"""What an order without a frame means, and what no order does."""


@dataclass(frozen=True, slots=True)
class OrderColumn:
    name: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """``argument`` is None where rows are counted or numbered; ``number`` is that of tiles, of rows to move by, or of the n-th value."""

    kind: FunctionKind
    partition: tuple[str, ...]
    order: tuple[OrderColumn, ...]
    frame: Frame
    argument: str | None = None
    number: int = 1
    default: str | None = None
