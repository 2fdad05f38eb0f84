"""The types of simple expressions over columns, as Arrow types.

Rules are Spark's: widening of integers, precision of decimal arithmetic (no result beyond 38 digits is claimed), doubles win.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from imp_driver.values.widening import INTEGER_DIGITS, common_type, is_number

_CASTS: dict[exp.DType, pa.DataType] = {
    exp.DType.TINYINT: pa.int8(),
    exp.DType.SMALLINT: pa.int16(),
    exp.DType.INT: pa.int32(),
    exp.DType.BIGINT: pa.int64(),
    exp.DType.FLOAT: pa.float32(),
    exp.DType.DOUBLE: pa.float64(),
}
_DATE_PARTS = ("year", "month", "day")


def infer(node: exp.Expr, columns: dict[str, pa.DataType | None]) -> pa.DataType | None:
    """Return the type of an expression over base columns, None when it is not certain."""
    if isinstance(node, exp.Paren):
        return infer(node.this, columns)
    if isinstance(node, exp.Column):
        return columns.get(node.name)
    if isinstance(node, exp.Neg):
        return _literal_type(node.this, "-") if isinstance(node.this, exp.Literal) else infer(node.this, columns)
    if isinstance(node, exp.Cast):
        return _CASTS.get(node.to.this)
    if isinstance(node, exp.Literal):
        return _literal_type(node)
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul)):
        return _arithmetic(node, columns)
    if isinstance(node, exp.Div):
        both = [infer(each, columns) for each in (node.left, node.right)]
        exact = all(kind is not None and is_number(kind) and not pa.types.is_decimal(kind) for kind in both)
        return pa.float64() if exact else None
    if isinstance(node, (exp.Year, exp.Month, exp.Day)) or (isinstance(node, exp.Extract) and node.this.name.lower() in _DATE_PARTS):
        return pa.int32()
    values = values_of(node)
    kinds = [pa.null() if isinstance(value, exp.Null) else infer(value, columns) for value in values]
    known = [kind for kind in kinds if kind is not None]
    return common_type(known) if values and len(known) == len(kinds) else None


def values_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the values that CASE, IF, COALESCE or NULLIF chooses from; none for another expression."""
    if isinstance(node, exp.Case):
        default = node.args.get("default")
        return [*(each.args["true"] for each in node.args["ifs"]), exp.Null() if default is None else default]
    if isinstance(node, exp.If):
        return [node.args["true"], node.args.get("false") or exp.Null()]
    if isinstance(node, exp.Coalesce):
        return [node.this, *node.expressions]
    if isinstance(node, exp.Nullif):
        return [node.this]
    return []


def _literal_type(node: exp.Literal, sign: str = "") -> pa.DataType | None:
    """Return the type of a literal with its sign, which Spark reads as one: the least number of a type has no positive one in it."""
    if node.is_string:
        return None if sign else pa.string()
    text = str(node.this)
    if text.isdigit():
        return next((kind for kind in (pa.int32(), pa.int64()) if _fits(int(sign + text), kind)), None)
    if "e" in text.lower():
        return pa.float64()
    return _decimal_of(Decimal(text))


def _fits(value: int, kind: pa.DataType) -> bool:
    most = 1 << (int(kind.bit_width) - 1)
    return -most <= value < most


def _decimal_of(value: Decimal) -> pa.DataType:
    digits, exponent = len(value.as_tuple().digits), value.as_tuple().exponent
    scale = max(0, -exponent) if isinstance(exponent, int) else 0
    return pa.decimal128(max(digits, scale, 1), scale)


def _arithmetic(node: exp.Binary, columns: dict[str, pa.DataType | None]) -> pa.DataType | None:
    left, right = infer(node.left, columns), infer(node.right, columns)
    if left is None or right is None:
        return None
    if pa.types.is_integer(left) and pa.types.is_integer(right):
        return left if left.bit_width >= right.bit_width else right
    if pa.types.is_float64(left) or pa.types.is_float64(right):
        return pa.float64() if is_number(left) and is_number(right) else None
    first, second = _as_decimal(node.left, left), _as_decimal(node.right, right)
    if first is None or second is None:
        return None
    if isinstance(node, exp.Mul):
        precision, scale = first.precision + second.precision + 1, first.scale + second.scale
    else:
        scale = max(first.scale, second.scale)
        precision = max(first.precision - first.scale, second.precision - second.scale) + scale + 1
    return pa.decimal128(precision, scale) if precision <= 38 else None


def _as_decimal(node: exp.Expr, kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_decimal(kind):
        return kind
    if not pa.types.is_integer(kind):
        return None
    literal = node.unnest()
    if isinstance(literal, exp.Literal):
        return _decimal_of(Decimal(str(literal.this)))
    return pa.decimal128(INTEGER_DIGITS[kind.bit_width], 0)
