"""Parsed expressions -> those that the operators evaluate: exactly as Spark would, or Opaque."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.statement import DIALECT
from imp_driver.values.expressions import (
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
)
from imp_driver.values.widening import least_bits


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
        if isinstance(node.this, exp.Cast) and isinstance(node.this.this, exp.Literal) and not node.this.this.is_string:
            # -128Y: 128 itself is beyond its type.
            return _cast_constant(exp.Cast(this=exp.Neg(this=node.this.this), to=node.this.to))
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


_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(rf"{_NUMBER.pattern}(?:[eE][+-]?[0-9]+)?|NaN|-?Infinity")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?")
_BITS = {exp.DType.TINYINT: 8, exp.DType.SMALLINT: 16, exp.DType.INT: 32, exp.DType.BIGINT: 64}
_LOCAL = exp.DType.TIMESTAMPNTZ
_INSTANTS = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ)


def _cast_constant(node: exp.Cast) -> Constant | None:
    """Read a cast that keeps its value: one that rounds, is out of range, or reads a text of another form, is Spark's to compute."""
    inner = constant(node.this)
    if inner is None or isinstance(inner.value, bool) or node.args.get("format"):
        return None
    value, target = inner.value, node.to.this
    try:
        if target in _BITS:
            return inner if isinstance(value, int) and least_bits(value) <= _BITS[target] else None
        if isinstance(value, str):
            return _text_constant(value, node.to)
        return Constant(float(value)) if target is exp.DType.DOUBLE and isinstance(value, (int, Decimal, float)) else None
    except (ValueError, ArithmeticError):
        return None


def _text_constant(text: str, target: exp.DataType) -> Constant | None:
    match target.this:
        case exp.DType.DOUBLE if _DOUBLE.fullmatch(text):
            return Constant(float(text))
        case exp.DType.DECIMAL if _NUMBER.fullmatch(text) and _holds(target, Decimal(text)):
            return Constant(Decimal(text))
        case exp.DType.DATE if _DATE.fullmatch(text):
            return Constant(datetime.date.fromisoformat(text))
        case kind if kind is _LOCAL or kind in _INSTANTS:
            found = _MOMENT.fullmatch(text)
            has_zone = found is not None and found[1] is not None
            return Constant(datetime.datetime.fromisoformat(text)) if found and has_zone is (kind is not _LOCAL) else None
    return None


def _holds(target: exp.DataType, value: Decimal) -> bool:
    """Say whether a DECIMAL, by itself DECIMAL(10, 0), has the digits of a value."""
    written = [int(str(each.name)) for each in target.expressions] or [10]
    precision, scale = written[0], written[1] if len(written) > 1 else 0
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and -exponent <= scale and abs(value) < Decimal(10) ** (precision - scale)
