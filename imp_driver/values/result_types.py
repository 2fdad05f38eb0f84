"""Spark's types of the values of expressions, as Arrow types, where they are certain."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal

import pyarrow as pa

from imp_driver.values.decimal_types import type_of_digits
from imp_driver.values.expressions import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    Constant,
    DatePart,
    Expression,
    Function,
    IsNull,
    Like,
    Not,
    Or,
    parts_of,
)
from imp_driver.values.function_types import arithmetic_type, function_type
from imp_driver.values.widening import common_type

Types = Mapping[str, pa.DataType | None]


def type_of(expression: Expression, columns: Types) -> pa.DataType | None:
    """Return the type of an expression over columns of these types, None when it is not certain."""
    match expression:
        case Column(name):
            kind = columns.get(name)
            return kind.value_type if kind is not None and pa.types.is_dictionary(kind) else kind
        case Constant():
            return constant_type(expression)
        case Arithmetic(operator, left, right):
            pair = beside(left, right, type_of(left, columns), type_of(right, columns))
            return None if pair is None else arithmetic_type(operator, *pair)
        case And() | Or() | Not() | IsNull() | Comparison() | Like():
            return pa.bool_()
        case Case(branches, default):
            return _common((*(then for _, then in branches), Constant(None) if default is None else default), columns)
        case Coalesce(operands):
            return _common(operands, columns)
        case DatePart():
            return pa.int32()
        case Cast(_, kind):
            return kind
        case Function(name, operands, arguments):
            kinds = _types(operands, columns)
            known = beside(*operands, *kinds) if name == "pmod" else tuple(kind for kind in kinds if kind is not None)
            return function_type(name, known, arguments) if known is not None and len(known) == len(operands) else None
        case _:
            return None


def constant_type(constant: Constant) -> pa.DataType | None:
    """Return the type of a constant, None for a decimal of which only the value is certain."""
    value = constant.value
    if constant.kind is not None:
        return constant.kind
    if value is None:
        return pa.null()
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int):
        return next((kind for kind in (pa.int32(), pa.int64()) if _fits(value, kind)), None)
    if isinstance(value, datetime.datetime):
        return pa.timestamp("us", None if value.tzinfo is None else "UTC")
    return next((kind for known, kind in _PLAIN if isinstance(value, known)), None)


_PLAIN = ((float, pa.float64()), (str, pa.string()), (datetime.date, pa.date32()))


def beside(
    left: Expression, right: Expression, left_type: pa.DataType | None, right_type: pa.DataType | None
) -> tuple[pa.DataType, pa.DataType] | None:
    """Return the types in which two operands meet: an integer literal beside a decimal is one of just its digits.

    Source: DecimalPrecision (literals: DecimalType.fromLiteral). None where a type is not certain.
    """
    if left_type is None or right_type is None:
        return None
    first, second = _literal(left, left_type, right_type), _literal(right, right_type, left_type)
    return None if first is None or second is None else (first, second)


def _literal(expression: Expression, kind: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    if not (isinstance(expression, Constant) and not expression.is_computed and pa.types.is_integer(kind) and pa.types.is_decimal(other)):
        return kind
    # 1L is a literal, CAST(1 AS BIGINT) is none, and they are read as the same.
    return None if expression.kind is not None else type_of_digits(Decimal(str(expression.value)))


def has_uncertain_decimal(expression: Expression) -> bool:
    """Say whether a decimal constant has a part whose type is not certain."""
    if isinstance(expression, Constant):
        return isinstance(expression.value, Decimal) and expression.kind is None
    return any(map(has_uncertain_decimal, parts_of(expression)))


def _common(operands: tuple[Expression, ...], columns: Types) -> pa.DataType | None:
    kinds = [kind for kind in _types(operands, columns) if kind is not None]
    return common_type(kinds) if len(kinds) == len(operands) else None


def _types(operands: tuple[Expression, ...], columns: Types) -> tuple[pa.DataType | None, ...]:
    return tuple(type_of(each, columns) for each in operands)


def _fits(value: int, kind: pa.DataType) -> bool:
    most = 1 << (int(kind.bit_width) - 1)
    return -most <= value < most
