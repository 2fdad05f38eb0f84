"""Bounds of expressions and conditions that stay true when a row grows back to its full self (sketch-safety rules 1.4, 1.5)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from imp_driver.plan.attributes import identifiers
from imp_driver.safety.intervals import interval_of
from imp_driver.safety.levels import Bound

BoundOf = Callable[[str], Bound]


def bound_of(expression: exp.Expr, bound: BoundOf) -> Bound:
    """Return how the value of an expression on a row of q(S) relates to its value on the row's image in q."""
    if all(bound(each) is Bound.EQUAL for each in identifiers(expression)):
        return Bound.EQUAL
    match expression:
        case exp.Paren():
            return bound_of(expression.this, bound)
        case exp.Column():
            return bound(expression.name)
        case exp.Neg():
            return bound_of(expression.this, bound).flipped
        case exp.Add():
            return _both(bound_of(expression.left, bound), bound_of(expression.right, bound))
        case exp.Sub():
            return _both(bound_of(expression.left, bound), bound_of(expression.right, bound).flipped)
        case exp.Mul():
            return _scaled(expression, bound)
        case _:
            return Bound.UNKNOWN


def _both(one: Bound, other: Bound) -> Bound:
    if one is Bound.EQUAL or one is other:
        return other
    return one if other is Bound.EQUAL else Bound.UNKNOWN


def _scaled(expression: exp.Mul, bound: BoundOf) -> Bound:
    """A product with a constant keeps or turns the bound by the constant's sign."""
    for factor, scaled in ((expression.left, expression.right), (expression.right, expression.left)):
        if not identifiers(factor) and factor.find(exp.Placeholder) is None:
            interval = interval_of(factor, {})
            if interval.low is not None and interval.low >= Decimal(0):
                return bound_of(scaled, bound)
            if interval.high is not None and interval.high <= Decimal(0):
                return bound_of(scaled, bound).flipped
    return Bound.UNKNOWN


_GREATER = (exp.GT, exp.GTE)
_LESS = (exp.LT, exp.LTE)
_NOT_GREATER = (Bound.EQUAL, Bound.AT_MOST)
_NOT_LESS = (Bound.EQUAL, Bound.AT_LEAST)


def is_preserved(condition: exp.Expr, bound: BoundOf) -> bool:
    """Say whether a condition that is true for a row of q(S) is true for its image in q.

    A comparison that is true has no NULL operand, and an image of a value that is not NULL is not NULL, so NULL needs no case here.
    """
    if all(bound(each) is Bound.EQUAL for each in identifiers(condition)):
        return True
    match condition:
        case exp.Paren():
            return is_preserved(condition.this, bound)
        case exp.And() | exp.Or():
            return is_preserved(condition.left, bound) and is_preserved(condition.right, bound)
        case exp.Binary() if isinstance(condition, _GREATER):
            return bound_of(condition.left, bound) in _NOT_GREATER and bound_of(condition.right, bound) in _NOT_LESS
        case exp.Binary() if isinstance(condition, _LESS):
            return bound_of(condition.left, bound) in _NOT_LESS and bound_of(condition.right, bound) in _NOT_GREATER
        case _:
            return False
