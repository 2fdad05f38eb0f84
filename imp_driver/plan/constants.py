"""Literals, and casts of them, as constants: where Spark gives them the value that is written, in a type that is certain."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.literals import COMPUTED
from imp_driver.values.decimal_types import type_of_digits
from imp_driver.values.expressions import Constant
from imp_driver.values.widening import least_bits


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
        # -(1) and - -1 are no literals: what they are beside a decimal is another type.
        inner = constant(node.this) if isinstance(node.this, (exp.Literal, exp.Cast)) else None
        negative = inner is not None and isinstance(inner.value, (int, float, Decimal)) and not isinstance(inner.value, bool)
        return Constant(-inner.value, inner.kind) if negative else None  # type: ignore[union-attr,operator]
    if isinstance(node, exp.Literal):
        return Constant(str(node.this)) if node.is_string else _number(str(node.this))
    return _cast_constant(node) if isinstance(node, exp.Cast) else None


def _number(text: str) -> Constant | None:
    if text.isdigit():
        return Constant(int(text))
    try:
        return Constant(float(text)) if "e" in text.lower() else _decimal(Decimal(text))
    except (ValueError, ArithmeticError):
        return None


def _decimal(value: Decimal) -> Constant | None:
    kind = type_of_digits(value)
    return None if kind is None else Constant(value, kind)


_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(rf"{_NUMBER.pattern}(?:[eE][+-]?[0-9]+)?|NaN|-?Infinity")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?")
_INTEGERS = {exp.DType.TINYINT: pa.int8(), exp.DType.SMALLINT: pa.int16(), exp.DType.INT: pa.int32(), exp.DType.BIGINT: pa.int64()}
_LOCAL = exp.DType.TIMESTAMPNTZ
_INSTANTS = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ)


def _cast_constant(node: exp.Cast) -> Constant | None:
    """Read a cast that keeps its value: one that rounds, is out of range, or reads a text of another form, is Spark's to compute."""
    inner = constant(node.this)
    if inner is None or isinstance(inner.value, bool) or node.args.get("format"):
        return None
    value, target, is_computed = inner.value, node.to.this, COMPUTED in node.meta
    if value is None and is_computed:
        return Constant(None, _INTEGERS.get(target) or decimal_type(node.to), is_computed)
    try:
        if target in _INTEGERS:
            kind = _INTEGERS[target]
            fits = isinstance(value, int) and least_bits(value) <= kind.bit_width
            return Constant(value, kind, is_computed) if fits else None
        if isinstance(value, str):
            found = _text_constant(value, node.to)
            return replace(found, kind=decimal_type(node.to), is_computed=True) if found is not None and is_computed else found
        return Constant(float(value)) if target is exp.DType.DOUBLE and isinstance(value, (int, Decimal, float)) else None
    except (ValueError, ArithmeticError):
        return None


def _text_constant(text: str, target: exp.DataType) -> Constant | None:
    match target.this:
        case exp.DType.DOUBLE if _DOUBLE.fullmatch(text):
            return Constant(float(text))
        case exp.DType.DECIMAL if _NUMBER.fullmatch(text):
            return _cast_decimal(Decimal(text), target)
        case exp.DType.DATE if _DATE.fullmatch(text):
            return Constant(datetime.date.fromisoformat(text))
        case kind if kind is _LOCAL or kind in _INSTANTS:
            found = _MOMENT.fullmatch(text)
            has_zone = found is not None and found[1] is not None
            return Constant(datetime.datetime.fromisoformat(text)) if found and has_zone is (kind is not _LOCAL) else None
    return None


def _cast_decimal(value: Decimal, target: exp.DataType) -> Constant | None:
    """Read a value of a DECIMAL, by itself DECIMAL(10, 0), that has its digits.

    A bound value is written in this way with just its own digits, and has another type to Spark: that type is not certain.
    """
    kind = decimal_type(target)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or -exponent > kind.scale or abs(value) >= Decimal(10) ** (kind.precision - kind.scale):
        return None
    return Constant(value) if kind == type_of_digits(value) else Constant(value, kind)


def decimal_type(target: exp.DataType) -> pa.Decimal128Type:
    """Return the type that DECIMAL, DECIMAL(p) or DECIMAL(p, s) means."""
    written = [int(str(each.name)) for each in target.expressions] or [10]
    return pa.decimal128(written[0], written[1] if len(written) > 1 else 0)
