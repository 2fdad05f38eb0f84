"""Constants of conditions as places in the order of the attribute that they are compared with (sketch-reuse rules 2.3, last paragraph).

A constant is refused unless Spark compares it exactly by that order: a cast of the attribute, a rounded constant or a collation would
make two comparisons that look alike mean different things.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from imp_driver.reuse.types import Family, ValueType, integer_range

Rank: TypeAlias = Fraction | bytes


@dataclass(frozen=True, slots=True)
class Constant:
    """A place in the order of a type: somewhere from ``low`` to ``high``, always the same place for the same two.

    Numbers are themselves, strings their bytes, dates days, timestamps microseconds. Only a time of day without its offset has two
    different ends: the session's zone decides where it lies.
    """

    low: Rank
    high: Rank

    @property
    def is_exact(self) -> bool:
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant as it is written: the type Spark gives it and its value; ``has_offset`` is for timestamps."""

    family: Family
    value: Fraction | bytes | None
    text: str = ""
    digits: tuple[int, int] = (0, 0)
    has_offset: bool = False


def place(rank: Rank) -> Constant:
    return Constant(rank, rank)


def same(one: Constant, other: Constant) -> bool:
    """Say whether two constants are certainly equal."""
    return one == other


def below(one: Constant, other: Constant) -> bool:
    """Say whether one constant is certainly less than another."""
    if isinstance(one.high, bytes) and isinstance(other.low, bytes):
        return one.high < other.low
    return isinstance(one.high, Fraction) and isinstance(other.low, Fraction) and one.high < other.low


def is_null(node: exp.Expr) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Null) or (isinstance(inner, exp.Cast) and is_null(inner.this))


def is_constant(node: exp.Expr) -> bool:
    return is_null(node) or literal_of(node) is not None


def constants_of(nodes: Sequence[exp.Expr], kind: ValueType, *, in_list: bool = False) -> tuple[Constant, ...] | None:
    """Return the places of the constants that are not NULL, for comparing them with values of a type; None when one is refused.

    ``in_list``: the constants stand in one IN list, for which Spark chooses one type for all of them together.
    """
    literals = [literal_of(node) for node in nodes if not is_null(node)]
    found: list[Constant] = []
    whole, scale = kind.whole, kind.scale
    for literal in literals:
        constant = None if literal is None else _placed(literal, kind, in_list)
        if literal is None or constant is None:
            return None
        whole, scale = max(whole, literal.digits[0]), max(scale, literal.digits[1])
        found.append(constant)
    if kind.is_exact_number and not ValueType(Family.DECIMAL, whole, scale).fits:
        return None
    return tuple(found)


def _placed(literal: Literal, kind: ValueType, in_list: bool) -> Constant | None:
    """Return where a literal lies among the values of a type."""
    if literal.family is Family.STRING and kind.family is not Family.STRING:
        return None if in_list else _from_string(literal.text, kind)
    match kind.family:
        case Family.INTEGER if literal.family is Family.DOUBLE:
            # A double of 64 bits holds every INT, but not every BIGINT.
            return _exactly(literal) if kind.bits <= 32 and not in_list else None
        case Family.INTEGER | Family.DECIMAL:
            return _exactly(literal) if literal.family in (Family.INTEGER, Family.DECIMAL) else None
        case Family.DOUBLE:
            return _as_double(literal)
        case Family.TIMESTAMP:
            return _instant(literal) if literal.family in (Family.TIMESTAMP, Family.TIMESTAMP_NTZ) else None
        case _:
            return _exactly(literal) if literal.family is kind.family else None


def _exactly(literal: Literal) -> Constant | None:
    return None if literal.value is None else place(literal.value)


def _as_double(literal: Literal) -> Constant | None:
    if literal.family not in (Family.INTEGER, Family.DECIMAL, Family.DOUBLE) or not isinstance(literal.value, Fraction):
        return None
    try:
        return place(Fraction(float(literal.value)))
    except OverflowError:
        return None


_OFFSET = Fraction(18 * 60 * 60 * 1_000_000)
"""No zone is further from UTC; where clocks are set back, a later time of day may be an earlier instant."""


def _instant(literal: Literal) -> Constant | None:
    if not isinstance(literal.value, Fraction):
        return None
    return place(literal.value) if literal.has_offset else Constant(literal.value - _OFFSET, literal.value + _OFFSET)


def _from_string(text: str, kind: ValueType) -> Constant | None:
    """Return the place of a string that Spark casts to the attribute's type, when the text can be read in one way only."""
    match kind.family:
        case Family.INTEGER:
            low, high = integer_range(kind)
            return place(Fraction(int(text))) if _INTEGER.fullmatch(text) and low <= int(text) <= high else None
        case Family.DATE:
            date = _date(text)
            return None if date is None else _exactly(date)
        case Family.TIMESTAMP:
            moment = _moment(text, Family.TIMESTAMP)
            return None if moment is None else _instant(moment)
        case Family.TIMESTAMP_NTZ:
            moment = _moment(text, Family.TIMESTAMP_NTZ)
            return None if moment is None else _exactly(moment)
        case _:
            return None


_INTEGER = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"-?([0-9]+)(?:\.([0-9]*))?|-?()\.([0-9]+)")
_EXPONENT = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?")
_EPOCH = datetime.datetime(1970, 1, 1)


def literal_of(node: exp.Expr) -> Literal | None:
    """Return a constant that is not NULL; None for anything else, and for constants whose value depends on more than their text."""
    match node:
        case exp.Paren():
            return literal_of(node.this)
        case exp.Boolean():
            return Literal(Family.BOOLEAN, Fraction(int(node.this)))
        case exp.Literal() if node.is_string:
            return Literal(Family.STRING, str(node.this).encode("utf-8", "surrogatepass"), str(node.this))
        case exp.Literal():
            return _number(str(node.this))
        case exp.Neg() if isinstance(node.this.unnest(), (exp.Literal, exp.Cast)):
            return _negated(literal_of(node.this))
        case exp.Cast():
            return _cast(node)
        case _:
            return None


def _negated(literal: Literal | None) -> Literal | None:
    if literal is None or literal.family is Family.STRING or not isinstance(literal.value, Fraction):
        return None
    if literal.family not in (Family.INTEGER, Family.DECIMAL, Family.DOUBLE):
        return None
    return Literal(literal.family, -literal.value, f"-{literal.text}", literal.digits)


def _number(text: str) -> Literal | None:
    if "e" in text.lower():
        return _double(text)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole, scale = len((match[1] or "").lstrip("0")), len(match[2] or match[4] or "")
    return Literal(Family.DECIMAL if "." in text else Family.INTEGER, Fraction(text), text, (whole, scale))


def _double(text: str) -> Literal | None:
    if not _EXPONENT.fullmatch(text):
        return None
    try:
        return Literal(Family.DOUBLE, Fraction(float(text)), text)
    except OverflowError:
        return None


def _cast(node: exp.Cast) -> Literal | None:
    """Return a typed literal: a cast of a number's or a string's text that loses nothing."""
    inner = node.this.unnest()
    negative = isinstance(inner, exp.Neg)
    written = inner.this.unnest() if negative else inner
    if not isinstance(written, exp.Literal) or (negative and written.is_string) or node.args.get("format"):
        return None
    text = f"-{written.this}" if negative else str(written.this)
    target = node.to.this
    if target in _CAST_INTEGERS:
        low, high = integer_range(ValueType(Family.INTEGER, bits=_CAST_INTEGERS[target]))
        return _number(text) if _INTEGER.fullmatch(text) and low <= int(text) <= high else None
    if target is exp.DType.DECIMAL:
        return _cast_decimal(text, node.to)
    if target is exp.DType.DOUBLE:
        return _double(text)
    if not written.is_string:
        return None
    if target is exp.DType.DATE:
        return _date(text)
    return _moment(text, _CAST_MOMENTS[target]) if target in _CAST_MOMENTS else None


_CAST_INTEGERS = {exp.DType.TINYINT: 8, exp.DType.SMALLINT: 16, exp.DType.INT: 32, exp.DType.BIGINT: 64}
_CAST_MOMENTS = {
    exp.DType.TIMESTAMPTZ: Family.TIMESTAMP,
    exp.DType.TIMESTAMPLTZ: Family.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: Family.TIMESTAMP_NTZ,
}


def _cast_decimal(text: str, target: exp.DataType) -> Literal | None:
    number = _number(text)
    parameters = [str(parameter.name) for parameter in target.expressions]
    if number is None or number.family is Family.DOUBLE or len(parameters) != 2 or not all(each.isdigit() for each in parameters):
        return None
    precision, scale = int(parameters[0]), int(parameters[1])
    if number.digits[1] > scale or number.digits[0] > precision - scale:
        return None
    return Literal(Family.DECIMAL, number.value, text, (precision - scale, scale))


def _date(text: str) -> Literal | None:
    try:
        return Literal(Family.DATE, Fraction(datetime.date.fromisoformat(text).toordinal()), text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def _moment(text: str, family: Family) -> Literal | None:
    match = _MOMENT.fullmatch(text)
    if match is None or (match[1] and family is Family.TIMESTAMP_NTZ):
        return None
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    local = moment.replace(tzinfo=None) - _EPOCH
    offset = moment.utcoffset() or datetime.timedelta()
    return Literal(family, Fraction((local - offset) // datetime.timedelta(microseconds=1)), text, has_offset=bool(match[1]))
