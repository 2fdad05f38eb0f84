"""Arithmetic of section 17.3, and rounding of section 17.4.4: exact on integers and decimals, IEEE 754 on floats and doubles.

A result has the type that both operands are promoted to; a quotient of integers is a decimal (XPath functions 2.0, section 6.2).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Context, Decimal
from typing import Any, Final

from imp_driver.sparql.functions.numerals import EXACT, MOST_DIGITS, RANKS, Number, Single, promoted, single, without_sign_of_zero

_DIGITS: Final = 28
_FRACTION: Final = 18
_SMALL: Final = 1 << 64
_HALF: Final = Decimal("0.5")
_MOST_BITS: Final = int(MOST_DIGITS * math.log2(10))

_DECIMALS: Final[Mapping[str, Callable[[Decimal, Decimal], Decimal]]] = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}
_OTHERS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def computed(symbol: str, first: Number, second: Number) -> Number | None:
    """Return ``first + second``, or of ``- * /``; None where it is an error: a division by zero, or an integer of too many digits."""
    rank = max(RANKS[type(first)], RANKS[type(second)], 1 if symbol == "/" else 0)
    one, other = promoted(first, rank), promoted(second, rank)
    if symbol == "/":
        return quotient(one, other)
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return without_sign_of_zero(_DECIMALS[symbol](one, other))
    found: Number = _OTHERS[symbol](one, other)
    if rank == 2:
        return single(float(found))
    return None if isinstance(found, int) and found.bit_length() > _MOST_BITS else found


def operation(symbol: str) -> Callable[[Number, Number], Number | None]:
    """Return ``computed`` for one of ``+ - * /``, two integers first."""
    if symbol == "/":
        return lambda first, second: computed("/", first, second)
    of_integers = _OTHERS[symbol]

    def compute(first: Number, second: Number) -> Number | None:
        if type(first) is int and type(second) is int:
            found: int = of_integers(first, second)
            return found if -_SMALL < found < _SMALL else computed(symbol, first, second)
        return computed(symbol, first, second)

    return compute


def quotient(one: Number, other: Number) -> Number | None:
    """Return a quotient of two decimals, floats or doubles; None for a decimal divided by zero.

    That of decimals has 28 digits, and 18 behind the point where it needs them; XPath asks for 18 in all.
    """
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        if not other:
            return None
        whole = max(one.adjusted() - other.adjusted() + 1, 0)
        return without_sign_of_zero(Context(prec=max(_DIGITS, whole + _FRACTION)).divide(one, other))
    dividend, divisor = float(one), float(other)
    if divisor:
        found = dividend / divisor
    elif dividend == 0 or math.isnan(dividend):
        found = math.nan
    else:
        found = math.copysign(math.inf, dividend) * math.copysign(1, divisor)
    return single(found) if isinstance(one, Single) else found


def negated(number: Number) -> Number:
    if isinstance(number, Decimal):
        return without_sign_of_zero(number.copy_negate())
    return Single(-number) if isinstance(number, Single) else -number


def absolute(number: Number) -> Number:
    if isinstance(number, Decimal):
        return number.copy_abs()
    return Single(abs(number)) if isinstance(number, Single) else abs(number)


def floor(number: Number) -> Number:
    return _rounded(number, ROUND_FLOOR)


def ceiling(number: Number) -> Number:
    return _rounded(number, ROUND_CEILING)


def nearest(number: Number) -> Number:
    """Return the nearest whole number; of two that are as near, the one toward positive infinity (XPath functions 2.0, section 6.4.4)."""
    if isinstance(number, int):
        return number
    if isinstance(number, Decimal):
        return without_sign_of_zero(EXACT.add(number, _HALF).to_integral_value(ROUND_FLOOR))
    return _of_double(number, nearest)


def truncated(number: Number) -> int | None:
    """Return a number as an integer, its fraction cut off; None of what is not finite, or has too many digits."""
    if isinstance(number, float):
        return int(number) if math.isfinite(number) else None
    if isinstance(number, Decimal):
        return None if number.adjusted() >= MOST_DIGITS else int(number.to_integral_value(ROUND_DOWN))
    return number


def _rounded(number: Number, rounding: str) -> Number:
    if isinstance(number, int):
        return number
    if isinstance(number, Decimal):
        return without_sign_of_zero(number.to_integral_value(rounding))
    return _of_double(number, lambda exact: exact.to_integral_value(rounding))


def _of_double(number: float, rounded: Callable[[Decimal], Number]) -> float:
    """Return a rounded double or float: what is not finite, and the sign of a zero, stay."""
    if not math.isfinite(number) or number == 0:
        return number
    found = math.copysign(float(rounded(Decimal(number))), number)
    return Single(found) if isinstance(number, Single) else found
