"""Coarse kinds of expressions. Within one kind Spark compares values by their own order; across kinds it converts first.

A conversion need not keep the order ('9' and '10' as text and as numbers), so nothing monotone is proven across kinds.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from imp_driver.values.types import arrow_type
from imp_driver.values.widening import is_number

NUMBER = "number"
_CASTS = {
    exp.DType.TINYINT: NUMBER,
    exp.DType.SMALLINT: NUMBER,
    exp.DType.INT: NUMBER,
    exp.DType.BIGINT: NUMBER,
    exp.DType.FLOAT: NUMBER,
    exp.DType.DOUBLE: NUMBER,
    exp.DType.DECIMAL: NUMBER,
    exp.DType.DATE: "date",
}
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
_COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.Sum, exp.Avg, exp.RowNumber, exp.Rank, exp.DenseRank)


def kind_of_type(type_name: str | None) -> str | None:
    """Return the kind of a Delta type; None for types without an order of their own here."""
    arrow = None if type_name is None else arrow_type(type_name)
    if arrow is None:
        return None
    return NUMBER if is_number(arrow) else type_name


def kind_of(expression: exp.Expr, kinds: Mapping[str, str | None]) -> str | None:
    """Return the kind of an expression over attributes of known kinds."""
    match expression:
        case exp.Paren() | exp.Filter() | exp.Window():
            return kind_of(expression.this, kinds)
        case exp.Column():
            return kinds.get(expression.name)
        case exp.Literal():
            return "string" if expression.is_string else NUMBER
        case exp.Neg() | exp.Abs():
            return NUMBER if kind_of(expression.this, kinds) == NUMBER else None
        case exp.Cast():
            return _CASTS.get(expression.to.this)
        case exp.Min() | exp.Max():
            return None if expression.args.get("expressions") else kind_of(expression.this, kinds)
        case _ if isinstance(expression, _COUNTS):
            return NUMBER
        case exp.Binary() if isinstance(expression, _ARITHMETIC):
            both = {kind_of(expression.left, kinds), kind_of(expression.right, kinds)}
            return NUMBER if both == {NUMBER} else None
        case _:
            return None
