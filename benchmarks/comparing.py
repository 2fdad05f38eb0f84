"""Comparison of answers that may tie, and of engines with other types: what is allowed to differ, and by how much.

Two answers of one engine are compared as everywhere. Another engine may give a double where Spark gives a decimal (averages, quotients):
Spark rounds these to six places at least.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from benchmarks.harness import Rows
from benchmarks.journal import Same

_SIX_PLACES = 2e-6


def alike(one: Rows, other: Rows) -> bool:
    """Say whether two bags of rows are equal; floats within 1e-9 of each other, relative, and decimals of floats within six places."""
    if len(one) != len(other) or len({len(row) for row in (*one, *other)}) > 1:
        return False
    # Columns with a float may differ in last digits, and so must not decide which rows are compared.
    inexact = {place for row in (*one, *other) for place, value in enumerate(row) if isinstance(value, float)}
    pairs = zip(_sorted(one, inexact), _sorted(other, inexact), strict=True)
    return all(all(map(_alike, a, b)) for a, b in pairs)


def up_to_ties(order: Sequence[int], limit: int | None) -> Same:
    """Return what compares ordered answers: the keys of the order, row by row, and all rows but those that tie where the limit ends.

    Args:
        order: positions of the columns that the query is ordered by.
        limit: the most rows; None where all are given.
    """

    def keys(rows: Rows) -> Rows:
        return [tuple(row[place] for place in order) for row in rows]

    def same(one: Rows, other: Rows) -> bool:
        if len(one) != len(other) or not all(map(_alike_rows, keys(one), keys(other))):
            return False
        if limit is None or len(one) < limit:
            return alike(one, other)
        last = keys(one)[-1]
        return alike(*([row for row, key in zip(rows, keys(rows), strict=True) if not _alike_rows(key, last)] for rows in (one, other)))

    return same


def _sorted(rows: Rows, inexact: set[int]) -> Rows:
    def exact(row: tuple[Any, ...]) -> tuple[str, ...]:
        return tuple(repr(value) for place, value in enumerate(row) if place not in inexact)

    def rounded(row: tuple[Any, ...]) -> tuple[str, ...]:
        return tuple("" if row[place] is None else f"{float(row[place]):.4e}" for place in sorted(inexact))

    return sorted(rows, key=lambda row: (exact(row), rounded(row)))


def _alike_rows(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(map(_alike, one, other))


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if {type(one), type(other)} == {float, Decimal}:
        return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=_SIX_PLACES)
    return type(one) is type(other) and bool(one == other)
