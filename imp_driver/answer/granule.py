"""Years, months, days and hours in the place of dates and times: what can be said of a time by where its granule begins alone.

A granule's beginning never comes after the time, and keeps the order of times. So for the beginning ``e`` of any granule, ``t >= e`` says
the same as ``trunc(t) >= e``, and ``t < e`` the same as ``trunc(t) < e``; ``t > c`` is ``t >= c + 1`` and ``t <= c`` is ``t < c + 1``, in
days for dates and in microseconds for times. A bound within a granule cuts it, and says nothing of its beginning (StarRocks issue 75150 has
the wrong rows that follow otherwise). In a zone all of this holds where the clocks keep units whole (``values/zones.py``).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.dates import date_of_text, times_truncated, truncated
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.zones import truncated_in_zone
from imp_driver.values.date_patterns import finest_unit
from imp_driver.values.expressions import (
    MIRRORED,
    Cast,
    Column,
    Comparison,
    Constant,
    DatePart,
    Expression,
    Function,
    IsNull,
    parts_of,
    with_parts,
)
from imp_driver.values.types import INSTANT, LOCAL
from imp_driver.values.zones import is_whole

_OF_DAYS = frozenset({"year", "quarter", "month", "day", "week", "dayofweek", "weekday", "dayofyear", "weekofyear"})
_NESTING: Mapping[str, frozenset[str]] = {
    "year": frozenset({"year"}),
    "quarter": frozenset({"year", "quarter"}),
    "month": frozenset({"year", "quarter", "month"}),
    "week": frozenset({"week", "weekofyear"}),
    "day": _OF_DAYS,
    "hour": _OF_DAYS | {"hour"},
    "minute": _OF_DAYS | {"hour", "minute"},
}
"""Of each granule: the granules that it lies in, and the parts of a time that all its times share. A week may lie in two years."""
CHAIN = ("year", "quarter", "month", "day", "hour", "minute", "")
"""Granules that lie in each other, the coarsest first; the last is the time itself, as the day is for a date."""
_ONE_ROW = pa.table({"": [True]})
_Wrap: TypeAlias = Callable[[Expression], Expression]


@dataclass(frozen=True, slots=True)
class Granule:
    """``key`` has the beginning of the granule of a column, in the column's type ``kind``; ``unit`` is one of ``CHAIN`` or week.

    ``zone`` is that whose units they are, empty at UTC and for times without zone.
    """

    unit: str
    key: Expression
    kind: pa.DataType
    zone: str = ""


def finest(kind: pa.DataType) -> int:
    """Return the place in ``CHAIN`` of the values of a type themselves."""
    return CHAIN.index("day") if pa.types.is_date32(kind) else len(CHAIN) - 1


def granule_of(key: Expression, value: Column, types: Mapping[str, pa.DataType | None]) -> tuple[str, Granule] | None:
    """Return column and granule of a key whose values are in the column ``value``; None for a key that is no granule."""
    match key:
        case Function("trunc", (Column(name),), (str(unit),)) if types.get(name) == pa.date32():
            return name, Granule(unit, value, pa.date32())
        case Function("date_trunc", (Column(name),), (str(unit),)) if types.get(name) == LOCAL:
            return name, Granule(unit, value, LOCAL)
        case Function("trunc_in_zone", (Column(name),), (str(unit), str(zone))) if types.get(name) == INSTANT and is_whole(zone):
            return name, Granule(unit, value, INSTANT, zone)
        case Cast(Function("shown", (Column(name),), (str(zone),)), kind) if kind == pa.date32() and is_whole(zone):
            return name, Granule("day", Function("day_start", (value,), (zone,)), INSTANT, zone)
        case Function("instant", (Function("date_trunc", (inner,), (str(unit),)),)):
            return _of_instant(inner, unit, value, types)
        case Cast(Column(name), kind) if kind == pa.date32() and types.get(name) == LOCAL:
            return name, Granule("day", Cast(value, LOCAL), LOCAL)
        case Cast(Function("local", (Column(name),)), kind) if kind == pa.date32() and types.get(name) == INSTANT:
            return name, Granule("day", Function("instant", (Cast(value, LOCAL),)), INSTANT)
        case _:
            return None


def _of_instant(inner: Expression, unit: str, value: Column, types: Mapping[str, pa.DataType | None]) -> tuple[str, Granule] | None:
    match inner:
        case Function("local", (Column(name),)) if types.get(name) == INSTANT:
            return name, Granule(unit, value, INSTANT)
        case Cast(Column(name), _) if types.get(name) == pa.date32() and unit in _OF_DAYS:
            return name, Granule(unit, Cast(Function("local", (value,)), pa.date32()), pa.date32())
        case _:
            return None


def over_granules(expression: Expression, granules: Mapping[str, Sequence[Granule]]) -> Expression | None:
    """Return an expression that says the same of granules, None where it says more of a time than its granule does.

    Args:
        granules: by columns of times, which stand nowhere in what is returned.
    """
    found = next(_rewritten(expression, granules), None)
    if found is not None:
        return found
    if isinstance(expression, Column) and expression.name in granules:
        return None
    parts = [over_granules(part, granules) for part in parts_of(expression)]
    known = [part for part in parts if part is not None]
    return with_parts(expression, known) if len(known) == len(parts) else None


def _rewritten(expression: Expression, granules: Mapping[str, Sequence[Granule]]) -> Iterator[Expression]:
    """Yield what a node says of each of the granules of the time that it reads."""
    match expression:
        case Comparison(operator, Column(name), bound) if name in granules:
            yield from _compared(operator, granules[name], bound)
        case Comparison(operator, bound, Column(name)) if name in granules:
            yield from _compared(MIRRORED.get(operator, ""), granules[name], bound)
        case IsNull(Column(name)) if name in granules:
            yield IsNull(granules[name][0].key)
        case DatePart(part, operand):
            yield from (DatePart(part, value) for value in _values(operand, granules, part))
        case Function("trunc" | "date_trunc", (operand,), (str(unit),)):
            yield from (Function(expression.name, (value,), (unit,)) for value in _values(operand, granules, unit))
        case Function("trunc_in_zone", (operand,), (str(unit), str(zone))):
            yield from (Function("trunc_in_zone", (value,), (unit, zone)) for value in _values(operand, granules, unit))
        case Function("date_format", (operand,), (str(pattern),)):
            yield from (Function("date_format", (value,), (pattern,)) for value in _values(operand, granules, finest_unit(pattern)))
        case Function("last_day", (operand,), ()):
            yield from (Function("last_day", (value,)) for value in _values(operand, granules, "month"))
        case Cast(operand, kind) if kind == pa.date32():
            yield from (Cast(value, kind) for value in _values(operand, granules, "day"))


def _values(operand: Expression, granules: Mapping[str, Sequence[Granule]], part: str) -> Iterator[Expression]:
    """Yield an operand of each granule that tells a part of the time that is read, in the type in which it is read."""
    found = _viewed(operand)
    if found is not None:
        name, wrap = found
        yield from (wrap(each.key) for each in granules.get(name, ()) if part in _NESTING.get(each.unit, ()))


def _viewed(operand: Expression) -> tuple[str, _Wrap] | None:
    """Return the column of a time and how it is looked at: as a day, or as the time at UTC of an instant."""
    match operand:
        case Column(name):
            return name, lambda each: each
        case Function("local", (inner,)):
            return _looked_at(_viewed(inner), lambda each: Function("local", (each,)))
        case Function("shown", (inner,), (str(zone),)):
            return _looked_at(_viewed(inner), lambda each: Function("shown", (each,), (zone,)))
        case Cast(inner, kind) if kind in (pa.date32(), LOCAL):
            return _looked_at(_viewed(inner), lambda each: Cast(each, kind))
        case _:
            return None


def _looked_at(found: tuple[str, _Wrap] | None, wrap: _Wrap) -> tuple[str, _Wrap] | None:
    if found is None:
        return None
    name, inner = found
    return name, lambda each: wrap(inner(each))


def _compared(operator: str, granules: Sequence[Granule], bound: Expression) -> Iterator[Expression]:
    value = _constant(bound)
    granules = [each for each in granules if _is_of(value, each.kind)]
    if value is None or operator not in MIRRORED or not granules:
        return
    if operator in (">", "<="):
        later = _next(value)
        if later is None:
            return
        operator, value = {">": ">=", "<=": "<"}[operator], later
    yield from (Comparison(operator, each.key, Constant(value)) for each in granules if _is_beginning(value, each.unit, each.zone))


def _constant(bound: Expression) -> datetime.date | None:
    """Return the date or the time that a bound without columns is."""
    try:
        value = computed(_ONE_ROW, bound)[0].as_py()
    except NotEvaluable:
        return None
    if isinstance(value, str):
        return date_of_text(value)
    return value if isinstance(value, datetime.date) else None


def _is_of(value: datetime.date | None, kind: pa.DataType) -> bool:
    """Say whether a constant is of the type that it is compared with: right after a day comes another day, or a time."""
    if isinstance(value, datetime.datetime):
        return bool(kind == (LOCAL if value.tzinfo is None else INSTANT))
    return value is not None and bool(kind == pa.date32())


def _next(value: datetime.date) -> datetime.date | None:
    """Return the value right after a date or a time."""
    try:
        step = datetime.timedelta(microseconds=1) if isinstance(value, datetime.datetime) else datetime.timedelta(days=1)
        return value + step
    except OverflowError:
        return None


def _is_beginning(value: datetime.date, unit: str, zone: str) -> bool:
    if zone:
        return _is_beginning_in_zone(value, unit, zone)
    if not isinstance(value, datetime.datetime):
        return unit == "day" or bool(truncated(pa.array([value]), unit)[0].as_py() == value)
    time = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
    return bool(times_truncated(pa.array([time], LOCAL), unit)[0].as_py() == time)


def _is_beginning_in_zone(value: datetime.date, unit: str, zone: str) -> bool:
    try:
        return bool(truncated_in_zone(pa.array([value], INSTANT), unit, zone)[0].as_py() == value)
    except NotEvaluable:
        return False


def grain(condition: Expression, column: str, kind: pa.DataType, zone: str = "") -> int:
    """Return the place in ``CHAIN`` of the coarsest granule of a column's values that a condition leaves whole.

    ``zone`` is that of the session, empty at UTC; it is for instants alone.
    """
    zone = zone if kind == INSTANT else ""

    def is_whole(unit: str) -> bool:
        return over_granules(condition, {column: (Granule(unit, Column(unit), kind, zone),)}) is not None

    return next((place for place, unit in enumerate(CHAIN[: finest(kind)]) if is_whole(unit)), finest(kind))
