"""Bounds of expressions and conditions that stay true when a row grows back to its full self (sketch-safety rules 1.4, 1.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from imp_driver.plan.attributes import identifiers
from imp_driver.plan.kinds import NUMBER, kind_of
from imp_driver.plan.nodes import Attribute
from imp_driver.safety.intervals import interval_of
from imp_driver.safety.levels import Bound, Derived
from imp_driver.safety.setting import Setting


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of the attributes that an expression reads: their bounds, and their kinds."""

    derived: Derived
    kinds: Mapping[str, str | None]
    checks_overflow: bool

    @classmethod
    def of(cls, derived: Derived, attributes: Iterable[Attribute], setting: Setting) -> Row:
        kinds = {attribute.identifier: attribute.kind for attribute in attributes}
        return cls(derived, kinds, setting.checks_overflow)

    def is_exact(self, expression: exp.Expr) -> bool:
        return self.derived.is_exact(identifiers(expression))

    def has_monotone_arithmetic(self, expression: exp.Expr) -> bool:
        """Numbers keep their order under + - and products with constants, unless they wrap around without an error."""
        return self.checks_overflow and kind_of(expression, self.kinds) == NUMBER

    def are_alike(self, one: exp.Expr, other: exp.Expr) -> bool:
        """Say whether two expressions are compared by their own order, without a conversion."""
        kind = kind_of(one, self.kinds)
        return kind is not None and kind == kind_of(other, self.kinds)


def bound_of(expression: exp.Expr, row: Row) -> Bound:
    """Return how the value of an expression on a row of q(S) relates to its value on the row's image in q."""
    if row.is_exact(expression):
        return Bound.EQUAL
    if not isinstance(expression, (exp.Column, exp.Paren)) and not row.has_monotone_arithmetic(expression):
        return Bound.UNKNOWN
    match expression:
        case exp.Paren():
            return bound_of(expression.this, row)
        case exp.Column():
            return row.derived.bound(expression.name)
        case exp.Neg():
            return bound_of(expression.this, row).flipped
        case exp.Add():
            return bound_of(expression.left, row).joined(bound_of(expression.right, row))
        case exp.Sub():
            return bound_of(expression.left, row).joined(bound_of(expression.right, row).flipped)
        case exp.Mul():
            return _scaled(expression, row)
        case _:
            return Bound.UNKNOWN


def _scaled(expression: exp.Mul, row: Row) -> Bound:
    """A product with a constant keeps or turns the bound by the constant's sign."""
    for factor, scaled in ((expression.left, expression.right), (expression.right, expression.left)):
        if not identifiers(factor) and factor.find(exp.Placeholder) is None:
            interval = interval_of(factor, {})
            if interval.low is not None and interval.low >= Decimal(0):
                return bound_of(scaled, row)
            if interval.high is not None and interval.high <= Decimal(0):
                return bound_of(scaled, row).flipped
    return Bound.UNKNOWN


_GREATER = (exp.GT, exp.GTE)
_LESS = (exp.LT, exp.LTE)
_NOT_GREATER = (Bound.EQUAL, Bound.AT_MOST)
_NOT_LESS = (Bound.EQUAL, Bound.AT_LEAST)


def is_preserved(condition: exp.Expr, row: Row) -> bool:
    """Say whether a condition that is true for a row of q(S) is true for its image in q.

    A comparison that is true has no NULL operand, and an image of a value that is not NULL is not NULL, so NULL needs no case here.
    """
    if row.is_exact(condition):
        return True
    if isinstance(condition, (*_GREATER, *_LESS)) and not row.are_alike(condition.left, condition.right):
        return False
    match condition:
        case exp.Paren():
            return is_preserved(condition.this, row)
        case exp.And() | exp.Or():
            return is_preserved(condition.left, row) and is_preserved(condition.right, row)
        case exp.Binary() if isinstance(condition, _GREATER):
            return bound_of(condition.left, row) in _NOT_GREATER and bound_of(condition.right, row) in _NOT_LESS
        case exp.Binary() if isinstance(condition, _LESS):
            return bound_of(condition.left, row) in _NOT_LESS and bound_of(condition.right, row) in _NOT_GREATER
        case _:
            return False
