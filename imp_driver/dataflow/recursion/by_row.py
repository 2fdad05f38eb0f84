"""Values of simple expressions one row at a time: a small change of a recursion has a few rows a round, for which columns cost more.

Integers, doubles and texts as ``answer/recursion/convert.py`` has them. What is not simple, or not known to be the same, has no such form.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.values.codes import is_string
from imp_driver.values.expressions import And, Arithmetic, Cast, Column, Comparison, Constant, Expression, Function, IsNull, Not, Or
from imp_driver.values.result_types import type_of

ByRow: TypeAlias = Callable[[Row], Any]
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def by_row(expression: Expression, schema: pa.Schema) -> ByRow | None:
    """Return what gives an expression's value for a row of these columns; None where only columns of values have it."""
    types = {field.name: field.type for field in schema}
    kind = type_of(expression, types)
    if kind is None:
        return None
    match expression:
        case Column(name):
            place = schema.get_field_index(name)
            return lambda row: row[place]
        case Constant(value):
            plain = isinstance(value, (int, str)) and not isinstance(value, bool)
            return (lambda row: value) if plain else None
        case Arithmetic(symbol, left, right) if symbol in _ARITHMETIC:
            return _arithmetic(symbol, by_row(left, schema), by_row(right, schema), kind, [type_of(each, types) for each in (left, right)])
        case Comparison(symbol, left, right) if symbol in _COMPARISONS:
            kinds = [type_of(each, types) for each in (left, right)]
            are_alike = all(map(_is_integer, kinds)) or all(each is not None and is_string(each) for each in kinds)
            return _of_both(_COMPARISONS[symbol], by_row(left, schema), by_row(right, schema)) if are_alike else None
        case And(operands) | Or(operands):
            return _joined([by_row(each, schema) for each in operands], decides=isinstance(expression, Or))
        case Not(operand):
            return _of_one(operator.not_, by_row(operand, schema))
        case IsNull(operand):
            inner = by_row(operand, schema)
            return None if inner is None else lambda row: inner(row) is None
        case Cast(operand, to) if is_string(to) and _is_integer(type_of(operand, types)):
            return _of_one(str, by_row(operand, schema))
        case Function("concat", operands):
            return _concatenated([by_row(each, schema) for each in operands])
        case Function("least" | "greatest" as name, operands) if all(_is_integer(type_of(each, types)) for each in operands):
            return _extreme(min if name == "least" else max, [by_row(each, schema) for each in operands])
        case _:
            return None


def _is_integer(kind: pa.DataType | None) -> bool:
    return kind is not None and bool(pa.types.is_signed_integer(kind))


def _of_one(function: Callable[[Any], Any], operand: ByRow | None) -> ByRow | None:
    if operand is None:
        return None

    def value(row: Row) -> Any:
        found = operand(row)
        return None if found is None else function(found)

    return value


def _of_both(function: Callable[[Any, Any], Any], left: ByRow | None, right: ByRow | None) -> ByRow | None:
    if left is None or right is None:
        return None

    def value(row: Row) -> Any:
        one, other = left(row), right(row)
        return None if one is None or other is None else function(one, other)

    return value


def _arithmetic(symbol: str, left: ByRow | None, right: ByRow | None, kind: pa.DataType, kinds: list[pa.DataType | None]) -> ByRow | None:
    function = _ARITHMETIC[symbol]
    if pa.types.is_float64(kind) and all(each is not None and pa.types.is_float64(each) for each in kinds):
        # Minus zero is zero among rows, and there is one NaN.
        return _of_both(lambda one, other: math.nan if (found := function(one, other)) != found else found + 0.0, left, right)
    if not (_is_integer(kind) and all(map(_is_integer, kinds))):
        return None
    most = 1 << (kind.bit_width - 1)

    def checked(one: int, other: int) -> int:
        found: int = function(one, other)
        if not -most <= found < most:
            raise NotEvaluable("arithmetic overflows")
        return found

    return _of_both(checked, left, right)


def _joined(operands: list[ByRow | None], *, decides: bool) -> ByRow | None:
    """Return AND or OR, which one operand ``decides``; else one that is unknown leaves it unknown."""
    known = [each for each in operands if each is not None]
    if len(known) < len(operands):
        return None

    def value(row: Row) -> bool | None:
        is_unknown = False
        for each in known:
            found: bool | None = each(row)
            if found is decides:
                return decides
            is_unknown |= found is None
        return None if is_unknown else not decides

    return value


def _concatenated(operands: list[ByRow | None]) -> ByRow | None:
    known = [each for each in operands if each is not None]
    if len(known) < len(operands):
        return None

    def value(row: Row) -> str | None:
        found = [each(row) for each in known]
        return None if None in found else "".join(found)

    return value


def _extreme(function: Callable[[list[int]], int], operands: list[ByRow | None]) -> ByRow | None:
    known = [each for each in operands if each is not None]
    if len(known) < len(operands):
        return None

    def value(row: Row) -> int | None:
        found = [each for each in (operand(row) for operand in known) if each is not None]
        return function(found) if found else None

    return value
