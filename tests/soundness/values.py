"""Expressions of the attack's queries over one row, by SQL's NULL and three-valued logic: the innermost part of the interpreter."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from sqlglot import exp

Value: TypeAlias = int | Fraction | bool | None
Row: TypeAlias = dict[str, Value]


def value(node: exp.Expr, row: Row) -> Value:
    """Compute an expression with SQL's NULL and three-valued logic."""
    match node:
        case exp.Paren():
            return value(node.this, row)
        case exp.Column():
            return row[node.name]
        case exp.Literal():
            return int(str(node.this))
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(node.this)
        case exp.Neg():
            inner = value(node.this, row)
            return None if inner is None else -inner
        case exp.Not():
            inner = value(node.this, row)
            return None if inner is None else not inner
        case exp.And() | exp.Or():
            return _logical(value(node.left, row), value(node.right, row), isinstance(node, exp.And))
        case exp.Is():
            return value(node.this, row) is None
        case exp.NullSafeEQ():
            return value(node.left, row) == value(node.right, row)
        case exp.In():
            return _in(value(node.this, row), [value(each, row) for each in node.expressions])
        case exp.Between():
            inner, low, high = (value(node.args[name], row) for name in ("this", "low", "high"))
            return _logical(_operated(exp.GTE, inner, low), _operated(exp.LTE, inner, high), is_and=True)
        case exp.Coalesce():
            for each in (node.this, *node.expressions):
                found = value(each, row)
                if found is not None:
                    return found
            return None
        case exp.Abs():
            inner = value(node.this, row)
            return -inner if inner is not None and inner < 0 else inner
        case exp.Case():
            for branch in node.args["ifs"]:
                if value(branch.this, row) is True:
                    return value(branch.args["true"], row)
            otherwise: exp.Expr | None = node.args.get("default")
            return None if otherwise is None else value(otherwise, row)
        case exp.If():
            return value(node.args["true"] if value(node.this, row) is True else node.args["false"], row)
        case exp.Nullif():
            found = value(node.this, row)
            return None if _operated(exp.EQ, found, value(node.expression, row)) is True else found
        case exp.Greatest():
            known = [found for each in (node.this, *node.expressions) if (found := value(each, row)) is not None]
            return max(known, default=None)
        case exp.Cast():
            return value(node.this, row)
        case exp.Like():
            return _operated(exp.Like, _text(node.this, row), _text(node.expression, row))
        case exp.EQ() if isinstance(node.left, exp.Substring):
            return _operated(exp.EQ, _text(node.left, row), _text(node.right, row))
        case exp.Binary():
            return _operated(type(node), value(node.left, row), value(node.right, row))
        case _:
            raise NotImplementedError(node.sql())


def _logical(left: Value, right: Value, is_and: bool) -> Value:
    decisive = not is_and
    if left is decisive or right is decisive:
        return decisive
    return None if left is None or right is None else not decisive


def _in(left: Value, right: list[Value]) -> Value:
    if left is None:
        return None
    return True if left in [each for each in right if each is not None] else None if None in right else False


def _text(node: exp.Expr, row: Row) -> str | None:
    """Compute an expression that is a text: a part of another, a constant, or a number as text."""
    match node:
        case exp.Substring():
            text, first, length = _text(node.this, row), *(int(str(node.args[name].this)) for name in ("start", "length"))
            return None if text is None else text[first - 1 : first - 1 + length]
        case exp.Literal():
            return str(node.this)
        case exp.Cast():
            found = value(node.this, row)
            return None if found is None else str(found)
        case _:
            raise NotImplementedError(node.sql())


def _is_like(text: str, pattern: str) -> bool:
    """Say whether a text has the form of a pattern in which ``%`` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("%"))), text) is not None


_OPERATIONS: dict[type[exp.Expr], Callable[[Any, Any], Value]] = {
    exp.Like: _is_like,
    exp.Add: lambda one, other: one + other,
    exp.Sub: lambda one, other: one - other,
    exp.Mul: lambda one, other: one * other,
    exp.Div: lambda one, other: Fraction(one) / other,
    exp.Mod: lambda one, other: None if other == 0 else int(math.fmod(one, other)),
    exp.IntDiv: lambda one, other: None if other == 0 else int(Fraction(one, other)),
    exp.EQ: lambda one, other: one == other,
    exp.NEQ: lambda one, other: one != other,
    exp.GT: lambda one, other: one > other,
    exp.GTE: lambda one, other: one >= other,
    exp.LT: lambda one, other: one < other,
    exp.LTE: lambda one, other: one <= other,
}


def _operated(operation: type[exp.Expr], left: Value | str, right: Value | str) -> Value:
    if left is None or right is None:
        return None
    return _OPERATIONS[operation](left, right)
