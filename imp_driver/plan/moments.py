"""Constant times, computed: ``now() - INTERVAL 7 DAYS`` is a constant like any other once the time is known.

Days, months and units of time are those that the clocks of the session's zone show (java.time.ZonedDateTime, Spark's DateTimeUtils).
"""

from __future__ import annotations

import calendar
import datetime
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from imp_driver.parse.literals import literal_node
from imp_driver.parse.moment import interval_of
from imp_driver.plan.constants import constant
from imp_driver.values.zones import UTC, Zone, known

_FIXED = {unit: datetime.timedelta(**{f"{unit}s": 1}) for unit in ("week", "day", "hour", "minute", "second", "millisecond", "microsecond")}
_MONTHS = {"month": 1, "year": 12}
_CLEARED = ("microsecond", "second", "minute", "hour", "day", "month")
"""Parts of a time, the least first."""
_KEPT_FROM = {"second": 1, "minute": 2, "hour": 3, "day": 4, "week": 4, "month": 5, "quarter": 5, "year": 6}
"""How many of them a unit leaves out."""


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Clocks:
    """What the clocks of a zone show. Instants are at UTC, what is shown is without a zone; ``rules`` are None at UTC.

    Raises ValueError for years whose rules are not known.
    """

    rules: Zone | None

    @classmethod
    def of(cls, zone: str) -> Clocks | None:
        """Return those of a zone by its name, None where its rules are not known."""
        rules = None if zone == UTC else known(zone)
        return None if rules is None and zone != UTC else cls(rules)

    def shown(self, instant: datetime.datetime) -> datetime.datetime:
        if self.rules is None:
            return instant.replace(tzinfo=None)
        return _moment_of(self.rules.local(self._checked(instant))).replace(tzinfo=None)

    def at(self, shown: datetime.datetime, like: datetime.datetime) -> datetime.datetime:
        """Return when the clocks show a time: of two such instants the one that is as far from UTC as ``like``."""
        if self.rules is None:
            return shown.replace(tzinfo=datetime.UTC)
        return self._known(_moment_of(self.rules.truncated(self._checked(like), _micros_of(shown.replace(tzinfo=datetime.UTC)))))

    def unit_start(self, instant: datetime.datetime, shown: datetime.datetime, unit: str) -> datetime.datetime:
        """Return when a unit of time begins that an instant lies in; ``shown`` is what the clocks show then."""
        cut = shown.replace(tzinfo=datetime.UTC)
        return cut if self.rules is None else self._known(_moment_of(self.rules.unit_start(self._checked(instant), _micros_of(cut), unit)))

    def day_start(self, day: datetime.date) -> datetime.datetime:
        midnight = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
        return midnight if self.rules is None else self._known(_moment_of(self.rules.day_start(_micros_of(midnight))))

    def day_begun(self, instant: datetime.datetime) -> tuple[datetime.date, bool]:
        """Return the last day that has begun at an instant, and whether it begins then.

        Raises ValueError too where two days begin at once, one of which the clocks skip.
        """
        if self.rules is None:
            return instant.date(), instant.time() == datetime.time()
        # Clocks that are put back across midnight show the day before again.
        near = self.shown(instant).date()
        begun = [day for step in (-1, 0, 1, 2) if self.day_start(day := near + step * _DAY) <= instant]
        last = self.day_start(begun[-1])
        if last == self.day_start(begun[-1] - _DAY):
            raise ValueError(f"two days begin at {last}")
        return begun[-1], last == instant

    def _checked(self, instant: datetime.datetime) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        found = _micros_of(instant)
        if self.rules is not None and not self.rules.has(found).all():
            raise ValueError(f"{instant}: the rules of {self.rules.name} are not known")
        return found

    def _known(self, instant: datetime.datetime) -> datetime.datetime:
        self._checked(instant)
        return instant


def _micros_of(instant: datetime.datetime) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([(instant - _EPOCH) // _MICROSECOND], np.int64)


def _moment_of(micros: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> datetime.datetime:
    return _EPOCH + int(micros[0]) * _MICROSECOND


def computed(node: exp.Expr, zone: str) -> exp.Expr | None:
    """Return the literal of what an operator makes of a constant time; None for another operator, or one whose value Spark alone knows."""
    clocks = Clocks.of(zone)
    try:
        value = None if clocks is None else _value(node, clocks)
    except (OverflowError, ValueError):
        # No such day: Spark says so, or computes with years beyond 9999.
        return None
    return None if value is None else literal_node(value)


def _value(node: exp.Expr, clocks: Clocks) -> datetime.date | None:
    match node:
        case exp.Add() | exp.Sub() if (interval := interval_of(node.right)) is not None:
            moment = time_at_utc(node.left)
            count = -interval[0] if isinstance(node, exp.Sub) else interval[0]
            return None if moment is None else _later(moment, count, interval[1], clocks)
        case exp.Add() if (interval := interval_of(node.left)) is not None:
            moment = time_at_utc(node.right)
            return None if moment is None else _later(moment, *interval, clocks)
        case exp.TimestampTrunc():
            moment = time_at_utc(node.this)
            return None if moment is None else _truncated(moment, str(node.args["unit"].name).lower(), clocks)
        case exp.Cast() if node.to.this is exp.DType.DATE:
            return _day(node.this, clocks)
        case exp.Cast() if node.to.this is exp.DType.TIMESTAMPNTZ:
            moment = time_at_utc(node.this)
            return None if moment is None else clocks.shown(moment)
        case exp.TsOrDsToDate() if not node.args.get("format"):
            return _day(node.this, clocks)
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


def _day(node: exp.Expr, clocks: Clocks) -> datetime.date | None:
    moment = time_at_utc(node)
    return None if moment is None else clocks.shown(moment).date()


def _later(moment: datetime.datetime, count: int, unit: str, clocks: Clocks) -> datetime.datetime | None:
    shown = clocks.shown(moment)
    if unit in _FIXED:
        # Whole days are those of the clocks, whatever unit they are written in, and what is left is time.
        days = abs(count * _FIXED[unit]) // datetime.timedelta(days=1) * (1 if count > 0 else -1)
        begun = clocks.at(shown + datetime.timedelta(days=days), moment) if days else moment
        return begun + (count * _FIXED[unit] - datetime.timedelta(days=days))
    if unit not in _MONTHS:
        return None
    months = shown.year * 12 + shown.month - 1 + count * _MONTHS[unit]
    year, month = months // 12, months % 12 + 1
    # The 31st of a month is followed by the last day of a shorter one.
    return clocks.at(shown.replace(year=year, month=month, day=min(shown.day, calendar.monthrange(year, month)[1])), moment)


def _truncated(moment: datetime.datetime, unit: str, clocks: Clocks) -> datetime.datetime | None:
    cut = _cut(clocks.shown(moment), unit)
    return None if cut is None else clocks.unit_start(moment, cut, unit)


def _cut(moment: datetime.datetime, unit: str) -> datetime.datetime | None:
    count = _KEPT_FROM.get(unit)
    if count is None:
        return None
    if unit == "week":
        moment -= datetime.timedelta(days=moment.weekday())
    if unit == "quarter":
        moment = moment.replace(day=1, month=(moment.month - 1) // 3 * 3 + 1)
    least = {"day": 1, "month": 1}
    return moment.replace(**{part: least.get(part, 0) for part in _CLEARED[:count]})  # type: ignore[arg-type]
