"""Comparison of two answers: everything exactly, floating point within the last digits that the order of summation decides."""

from __future__ import annotations

import math
from typing import Any

Rows = list[tuple[Any, ...]]


def same(one: Rows, other: Rows) -> bool:
    """Say whether two bags of rows are equal; floats within 1e-9 of each other, relative."""
    if len(one) != len(other):
        return False
    pairs = zip(sorted(one, key=_order), sorted(other, key=_order), strict=True)
    return all(len(a) == len(b) and all(_same_value(x, y) for x, y in zip(a, b, strict=True)) for a, b in pairs)


def _order(row: tuple[Any, ...]) -> tuple[str, ...]:
    # Floats are left to the end: they may differ in their last digit and must not decide the order before exact values do.
    exact = [repr(value) for value in row if not isinstance(value, float)]
    return (*exact, *(f"{value:.6e}" for value in row if isinstance(value, float)))


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return type(one) is type(other) and bool(one == other)
