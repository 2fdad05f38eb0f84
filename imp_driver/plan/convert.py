"""Parsed expressions -> those that the operators evaluate: exactly as Spark would, or Opaque."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.statement import DIALECT
from imp_driver.plan.constants import constant
from imp_driver.plan.convert_functions import function_of
from imp_driver.plan.minus_zero import NAME as MINUS_ZERO
from imp_driver.plan.minus_zero import minus_zero_of
from imp_driver.values.expressions import (
    And,
    Arithmetic,
    Case,
    Coalesce,
    Column,
    Comparison,
    Constant,
    Expression,
    Function,
    IsNull,
    Like,
    Not,
    Opaque,
    Or,
)

__all__ = ["constant", "convert", "row_expression", "whole_number"]


def whole_number(node: exp.Expr) -> int | None:
    """Return a whole number that is written down; None for anything else."""
    found = constant(node)
    value = None if found is None else found.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def row_expression(node: exp.Expr, columns: Mapping[str, pa.DataType | None]) -> Expression:
    """Convert an expression over rows with values for its markers; what only Spark can compute becomes Opaque."""

    def leaf(each: exp.Expr) -> Expression | None:
        if not isinstance(each, exp.Column):
            return None
        # A column of another type than the operators know (CHAR, which Spark pads in comparisons, say) is left to Spark.
        return Opaque(each.name) if columns.get(each.name) is None else Column(each.name)

    return convert(node, leaf)


_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}


def convert(node: exp.Expr, leaf: Callable[[exp.Expr], Expression | None]) -> Expression:
    """Convert what the operators evaluate; anything else becomes Opaque."""
    found = leaf(node) or constant(node)
    if found is not None:
        return found
    if isinstance(node, exp.Paren):
        return convert(node.this, leaf)
    if (value := minus_zero_of(node)) is not None:
        return Function(MINUS_ZERO, (convert(value, leaf),))
    if isinstance(node, exp.Not):
        return Not(convert(node.this, leaf))
    if isinstance(node, exp.And):
        return And((convert(node.left, leaf), convert(node.right, leaf)))
    if isinstance(node, exp.Or):
        return Or((convert(node.left, leaf), convert(node.right, leaf)))
    if type(node) in _COMPARISONS and isinstance(node, exp.Binary):
        return Comparison(_COMPARISONS[type(node)], convert(node.left, leaf), convert(node.right, leaf))
    if (
        type(node) in _ARITHMETIC
        and isinstance(node, exp.Binary)
        and not any(isinstance(each, exp.Interval) for each in (node.left, node.right))
    ):
        return Arithmetic(_ARITHMETIC[type(node)], convert(node.left, leaf), convert(node.right, leaf))
    return _convert_compound(node, leaf)


def _convert_compound(node: exp.Expr, leaf: Callable[[exp.Expr], Expression | None]) -> Expression:
    if isinstance(node, exp.Neg):
        return Function("negative", (convert(node.this, leaf),))
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        value = convert(node.this, leaf)
        return And((Comparison(">=", value, convert(node.args["low"], leaf)), Comparison("<=", value, convert(node.args["high"], leaf))))
    if isinstance(node, exp.In) and node.expressions and not any(node.args.get(name) for name in ("query", "unnest", "field")):
        return _member(convert(node.this, leaf), [convert(each, leaf) for each in node.expressions]) or Opaque(node.sql(dialect=DIALECT))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return IsNull(convert(node.this, leaf))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean):
        return Comparison("<=>", convert(node.this, leaf), Constant(bool(node.expression.this)))
    return _convert_function(node, leaf) or Opaque(node.sql(dialect=DIALECT))


def _convert_function(node: exp.Expr, leaf: Callable[[exp.Expr], Expression | None]) -> Expression | None:
    match node:
        case exp.Case():
            return _case(node, leaf)
        case exp.If():
            otherwise = node.args.get("false")
            branch = (convert(node.this, leaf), convert(node.args["true"], leaf))
            return Case((branch,), None if otherwise is None else convert(otherwise, leaf))
        case exp.Nullif():
            value = convert(node.this, leaf)
            return Case(((Comparison("=", value, convert(node.expression, leaf)), Constant(None)),), value)
        case exp.Coalesce():
            return Coalesce((convert(node.this, leaf), *(convert(each, leaf) for each in node.expressions)))
        case exp.Like() if isinstance(node.expression, exp.Literal) and node.expression.is_string and "\\" not in node.expression.this:
            found = Like(convert(node.this, leaf), str(node.expression.this))
            return Not(found) if node.args.get("negate") else found
        case _:
            return function_of(node, lambda each: convert(each, leaf))


def _member(value: Expression, members: list[Expression]) -> Expression | None:
    """Return what IN says; None where Spark may bring all values to one type in which others are equal than one by one."""
    numbers = {
        type(each.value) is float for each in members if isinstance(each, Constant) and isinstance(each.value, (int, float, Decimal))
    }
    return Or(tuple(Comparison("=", value, each) for each in members)) if len(numbers) < 2 else None


def _case(node: exp.Case, leaf: Callable[[exp.Expr], Expression | None]) -> Expression:
    branches = []
    for each in node.args["ifs"]:
        when = convert(each.this, leaf)
        condition = when if node.this is None else Comparison("=", convert(node.this, leaf), when)
        branches.append((condition, convert(each.args["true"], leaf)))
    default = node.args.get("default")
    return Case(tuple(branches), None if default is None else convert(default, leaf))
