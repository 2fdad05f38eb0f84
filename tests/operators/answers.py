"""Conditions evaluated over one row in plain Python: the twin of condition.py and select.py. Numbers are fractions, doubles are Python
floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from imp_driver.values.expressions import (
    AggregateReference,
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
    KeyReference,
    Like,
    Not,
    Or,
    parts_of,
)
from tests.operators.twin import NAN, canonical, rank

COLUMNS = ("small", "big", "money", "number", "text", "flag", "day")


def answer(expression: Expression, keys: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """Return Spark's value or outcome: None for NULL."""
    match expression:
        case Constant(value):
            return canonical(value)
        case KeyReference(index):
            return canonical(keys[index])
        case Column(name):
            return canonical(keys[COLUMNS.index(name)])
        case AggregateReference(index):
            return canonical(values[index])
        case Not(operand):
            outcome = answer(operand, keys, values)
            return None if outcome is None else not outcome
        case And(operands):
            return conjunction([answer(operand, keys, values) for operand in operands])
        case Or(operands):
            outcome = conjunction([negated(answer(operand, keys, values)) for operand in operands])
            return negated(outcome)
        case IsNull(operand):
            return answer(operand, keys, values) is None
        case Comparison(operator, left, right):
            return compared(operator, answer(left, keys, values), answer(right, keys, values))
        case Arithmetic(operator, left, right):
            return calculated(operator, answer(left, keys, values), answer(right, keys, values))
        case Like(operand, pattern):
            text = answer(operand, keys, values)
            return None if text is None else liked(text, pattern)
        case Case(branches, default):
            chosen = next((then for when, then in branches if answer(when, keys, values) is True), default)
            return None if chosen is None else as_branch(expression, answer(chosen, keys, values))
        case Coalesce(operands):
            found = [answer(operand, keys, values) for operand in operands]
            return as_branch(expression, next((each for each in found if each is not None), None))
        case DatePart(part, operand):
            day = answer(operand, keys, values)
            return None if day is None else getattr(day, part)
        case _:
            raise AssertionError(expression)


def liked(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(liked(text[start:], pattern[1:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and liked(text[1:], pattern[1:])


def as_branch(expression: Expression, value: Any) -> Any:
    """Where one branch is a double, all are."""
    return canonical(as_double(value)) if value is not None and not isinstance(value, str) and has_double(expression) else value


def has_double(expression: Expression) -> bool:
    match expression:
        case Constant(value):
            return isinstance(value, float)
        case Column(name):
            return name == "number"
        case Case(branches, default):
            return any(has_double(then) for _, then in branches) or (default is not None and has_double(default))
        case Coalesce() | Arithmetic():
            return (isinstance(expression, Arithmetic) and expression.operator == "/") or any(map(has_double, parts_of(expression)))
        case _:
            return False


def negated(outcome: Any) -> Any:
    return None if outcome is None else not outcome


def conjunction(outcomes: list[Any]) -> Any:
    if any(outcome is False for outcome in outcomes):
        return False
    return None if any(outcome is None for outcome in outcomes) else True


def compared(operator: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return (left is None and right is None) if operator == "<=>" else None
    left, right = matched(left, right)
    low, high = rank(left), rank(right)
    return {
        "=": low == high,
        "<=>": low == high,
        "<>": low != high,
        "<": low < high,
        "<=": low <= high,
        ">": low > high,
        ">=": low >= high,
    }[operator]


def is_double(value: Any) -> bool:
    return isinstance(value, float) or value is NAN


def as_double(value: Any) -> float:
    return math.nan if value is NAN else float(value)


def matched(left: Any, right: Any) -> tuple[Any, Any]:
    if isinstance(left, str):
        return left, right
    if is_double(left) or is_double(right):
        return canonical(as_double(left)), canonical(as_double(right))
    return Fraction(left), Fraction(right)


def calculated(operator: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if operator == "/":
        return canonical(divided(as_double(left), as_double(right)))
    operation: Callable[[Any, Any], Any] = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[operator]
    if is_double(left) or is_double(right):
        return canonical(operation(as_double(left), as_double(right)))
    return operation(Fraction(left), Fraction(right))


def divided(left: float, right: float) -> float:
    """By IEEE; zero divisors are left to Spark."""
    if math.isinf(left) and math.isinf(right):
        return math.nan
    return left / right if right else math.nan


def mixes_families(expression: Expression) -> bool:
    """Say whether Spark would cast (number with string or boolean); the twin has no rule for that."""
    match expression:
        case Comparison(_, left, right) | Arithmetic(_, left, right):
            sides = [side for side in (left, right) if side != Constant(None)]
            return len({family(side) for side in sides}) > 1 or mixes_families(left) or mixes_families(right)
        case Not(operand) | IsNull(operand):
            return mixes_families(operand)
        case And(operands) | Or(operands):
            return any(mixes_families(operand) for operand in operands)
        case Case() | Coalesce():
            return any(map(mixes_families, parts_of(expression)))
        case _:
            return False


def divides_decimals(expression: Expression) -> bool:
    """Say whether there is a quotient that is a decimal, rounded to its scale: test_functions.py has the twin of those."""
    is_decimal = (
        isinstance(expression, Arithmetic)
        and expression.operator == "/"
        and has_decimal(expression)
        and not any(map(has_double, parts_of(expression)))
    )
    return is_decimal or any(map(divides_decimals, parts_of(expression)))


def has_decimal(expression: Expression) -> bool:
    return expression == Column("money") or (
        isinstance(expression.value, Decimal) if isinstance(expression, Constant) else any(map(has_decimal, parts_of(expression)))
    )


def family(expression: Expression) -> str:
    if isinstance(expression, Constant):
        return type(expression.value).__name__ if isinstance(expression.value, (str, bool)) else "number"
    return "str" if expression in (KeyReference(1), Column("text")) else "number"
