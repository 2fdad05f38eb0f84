"""The one difference between values that are equal to GROUP BY: -0.0, which Spark writes as such and groups as 0.0."""

from __future__ import annotations

from sqlglot import exp

NAME = "is_minus_zero"
"""Of the function that stands for it among expressions."""
_TEXT = "-0.0"


def minus_zeros(value: exp.Expr) -> exp.Count:
    """Return the aggregate that counts the rows in which a double is -0.0."""
    is_minus = exp.EQ(this=exp.cast(value, exp.DType.TEXT), expression=exp.Literal.string(_TEXT))
    return exp.Count(this=exp.Case(ifs=[exp.If(this=is_minus, true=exp.Literal.number(1))]))


def minus_zero_of(node: exp.Expr) -> exp.Expr | None:
    """Return the value of which an expression asks whether it is -0.0."""
    if not isinstance(node, exp.EQ) or not isinstance(node.left, exp.Cast) or node.left.to.this is not exp.DType.TEXT:
        return None
    is_asked = isinstance(node.right, exp.Literal) and node.right.is_string and node.right.this == _TEXT
    found: exp.Expr = node.left.this
    return found if is_asked else None
