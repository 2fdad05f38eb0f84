"""Numbers of XML Schema: from lexical forms to Python's numbers and back, and the one type that two of them are brought to.

An xsd:integer is an int, an xsd:decimal a Decimal, an xsd:double a float; an xsd:float is a Single, so that its results are rounded to its
precision. Canonical forms are those of XML Schema 1.0: ``2.0`` for a decimal, ``1.0E6`` for a double.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Final, TypeAlias

MOST_DIGITS: Final = 4000
"""Of an integer; Python converts no longer ones. XML Schema asks for 18."""

EXACT: Final = Context(prec=999_999_999_999_999_999, Emax=999_999_999_999_999_999, Emin=-999_999_999_999_999_999)
"""Sums, differences and products of decimals are exact."""

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE: Final[Mapping[str, float]] = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}


class Single(float):
    """A value of xsd:float, a double that single precision has too."""

    __slots__ = ()


Number: TypeAlias = int | Decimal | float

RANKS: Final[Mapping[type, int]] = {int: 0, Decimal: 1, Single: 2, float: 3}
"""Each type is promoted to those of higher ranks (XPath 2.0, B.1). A bool is no number, so types are looked up as they are."""


def single(value: float) -> Single:
    """Return the nearest value of single precision."""
    try:
        return Single(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return Single(math.copysign(math.inf, value))


def as_double(value: Number) -> float:
    """Return a number as a double; beyond its range an infinity."""
    return float(Decimal(value)) if isinstance(value, int) else float(value)


def promoted(value: Number, rank: int) -> Number:
    """Return a number as one of the type of this rank, which is not lower than its own."""
    if RANKS[type(value)] == rank:
        return value
    if rank == 1:
        return Decimal(value)
    return as_double(value) if rank == 3 else single(as_double(value))


def read_integer(lexical: str) -> int | None:
    return int(lexical) if len(lexical) <= MOST_DIGITS and _INTEGER.fullmatch(lexical) else None


def without_sign_of_zero(value: Decimal) -> Decimal:
    """Return a decimal as XML Schema has it: there is no negative zero."""
    return value or Decimal(0)


def read_decimal(lexical: str) -> Decimal | None:
    return without_sign_of_zero(Decimal(lexical)) if _DECIMAL.fullmatch(lexical) else None


def read_double(lexical: str) -> float | None:
    return float(lexical) if _DOUBLE.fullmatch(lexical) else _INFINITE.get(lexical)


def read_single(lexical: str) -> Single | None:
    value = read_double(lexical)
    return None if value is None else single(value)


def _within(least: int | None, most: int | None) -> Callable[[str], int | None]:
    def read(lexical: str) -> int | None:
        value = read_integer(lexical)
        return None if value is None or (least is not None and value < least) or (most is not None and value > most) else value

    return read


INTEGERS: Final[Mapping[str, Callable[[str], int | None]]] = {
    "integer": read_integer,
    "nonPositiveInteger": _within(None, 0),
    "negativeInteger": _within(None, -1),
    "nonNegativeInteger": _within(0, None),
    "positiveInteger": _within(1, None),
    "long": _within(-(1 << 63), (1 << 63) - 1),
    "int": _within(-(1 << 31), (1 << 31) - 1),
    "short": _within(-(1 << 15), (1 << 15) - 1),
    "byte": _within(-(1 << 7), (1 << 7) - 1),
    "unsignedLong": _within(0, (1 << 64) - 1),
    "unsignedInt": _within(0, (1 << 32) - 1),
    "unsignedShort": _within(0, (1 << 16) - 1),
    "unsignedByte": _within(0, (1 << 8) - 1),
}
"""xsd:integer and the types derived from it, by their local names; what is out of range is no value."""


def written_decimal(value: Decimal) -> str:
    text = format(value, "f")
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0") or "0"
    return f"{whole}.{fraction}"


def written_double(value: float) -> str:
    """Return the canonical form of a double, or of a Single by the fewest digits that single precision tells apart."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    sign, digits, exponent = Decimal(fewest_digits(value)).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    power = len(text) - 1 + int(exponent) if text else 0
    return f"{'-' if sign else ''}{text[:1] or '0'}.{text[1:].rstrip('0') or '0'}E{power}"


def fewest_digits(value: float) -> str:
    """Return a finite number by the fewest digits that tell it apart from others of its precision."""
    if not isinstance(value, Single):
        return repr(value)
    texts = (f"{float(value):.{digits}g}" for digits in range(1, 10))
    return next(text for text in texts if single(float(text)) == value)
