"""Sums over pairs of rows that are never made: where Spark, which makes them, could overflow on its way, they are left to it.

Spark adds the columns of each pair in their own type, and raises or wraps where that is too narrow; so it does with the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from imp_driver.values.decimal_types import MOST_DIGITS, summed_type

OVERFLOWS = "may_overflow"
"""Marks a value that is Spark's own to compute from the tables, in some cases."""
_LONG, _LARGEST = 64, 2**63 - 1
_EXACT_IN_DOUBLE = 32
"""Bits of an integer that a double has exactly."""


class Side(Protocol):
    """Some tables, of whose rows aggregates are asked."""

    def asked(self, function: exp.Expr) -> exp.Expr: ...


def adds_exactly(kind: pa.DataType, operand: pa.DataType) -> bool:
    """Say whether an operand has all of its digits in the type of a sum or difference."""
    if pa.types.is_float64(kind):
        return bool(pa.types.is_float64(operand) or (pa.types.is_signed_integer(operand) and operand.bit_width <= _EXACT_IN_DOUBLE))
    if pa.types.is_signed_integer(kind):
        return bool(pa.types.is_signed_integer(operand))
    if not pa.types.is_decimal(kind) or kind.precision == MOST_DIGITS:
        # At the most digits Spark may have cut some off.
        return False
    return bool(pa.types.is_signed_integer(operand) or (pa.types.is_decimal(operand) and operand.scale <= kind.scale))


def guarded(
    total: exp.Expr, kind: pa.DataType, sides: Sequence[Side], terms: Mapping[int, exp.Expr], counts: Sequence[exp.Expr], width: int
) -> exp.Expr:
    """Return a sum, which is evaluated where no addition of a pair, and no sum of some of these, leaves its type.

    Args:
        terms: what is added of the sides, by their places.
        counts: of the rows of each side that count.
        width: bits of the narrowest type in which the terms of a pair are added.
    """
    if pa.types.is_float64(kind):
        return total
    pairs = product_of(map(_wide, counts))
    if pa.types.is_decimal(kind):
        conditions = [_at_most(pairs, 10 ** (summed_type(kind).precision - kind.precision))]
    elif width < _LONG:
        most = _sum(_largest(sides[place], term) for place, term in terms.items())
        conditions = [_at_most(most, 2 ** (width - 1) - 1), _at_most(product_of([most, pairs]), _LARGEST)]
    else:
        sums = {place: _wide(sides[place].asked(exp.Sum(this=exp.Abs(this=term.copy())))) for place, term in terms.items()}
        conditions = [_at_most(_sum(product_of([each, *map(_wide, others(counts, place))]) for place, each in sums.items()), _LARGEST)]
    marked = exp.IntDiv(this=exp.Literal.number(1), expression=exp.Literal.number(0))
    found = exp.Case(ifs=[exp.If(this=exp.and_(*conditions), true=total)], default=exp.cast(marked, _type_of(kind)))
    found.meta[OVERFLOWS] = True
    return found


def _type_of(kind: pa.DataType) -> exp.DataType:
    return exp.DataType.build(f"DECIMAL({kind.precision}, {kind.scale})" if pa.types.is_decimal(kind) else "BIGINT", dialect="spark")


def _largest(side: Side, term: exp.Expr) -> exp.Expr:
    ends = [exp.Abs(this=_wide(side.asked(function(this=term.copy())))) for function in (exp.Max, exp.Min)]
    return exp.Greatest(this=ends[0], expressions=[ends[1]], ignore_nulls=True)


def _wide(value: exp.Expr) -> exp.Expr:
    return exp.cast(value.copy(), exp.DataType.build("DECIMAL(38, 0)", dialect="spark"))


def others(counts: Sequence[exp.Expr], place: int) -> list[exp.Expr]:
    """Return the counts of all sides but one."""
    return [count for other, count in enumerate(counts) if other != place]


def product_of(factors: Iterable[exp.Expr]) -> exp.Expr:
    """Return a product, in brackets."""
    return exp.Paren(this=reduce(lambda one, other: exp.Mul(this=one, expression=other), [each.copy() for each in factors]))


def _sum(values: Iterable[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=reduce(lambda one, other: exp.Add(this=one, expression=other), [each.copy() for each in values]))


def _at_most(value: exp.Expr, limit: int) -> exp.Expr:
    return exp.LTE(this=value.copy(), expression=_wide(exp.Literal.string(str(limit))))
