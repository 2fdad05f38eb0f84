"""Constant times of sessions at UTC, computed: ``now() - INTERVAL 7 DAYS`` is a constant like any other once the time is known."""

from __future__ import annotations

import calendar
import datetime

from sqlglot import exp

from imp_driver.parse.literals import literal_node
from imp_driver.parse.moment import interval_of
from imp_driver.plan.constants import constant

_FIXED = {unit: datetime.timedelta(**{f"{unit}s": 1}) for unit in ("week", "day", "hour", "minute", "second", "millisecond", "microsecond")}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_CLEARED = ("microsecond", "second", "minute", "hour", "day", "month")
"""Parts of a time, the least first."""
_KEPT_FROM = {"second": 1, "minute": 2, "hour": 3, "day": 4, "week": 4, "month": 5, "quarter": 5, "year": 6}
"""How many of them a unit leaves out."""


def computed(node: exp.Expr) -> exp.Expr | None:
    """Return the literal of what an operator makes of a constant time; None for another operator, or one whose value Spark alone knows."""
    try:
        value = _value(node)
    except (OverflowError, ValueError):
        # No such day: Spark says so, or computes with years beyond 9999.
        return None
    return None if value is None else literal_node(value)


def _value(node: exp.Expr) -> datetime.date | None:
    match node:
        case exp.Add() | exp.Sub() if (interval := interval_of(node.right)) is not None:
            moment = time_at_utc(node.left)
            return None if moment is None else _later(moment, -interval[0] if isinstance(node, exp.Sub) else interval[0], interval[1])
        case exp.Add() if (interval := interval_of(node.left)) is not None:
            moment = time_at_utc(node.right)
            return None if moment is None else _later(moment, *interval)
        case exp.TimestampTrunc():
            moment = time_at_utc(node.this)
            return None if moment is None else _truncated(moment, str(node.args["unit"].name).lower())
        case exp.Cast() if node.to.this is exp.DType.DATE:
            return _day(node.this)
        case exp.TsOrDsToDate() if not node.args.get("format"):
            return _day(node.this)
        case _:
            return None


def time_at_utc(node: exp.Expr) -> datetime.datetime | None:
    """Return a constant instant, at UTC; None for what is none, or is there before the year 1 or after 9999."""
    found = constant(node)
    value = None if found is None else found.value
    if not isinstance(value, datetime.datetime) or value.tzinfo is None:
        return None
    try:
        return value.astimezone(datetime.UTC)
    except OverflowError:
        return None


def _day(node: exp.Expr) -> datetime.date | None:
    moment = time_at_utc(node)
    return None if moment is None else moment.date()


def _later(moment: datetime.datetime, count: int, unit: str) -> datetime.datetime | None:
    if unit in _FIXED:
        return moment + count * _FIXED[unit]
    if unit not in _MONTHS:
        return None
    months = moment.year * 12 + moment.month - 1 + count * _MONTHS[unit]
    year, month = months // 12, months % 12 + 1
    # The 31st of a month is followed by the last day of a shorter one.
    return moment.replace(year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1]))


def _truncated(moment: datetime.datetime, unit: str) -> datetime.datetime | None:
    count = _KEPT_FROM.get(unit)
    if count is None:
        return None
    if unit == "week":
        moment -= datetime.timedelta(days=moment.weekday())
    if unit == "quarter":
        moment = moment.replace(day=1, month=(moment.month - 1) // 3 * 3 + 1)
    least = {"day": 1, "month": 1}
    return moment.replace(**{part: least.get(part, 0) for part in _CLEARED[:count]})  # type: ignore[arg-type]
