"""What texts say: the part that a regular expression finds, and the values that TRY_CAST reads.

Only texts in the plain forms are read, of which Spark reads the same whatever its settings; an empty one is no value. Source: Cast,
RegExpExtract, Decimal and UTF8String of Spark 4.2.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.dataflow.expression.texts import text
from imp_driver.values.types import INSTANT, LOCAL

_LINE_ENDS = "[\n\r\u0085\u2028\u2029]$"
_LONGEST = 200
"""Characters of a number that is read."""
_EXACTLY = decimal.Context(prec=1000, rounding=decimal.ROUND_HALF_UP)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_INFINITIES = {"Infinity": "inf", "+Infinity": "inf", "-Infinity": "-inf", "NaN": "nan"}
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6}0*)?)(Z|[+-](?:0[0-9]|1[0-7]):[0-5][0-9])?")
_YEAR_0 = "0000"
_LEAST_SINGLE = float(np.finfo(np.float32).tiny)
_BELOW_SINGLE, _HALF = (1 << 29) - 1, 1 << 28
"""Bits of a double that a float has not, and those of the middle between two floats."""


def extracted(array: pa.Array, pattern: str, group: int) -> pa.Array:
    """Return what a group of one of the patterns of ``values/alike_patterns.py`` finds first, an empty text where it finds nothing.

    Raises NotEvaluable for text with the end of a line at its end.
    """
    values = text(array)
    if pc.any(pc.match_substring_regex(values, _LINE_ENDS)).as_py():
        raise NotEvaluable("where text with the end of a line at its end ends in a pattern is Java's")
    search = re.compile(pattern).search
    return _of_each(values, lambda each: "" if (found := search(each)) is None else found[group] or "", pa.string())


def read(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the values that texts stand for, NULL for empty ones. Raises NotEvaluable for texts in other forms than the plain ones."""
    reader = _decimals(kind) if pa.types.is_decimal128(kind) else _READERS.get(kind)
    if reader is None:
        raise NotEvaluable(f"what a text is as {kind} is Spark's to read")
    return _of_each(text(array), lambda each: reader(each) if each else None, kind)


def _of_each(values: pa.Array, of_one: Callable[[str], object], kind: pa.DataType) -> pa.Array:
    """Compute each different text once."""
    alike = pc.dictionary_encode(values)
    found = pa.array([of_one(each) for each in alike.dictionary.to_pylist()], kind)
    return found.take(alike.indices)


def _other(form: str) -> NotEvaluable:
    return NotEvaluable(f"a text that is no {form} in the usual form is Spark's to read")


def _number(value: str) -> str:
    if len(value) > _LONGEST or _NUMBER.fullmatch(value) is None:
        raise _other("number")
    return value


def _decimals(kind: pa.Decimal128Type) -> Callable[[str], Decimal | None]:
    """Digits behind those of the type are rounded, halves away from zero; what is too large is NULL."""
    unit, most = Decimal(1).scaleb(-kind.scale), Decimal(1).scaleb(kind.precision - kind.scale)

    def reader(value: str) -> Decimal | None:
        found = Decimal(_number(value))
        if abs(found) >= most:
            return None
        rounded = found.quantize(unit, context=_EXACTLY)
        return rounded if abs(rounded) < most else None

    return reader


def _double(value: str) -> float:
    return float(_INFINITIES.get(value) or _number(value))


def _single(value: str) -> float:
    """A float is the nearest one of the text, which the nearest one of its double is, unless that lies in the middle of two."""
    found = _double(value)
    bits = int(np.float64(found).view(np.int64))
    is_middle = bits & _BELOW_SINGLE == _HALF
    if np.isfinite(found) and found and (is_middle or abs(found) < _LEAST_SINGLE):
        raise _other("float")
    with np.errstate(over="ignore"):
        return float(np.float32(found))


def _truth(value: str) -> bool:
    if value not in _TRUTHS:
        raise _other("truth value")
    return _TRUTHS[value]


def _day(value: str) -> date | None:
    """What the calendar has not is NULL."""
    if _DAY.fullmatch(value) is None or value.startswith(_YEAR_0):
        raise _other("date")
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _moment(value: str, *, has_zone: bool) -> datetime | None:
    """What the calendar and the clock have not is NULL."""
    found = _MOMENT.fullmatch(value)
    if found is None or (found[2] is not None) != has_zone or value.startswith(_YEAR_0):
        raise _other("time")
    try:
        local = datetime.fromisoformat(found[1])
    except ValueError:
        return None
    if not has_zone:
        return local
    zone = found[2].replace("Z", "+00:00")
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
    try:
        return (local - offset if zone[0] == "+" else local + offset).replace(tzinfo=UTC)
    except OverflowError:
        raise _other("time") from None


def _integer(value: str) -> int | None:
    """What is too large is NULL."""
    if len(value) > _LONGEST or _INTEGER.fullmatch(value) is None:
        raise _other("integer")
    found = int(value)
    return found if -(1 << 63) <= found < 1 << 63 else None


_READERS: Mapping[pa.DataType, Callable[[str], Any]] = {
    pa.int64(): _integer,
    pa.float64(): _double,
    pa.float32(): _single,
    pa.bool_(): _truth,
    pa.date32(): _day,
    LOCAL: lambda value: _moment(value, has_zone=False),
    INSTANT: lambda value: _moment(value, has_zone=True),
}
