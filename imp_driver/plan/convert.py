"""Parsed expressions -> those that the operators evaluate: exactly as Spark would, or Opaque."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.nodes import (
    And,
    Arithmetic,
    Case,
    Coalesce,
    Column,
    Comparison,
    Constant,
    DatePart,
    Expression,
    IsNull,
    Like,
    Not,
    Opaque,
    Or,
    Value,
)
from imp_driver.parse.statement import DIALECT


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
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def convert(node: exp.Expr, leaf: Callable[[exp.Expr], Expression | None]) -> Expression:
    """Convert what the operators evaluate; anything else becomes Opaque."""
    found = leaf(node) or constant(node)
    if found is not None:
        return found
    if isinstance(node, exp.Paren):
        return convert(node.this, leaf)
    if isinstance(node, exp.Not):
        return Not(convert(node.this, leaf))
    if isinstance(node, exp.And):
        return And((convert(node.left, leaf), convert(node.right, leaf)))
    if isinstance(node, exp.Or):
        return Or((convert(node.left, leaf), convert(node.right, leaf)))
    if type(node) in _COMPARISONS and isinstance(node, exp.Binary):
        return Comparison(_COMPARISONS[type(node)], convert(node.left, leaf), convert(node.right, leaf))
    if type(node) in _ARITHMETIC and isinstance(node, exp.Binary):
        return Arithmetic(_ARITHMETIC[type(node)], convert(node.left, leaf), convert(node.right, leaf))
    return _convert_compound(node, leaf)


def _convert_compound(node: exp.Expr, leaf: Callable[[exp.Expr], Expression | None]) -> Expression:
    if isinstance(node, exp.Neg):
        return Arithmetic("-", Constant(0), convert(node.this, leaf))
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        value = convert(node.this, leaf)
        return And((Comparison(">=", value, convert(node.args["low"], leaf)), Comparison("<=", value, convert(node.args["high"], leaf))))
    if isinstance(node, exp.In) and node.expressions and not any(node.args.get(name) for name in ("query", "unnest", "field")):
        value = convert(node.this, leaf)
        return Or(tuple(Comparison("=", value, convert(each, leaf)) for each in node.expressions))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return IsNull(convert(node.this, leaf))
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
        case exp.Year() | exp.Month() | exp.Day():
            inner = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
            return DatePart(node.key, convert(inner, leaf))
        case exp.Extract() if str(node.this.name).lower() in ("year", "month", "day"):
            return DatePart(str(node.this.name).lower(), convert(node.expression, leaf))
        case _:
            return None


def _case(node: exp.Case, leaf: Callable[[exp.Expr], Expression | None]) -> Expression:
    branches = []
    for each in node.args["ifs"]:
        when = convert(each.this, leaf)
        condition = when if node.this is None else Comparison("=", convert(node.this, leaf), when)
        branches.append((condition, convert(each.args["true"], leaf)))
    default = node.args.get("default")
    return Case(tuple(branches), None if default is None else convert(default, leaf))


def constant(node: exp.Expr) -> Constant | None:
    """Read a literal of an exact type; text that Spark would interpret by session settings is left to Spark."""
    if isinstance(node, exp.Paren):
        return constant(node.this)
    if isinstance(node, exp.Null):
        return Constant(None)
    if isinstance(node, exp.Boolean):
        return Constant(bool(node.this))
    if isinstance(node, exp.Neg):
        inner = constant(node.this)
        negative = inner is not None and isinstance(inner.value, (int, float, Decimal)) and not isinstance(inner.value, bool)
        return Constant(-inner.value) if negative else None  # type: ignore[union-attr,operator]
    if isinstance(node, exp.Literal):
        return Constant(str(node.this)) if node.is_string else _number(str(node.this))
    return _cast_constant(node) if isinstance(node, exp.Cast) else None


def _number(text: str) -> Constant | None:
    if text.isdigit():
        return Constant(int(text))
    try:
        return Constant(float(text)) if "e" in text.lower() else Constant(Decimal(text))
    except (ValueError, ArithmeticError):
        return None


def _cast_constant(node: exp.Cast) -> Constant | None:
    inner = constant(node.this)
    if inner is None or inner.value is None:
        return None
    value: Value = inner.value
    try:
        match node.to.this:
            case exp.DType.DOUBLE:
                return Constant(float(value)) if isinstance(value, (int, Decimal, float, str)) else None
            case exp.DType.INT | exp.DType.BIGINT | exp.DType.SMALLINT | exp.DType.TINYINT:
                return Constant(value) if isinstance(value, int) else None
            case exp.DType.DECIMAL:
                return Constant(Decimal(value)) if isinstance(value, str) else None
            case exp.DType.DATE:
                return Constant(datetime.date.fromisoformat(value)) if isinstance(value, str) and len(value) == 10 else None
            case exp.DType.TIMESTAMP | exp.DType.TIMESTAMPTZ | exp.DType.TIMESTAMPLTZ:
                instant = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
                return Constant(instant) if instant is not None and instant.tzinfo is not None else None
            case exp.DType.TIMESTAMPNTZ:
                local = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
                return Constant(local) if local is not None and local.tzinfo is None else None
    except (ValueError, ArithmeticError):
        return None
    return None
