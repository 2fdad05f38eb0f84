"""Sums of doubles among the rows: their values are the correctly rounded ones, Spark's own within a spread of them.

What is decided by such a value (a condition, the end of a LIMIT) must be the same for all values within the spread.
A spread stands in a column of its own beside the value's; it is infinite where it is not followed further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from imp_driver.answer.columns import value_of
from imp_driver.answer.spreads import spread_within
from imp_driver.dataflow.expression.arithmetic import NotEvaluable, to_double
from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.values.codes import BooleanArray, FloatArray, IntegerArray, one_array

_SUFFIX = " spread"
_SLACK = 1.0 + 2.0**-40
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)
_STEPS = (exp.Round, exp.Floor, exp.Ceil, exp.Sign, exp.Cast)
"""Functions that take every value between two to one between theirs, and jump."""
_JUMPS = (exp.Mod, exp.IntDiv, exp.Anonymous)
SMOOTH = (exp.Column, exp.Paren, exp.Literal, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg)
PREDICATES = (*_COMPARISONS, exp.Between, exp.In, exp.Is, exp.Like, exp.Not, exp.And, exp.Or)


def is_smooth(expression: exp.Expr) -> bool:
    """Say whether an expression only computes with numbers: its value is off by about as much as those that it reads.

    The text of a number, its whole part or a condition on it may be another one.
    """
    return all(isinstance(node, (*SMOOTH, exp.Identifier)) for node in expression.walk())


def with_spreads(rows: pa.Table, spreads: Mapping[str, FloatArray]) -> pa.Table:
    """Add the spreads of some columns."""
    for name, spread in spreads.items():
        rows = rows.append_column(name + _SUFFIX, pa.array(spread))
    return rows


def without_spreads(rows: pa.Table) -> pa.Table:
    return rows.select([name for name in rows.column_names if not name.endswith(_SUFFIX)])


def renamed(rows: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Return rows under other names, which their spreads have too."""
    pairs = [(each.removesuffix(_SUFFIX), each.endswith(_SUFFIX)) for each in rows.column_names]
    return rows.rename_columns([names[name] + _SUFFIX * is_spread for name, is_spread in pairs])


def rounded_in(rows: pa.Table) -> frozenset[str]:
    """Return the columns that have a spread."""
    return frozenset(name.removesuffix(_SUFFIX) for name in rows.column_names if name.endswith(_SUFFIX))


def spread_of(rows: pa.Table, name: str) -> FloatArray:
    """Return the spread of a column, 0 where there is none or the value is NULL."""
    if name + _SUFFIX not in rows.column_names:
        return np.zeros(rows.num_rows)
    spread: FloatArray = one_array(rows.column(name + _SUFFIX)).fill_null(0.0).to_numpy(zero_copy_only=False)
    return spread


def spread_of_expression(rows: pa.Table, expression: exp.Expr) -> FloatArray | None:
    """Return the spread of an expression's values; None where it reads nothing rounded. Raises NotEvaluable where it decides by them."""
    if not _reads(rows, expression):
        return None
    check_decided(rows, expression)
    if _is_step(expression.unnest()):
        return None
    name = plain_identifier(expression)
    return np.full(rows.num_rows, np.inf) if name is None else spread_of(rows, name)


def check_comparable(rows: pa.Table, tolerance: float) -> None:
    """Raise NotEvaluable where Spark's own value may be farther from a rounded one than it is compared by, relatively."""
    for name in rounded_in(rows):
        values = np.abs(one_array(rows.column(name)).fill_null(np.inf).to_numpy(zero_copy_only=False))
        if np.any(spread_of(rows, name) > tolerance / 2 * values):
            raise NotEvaluable("sums of doubles that nearly cancel out, which differ too much in each order to be compared")


def check_unread(rows: pa.Table, expressions: Iterable[exp.Expr], what: str) -> None:
    """Raise NotEvaluable where one of the expressions reads a rounded value."""
    if any(_reads(rows, each) for each in expressions):
        raise NotEvaluable(f"{what} a sum of doubles")


def check_decided(rows: pa.Table, expression: exp.Expr) -> None:
    """Check that every condition in an expression holds or not whatever the rounded values are within their spreads.

    Raises NotEvaluable.
    """
    inner = expression.unnest()
    if not _reads(rows, inner):
        return
    match inner:
        case exp.Is() if plain_identifier(inner.this) is not None:
            return
        case exp.Between():
            check_decided(rows, exp.GTE(this=inner.this.copy(), expression=inner.args["low"].copy()))
            check_decided(rows, exp.LTE(this=inner.this.copy(), expression=inner.args["high"].copy()))
        case _ if isinstance(inner, _COMPARISONS):
            _check_apart(rows, inner.left, inner.right)
        case exp.Nullif():
            _check_apart(rows, inner.this, inner.expression)
        case exp.Case() if inner.this is not None and any(
            _reads(rows, each) for each in (inner.this, *(one.this for one in inner.args["ifs"]))
        ):
            raise NotEvaluable("a choice by a sum of doubles")
        case _ if _is_step(inner):
            _check_step(rows, inner)
        case _ if isinstance(inner, _JUMPS):
            raise NotEvaluable(f"{inner.key} of a sum of doubles")
        case _ if isinstance(inner, PREDICATES) and not isinstance(inner, (exp.And, exp.Or, exp.Not)):
            raise NotEvaluable("a condition on a sum of doubles")
        case _:
            for child in inner.iter_expressions():
                check_decided(rows, child)


def _reads(rows: pa.Table, expression: exp.Expr) -> bool:
    """Say whether an expression reads a rounded value."""
    rounded = rounded_in(rows)
    return bool(rounded) and not rounded.isdisjoint(identifiers(expression))


def _is_step(expression: exp.Expr) -> bool:
    to_double = isinstance(expression, exp.Cast) and expression.to.this is exp.DType.DOUBLE
    return isinstance(expression, _STEPS) and not to_double


def _check_step(rows: pa.Table, step: exp.Expr) -> None:
    """Raise NotEvaluable where a function that jumps may give another value within the spread of what it is of."""
    name = plain_identifier(step.this)
    if name is None:
        raise NotEvaluable(f"{step.key} of an expression over a sum of doubles")
    place = rows.column_names.index(name)
    values = one_array(rows.column(name))
    spread = pa.array(spread_of(rows, name) * _SLACK)
    ends = [value_of(rows.set_column(place, name, end), step) for end in (pc.subtract(values, spread), pc.add(values, spread))]
    if not ends[0].equals(ends[1]):
        raise NotEvaluable("a sum of doubles is too near to where it is rounded to another value")


def _check_apart(rows: pa.Table, left: exp.Expr, right: exp.Expr) -> None:
    """Raise NotEvaluable where two values may be compared in either way."""
    values: list[FloatArray] = []
    spread = np.zeros(1)
    rounded = rounded_in(rows)
    for side in (left, right):
        read = identifiers(side)
        if read & rounded:
            spread = spread + spread_within(rows, side, lambda each: _spread_of_column(rows, each))
        # What reads no column is one value for all rows.
        over = rows if read else rows.slice(0, 1)
        values.append(to_double(value_of(over, side)).fill_null(np.nan).to_numpy(zero_copy_only=False))
    one, other = values
    distance = np.abs(one - other)
    # NULL is decided, and so are equal values that are exact.
    if np.any((spread > 0) & ~(distance > spread * _SLACK) & ~np.isnan(distance)):
        raise NotEvaluable("a sum of doubles is too near to what it is compared with")


def _spread_of_column(rows: pa.Table, expression: exp.Expr) -> FloatArray | None:
    name = plain_identifier(expression)
    return spread_of(rows, name) if name in rounded_in(rows) and name is not None else None


def check_order(rows: pa.Table, keys: Sequence[exp.Expr], order: IntegerArray, boundaries: Iterable[int]) -> None:
    """Check that which rows come before some places of an order does not depend on rounding.

    Args:
        order: places of the rows as they are sorted.

    Raises NotEvaluable.
    """
    rounded = rounded_in(rows)
    if not any(identifiers(key) & rounded for key in keys):
        return
    for boundary in boundaries:
        if 0 < boundary < len(order):
            pair = rows.take(pa.array(order[boundary - 1 : boundary + 1]))
            _check_pair(rows, pair, keys)


def check_apart_in_order(rows: pa.Table, keys: Sequence[exp.Expr], places: IntegerArray, is_first: BooleanArray) -> None:
    """Check that no two rows that follow each other may have another order, or tie, for rounding.

    Args:
        places: of the rows as they are sorted.
        is_first: which of those have another partition than the row before.

    Raises NotEvaluable.
    """
    read = [key for key in keys if identifiers(key) & rounded_in(rows)]
    if not read:
        return
    name = plain_identifier(read[0])
    if len(keys) > 1 or name is None:
        raise NotEvaluable("a window in an order by several keys, or an expression, over sums of doubles")
    values = one_array(rows.column(name)).take(pa.array(places))
    numbers = values.fill_null(np.nan).to_numpy(zero_copy_only=False)
    spread = spread_of(rows, name)[places]
    nearer = np.abs(np.diff(numbers)) <= (spread[1:] + spread[:-1]) * _SLACK
    if np.any(nearer & (spread[1:] + spread[:-1] > 0) & ~is_first[1:]):
        raise NotEvaluable("sums of doubles that are too near to each other in the order of a window")


def _check_pair(rows: pa.Table, pair: pa.Table, keys: Sequence[exp.Expr]) -> None:
    for key in keys:
        values = value_of(pair, key)
        name = plain_identifier(key)
        if not identifiers(key) & rounded_in(rows):
            if values[0] != values[1]:
                return
        elif name is None:
            raise NotEvaluable("an order by an expression over a sum of doubles")
        elif values[0].is_valid != values[1].is_valid:
            return
        elif values[0].is_valid:
            # Any row may have the widest spread.
            if abs(values[0].as_py() - values[1].as_py()) > 2 * spread_of(rows, name).max() * _SLACK:
                return
            raise NotEvaluable("sums of doubles are too near to each other where a LIMIT ends")
