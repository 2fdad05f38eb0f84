"""Functions that are computed in process, and the types of their results, as Spark has them. No type: not certain, or not computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from imp_driver.values.codes import is_string
from imp_driver.values.decimal_types import MOST_DIGITS, of_integer, result_type
from imp_driver.values.expressions import Value
from imp_driver.values.types import INSTANT, LOCAL
from imp_driver.values.widening import common_type, is_number

Kinds: TypeAlias = Sequence[pa.DataType]
Rule: TypeAlias = Callable[[Kinds, Sequence[Value]], pa.DataType | None]

ALIKE_PATTERNS = frozenset({'^"|"[^"]*$', '^["<]|"[^"]*$|>$', '(?s)^.*"'})
"""Regular expressions that match here what they match in Spark, whose language is another one: those that take terms of RDF apart."""


def arithmetic_type(operator: str, left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the type of ``left operator right`` for ``+ - * / %``; NULL takes the other's type, but that of a decimal not always."""
    if {pa.types.is_null(left), pa.types.is_null(right)} == {True, False} and any(map(pa.types.is_decimal, (left, right))):
        return None
    left, right = (right if pa.types.is_null(left) else left), (left if pa.types.is_null(right) else right)
    if operator in "+-" and pa.types.is_date32(left):
        return left if _is_day_count(right) else None
    if operator == "+" and pa.types.is_date32(right):
        return right if _is_day_count(left) else None
    if not (is_number(left) and is_number(right)):
        return None
    are_integers = pa.types.is_integer(left) and pa.types.is_integer(right)
    if are_integers and operator != "/":
        return left if left.bit_width >= right.bit_width else right
    if any(map(pa.types.is_decimal, (left, right))) and not any(map(pa.types.is_floating, (left, right))):
        return result_type(operator, *(kind if pa.types.is_decimal(kind) else of_integer(kind.bit_width) for kind in (left, right)))
    if operator == "/" or any(map(pa.types.is_float64, (left, right))):
        return pa.float64()
    return None


def function_type(name: str, kinds: Kinds, arguments: Sequence[Value]) -> pa.DataType | None:
    """Return the type of a function's result for operands of these types."""
    rule = _RULES.get(name)
    return None if rule is None or any(map(pa.types.is_null, kinds)) else rule(kinds, arguments)


def _is_day_count(kind: pa.DataType) -> bool:
    return bool(pa.types.is_signed_integer(kind) and kind.bit_width <= 32)


def _of(result: pa.DataType, *tests: Callable[[pa.DataType], bool]) -> Rule:
    """Return a rule: always the same type, for operands that pass one test each (more operands: the last one)."""

    def rule(kinds: Kinds, _: Sequence[Value]) -> pa.DataType | None:
        fits = all(tests[min(place, len(tests) - 1)](kind) for place, kind in enumerate(kinds))
        return result if fits else None

    return rule


def _same(kinds: Kinds, _: Sequence[Value]) -> pa.DataType | None:
    (kind,) = kinds
    return kind if is_number(kind) else None


def _rounded(kinds: Kinds, arguments: Sequence[Value]) -> pa.DataType | None:
    """Rounding may need one more digit before the point. Source: RoundBase.dataType."""
    (kind,), (places,) = kinds, arguments
    if not is_number(kind) or not isinstance(places, int):
        return None
    if not pa.types.is_decimal(kind):
        return kind
    integral = kind.precision - kind.scale + 1
    if places < 0:
        return pa.decimal128(min(max(integral, 1 - places), MOST_DIGITS), 0)
    scale = min(kind.scale, places)
    return pa.decimal128(min(integral + scale, MOST_DIGITS), scale)


def _later(kinds: Kinds, arguments: Sequence[Value]) -> pa.DataType | None:
    """With hours and the like a date is a time of the session's zone."""
    (kind,), (_, unit) = kinds, arguments
    return kind if kind == LOCAL or (pa.types.is_date32(kind) and unit == "day") else None


def _whole(kinds: Kinds, _: Sequence[Value]) -> pa.DataType | None:
    """Source: dataType of Floor and Ceil."""
    (kind,) = kinds
    if pa.types.is_decimal(kind):
        return pa.decimal128(min(kind.precision - kind.scale + 1, MOST_DIGITS), 0) if kind.scale else kind
    return pa.int64() if pa.types.is_signed_integer(kind) or pa.types.is_float64(kind) else None


def _remainder(kinds: Kinds, _: Sequence[Value]) -> pa.DataType | None:
    return arithmetic_type("%", kinds[0], kinds[1])


def _common(kinds: Kinds, _: Sequence[Value]) -> pa.DataType | None:
    return common_type(kinds)


def _tried(_: Kinds, arguments: Sequence[Value]) -> pa.DataType | None:
    """What TRY_CAST is to: one of the types that are read from texts, by its name."""
    match tuple(arguments):
        case ("decimal", int(precision), int(scale)):
            return pa.decimal128(precision, scale)
        case (str(name),):
            return TRIED.get(name)
        case _:
            return None


TRIED: Mapping[str, pa.DataType] = {
    "double": pa.float64(),
    "float": pa.float32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": INSTANT,
    "timestamp_ntz": LOCAL,
}
"""Types of values that are read from texts, beside decimals of which the digits are told."""
_TEXTS = _of(pa.string(), is_string)
_TESTS = _of(pa.bool_(), is_string)
_DATES = _of(pa.date32(), pa.types.is_date32)
_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("upper", "lower", "substring", "right", "concat", "trim", "ltrim", "rtrim", "replace", "removed", "extracted", "lpad", "rpad"),
        _TEXTS,
    ),
    **dict.fromkeys(("startswith", "endswith", "contains"), _TESTS),
    "length": _of(pa.int32(), is_string),
    "try_cast": _tried,
    **dict.fromkeys(("add_months", "last_day", "trunc"), _DATES),
    "date_trunc": _of(LOCAL, lambda kind: kind == LOCAL),
    "date_format": _of(pa.string(), lambda kind: kind == LOCAL),
    # In a session at UTC.
    "local": _of(LOCAL, lambda kind: kind == INSTANT),
    "instant": _of(INSTANT, lambda kind: kind == LOCAL),
    "shown": _of(LOCAL, lambda kind: kind == INSTANT),
    "unix_micros": _of(pa.int64(), lambda kind: kind == INSTANT),
    "day_start": _of(INSTANT, pa.types.is_date32),
    "trunc_in_zone": _of(INSTANT, lambda kind: kind == INSTANT),
    "later": _later,
    "datediff": _of(pa.int32(), pa.types.is_date32),
    **dict.fromkeys(("negative", "abs"), _same),
    **dict.fromkeys(("round", "bround"), _rounded),
    **dict.fromkeys(("floor", "ceil"), _whole),
    "pmod": _remainder,
    "div": _of(pa.int64(), pa.types.is_signed_integer),
    "isnan": _of(pa.bool_(), pa.types.is_floating),
    "is_minus_zero": _of(pa.bool_(), pa.types.is_floating),
    "sign": _of(pa.float64(), is_number),
    **dict.fromkeys(("greatest", "least"), _common),
}
