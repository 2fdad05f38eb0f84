"""Shadow mode: the answer with the sketch is compared with the plain one, row by row, before anything is handed out.

Floating-point sums depend on the order of summation, in plain Spark too, so DOUBLE and FLOAT columns are compared with a relative
tolerance; everything else must be the same value. Order is not compared: Spark promises it only under a total ORDER BY.
"""

from __future__ import annotations

import math
from collections import defaultdict

import pyarrow as pa

from imp_driver.errors import InternalError
from imp_driver.ports import ResultColumn, ResultStream

TOLERANCE = 1e-9


class Answer:
    """An answer that was read whole, as a stream again."""

    def __init__(self, stream: ResultStream) -> None:
        """Read a stream and close it. Raises Error where it fails; it is closed then, too."""
        self.columns: tuple[ResultColumn, ...] = stream.columns
        self.schema: pa.Schema = stream.schema
        self._batches: list[pa.RecordBatch] = []
        try:
            while (batch := stream.next_batch()) is not None:
                self._batches.append(batch)
        finally:
            stream.close()
        self._batches.reverse()

    def next_batch(self) -> pa.RecordBatch | None:
        return self._batches.pop() if self._batches else None

    def close(self) -> None:
        self._batches = []

    def difference(self, other: Answer) -> str | None:
        """Say how the rows of another answer differ, None when they are the same; asked before any is taken."""
        tables = [pa.Table.from_batches(each._batches, each.schema) for each in (self, other)]
        return describe_difference(*tables)


def check_same(answer: Answer, plain: Answer, text: str) -> None:
    """Raise InternalError when two answers differ."""
    difference = answer.difference(plain)
    if difference is not None:
        raise InternalError(
            f"Shadow mode found a difference between the answer with the sketch and the plain answer: {difference}. Query: {text}"
        )


def describe_difference(first: pa.Table, second: pa.Table) -> str | None:
    """Say how two bags of rows differ, None when they do not."""
    if first.schema.names != second.schema.names:
        return f"columns {first.schema.names} against {second.schema.names}"
    if first.num_rows != second.num_rows:
        return f"{first.num_rows} rows against {second.num_rows}"
    floats = [place for place, field in enumerate(first.schema) if pa.types.is_floating(field.type)]
    scales = [
        max((abs(v) for t in (first, second) for v in t.column(p).to_pylist() if v is not None and math.isfinite(v)), default=0.0)
        for p in floats
    ]
    left, right = _by_exact_part(first, floats), _by_exact_part(second, floats)
    for exact, rows in left.items():
        others = right.get(exact)
        if others is None or len(others) != len(rows):
            return f"row {exact} occurs {len(rows)} times against {len(others or [])}"
        for one, other in zip(sorted(rows, key=_order), sorted(others, key=_order), strict=True):
            if not all(_close(a, b, scale) for a, b, scale in zip(one, other, scales, strict=True)):
                return f"row {exact} has {one} against {other}"
    return None


def _by_exact_part(table: pa.Table, floats: list[int]) -> dict[str, list[tuple[float | None, ...]]]:
    columns = [column.to_pylist() for column in table.columns]
    parts: dict[str, list[tuple[float | None, ...]]] = defaultdict(list)
    for row in zip(*columns, strict=True):
        exact = repr(tuple(value for place, value in enumerate(row) if place not in floats))
        parts[exact].append(tuple(row[place] for place in floats))
    return parts


def _order(row: tuple[float | None, ...]) -> tuple[tuple[int, float], ...]:
    return tuple((0, 0.0) if value is None else (2, 0.0) if math.isnan(value) else (1, value) for value in row)


def _close(one: float | None, other: float | None, scale: float) -> bool:
    if one is None or other is None:
        return one is other
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE * scale)
