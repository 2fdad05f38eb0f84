"""How far an expression over sums of doubles may be from what Spark makes of its own sums: interval arithmetic, a step at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import value_of
from imp_driver.dataflow.expression.arithmetic import NotEvaluable, to_double
from imp_driver.plan.attributes import identifiers
from imp_driver.values.codes import FloatArray

_ROUNDING = 2.0**-51
"""Of one operation, here and in Spark, relative to its value."""
Leaf = Callable[[exp.Expr], FloatArray | None]


def spread_within(rows: pa.Table, expression: exp.Expr, leaf: Leaf) -> FloatArray:
    """Return a bound for each row, infinite where there is none.

    Args:
        leaf: gives the spread of a column that is rounded, None for any other expression.

    Raises NotEvaluable for operations of which none is known.
    """
    inner = expression.unnest()
    own = leaf(inner)
    if own is not None:
        return own
    if not any(leaf(each) is not None for each in inner.find_all(exp.Column)):
        return np.zeros(rows.num_rows)
    match inner:
        case exp.Neg():
            return spread_within(rows, inner.this, leaf)
        case exp.Coalesce():
            return _first(rows, [inner.this, *inner.expressions], leaf)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            return _combined(rows, inner, leaf)
        case _:
            raise NotEvaluable("a condition on an expression over a sum of doubles")


def _combined(rows: pa.Table, node: exp.Binary, leaf: Leaf) -> FloatArray:
    one, other = (spread_within(rows, side, leaf) for side in (node.left, node.right))
    left, right, value = (np.abs(_numbers(rows, each)) for each in (node.left, node.right, node))
    with np.errstate(all="ignore"):
        match node:
            case exp.Mul():
                spread = left * other + right * one + one * other
            case exp.Div():
                spread = np.where(right > other, (one + value * other) / np.maximum(right - other, 0.0), np.inf)
            case _:
                spread = one + other
        found: FloatArray = spread + _ROUNDING * (value + spread)
    # An infinite bound of something that is 0 is no number.
    return np.where(np.isnan(found), np.inf, found)


def _first(rows: pa.Table, operands: list[exp.Expr], leaf: Leaf) -> FloatArray:
    """Return the spread of the first operand that is not NULL: whether a sum is NULL does not hang on rounding."""
    found, is_open = np.zeros(rows.num_rows), np.ones(rows.num_rows, dtype=bool)
    for each in operands:
        is_there = value_of(rows, each).is_valid().to_numpy(zero_copy_only=False)
        chosen = is_open & is_there
        found[chosen] = spread_within(rows, each, leaf)[chosen]
        is_open &= ~is_there
    return found


def _numbers(rows: pa.Table, expression: exp.Expr) -> FloatArray:
    read = identifiers(expression)
    values = to_double(value_of(rows if read else rows.slice(0, 1), expression)).fill_null(0.0).to_numpy(zero_copy_only=False)
    found: FloatArray = values if read else np.full(rows.num_rows, values[0] if len(values) else 0.0)
    return found
