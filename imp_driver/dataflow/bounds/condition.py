"""Evaluate a condition over groups (HAVING) to what it may be, in one vectorised pass.

In: an Expression and group values. Out: a Truth per group. Invariant: constants are looked at here and nowhere else, so the state behind
the values serves every constant of a template.
"""

from __future__ import annotations

from typing import Protocol

from imp_driver.dataflow.bounds.interval import Interval, arithmetic, constant, unknown
from imp_driver.dataflow.bounds.truth import Truth, anything, compare, conjunction, disjunction, is_null, negation, truth_of
from imp_driver.values.expressions import (
    AggregateReference,
    And,
    Arithmetic,
    Comparison,
    Constant,
    Expression,
    Function,
    IsNull,
    KeyReference,
    Not,
    Or,
)


class GroupValues(Protocol):
    """Keys and aggregates of all groups, each as an Interval of one length."""

    def key_interval(self, index: int) -> Interval: ...

    def aggregate_interval(self, index: int) -> Interval: ...


def evaluate(condition: Expression, groups: GroupValues) -> Truth:
    """Return what the condition may be for each group; one entry that broadcasts when it depends on no group."""
    match condition:
        case And(operands):
            return conjunction([evaluate(operand, groups) for operand in operands])
        case Or(operands):
            return disjunction([evaluate(operand, groups) for operand in operands])
        case Not(operand):
            return negation(evaluate(operand, groups))
        case Comparison(operator, left, right):
            return compare(operator, value(left, groups), value(right, groups))
        case IsNull(operand):
            return is_null(value(operand, groups))
        case KeyReference() | AggregateReference() | Constant():
            return truth_of(value(condition, groups))
        case _:
            return anything()


def value(expression: Expression, groups: GroupValues) -> Interval:
    """Return what the expression may be for each group."""
    match expression:
        case KeyReference(index):
            return groups.key_interval(index)
        case AggregateReference(index):
            return groups.aggregate_interval(index)
        case Constant(literal):
            return constant(literal)
        case Function("negative", (operand,)):
            return arithmetic("-", constant(0), value(operand, groups))
        case Arithmetic(operator, left, right) if operator != "%":
            return arithmetic(operator, value(left, groups), value(right, groups))
        case And() | Or() | Not() | Comparison() | IsNull():
            return evaluate(expression, groups).as_interval()
        case _:
            return unknown(1)
