"""Moments of XML Schema: xsd:dateTime, xsd:date and xsd:time with or without a time zone, any year, any fraction of a second.

Order is that of XML Schema 1.1 part 2, section 3.3.7: a moment without a zone may be up to 14 hours to either side of where UTC has it, and
where that decides, nothing is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final

from imp_driver.sparql.functions.numerals import EXACT

_DAY: Final = 86_400
_FARTHEST_ZONE: Final = 14 * 3600
_ZONE: Final = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"
_DATE: Final = r"(?P<year>-?(?:[1-9][0-9]{3,9}|0[0-9]{3}))-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
_TIME: Final = r"(?:(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9](?:\.[0-9]+)?)|(?P<midnight>24:00:00(?:\.0+)?))"


class MomentKind(Enum):
    DATE_TIME = "dateTime"
    DATE = "date"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment as it is written; a time stands on 1972-12-31, a date for its first instant.

    Attributes:
        second: with its fraction.
        zone: minutes east of UTC, None without a time zone.
        instant: seconds since 1970 in UTC, as if there it had no zone.
    """

    kind: MomentKind
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: Decimal
    zone: int | None
    instant: Decimal


_FORMS: Final = {
    MomentKind.DATE_TIME: re.compile(f"{_DATE}T{_TIME}{_ZONE}"),
    MomentKind.DATE: re.compile(f"{_DATE}{_ZONE}"),
    MomentKind.TIME: re.compile(f"{_TIME}{_ZONE}"),
}


def read_moment(kind: MomentKind, lexical: str) -> Moment | None:
    """Return the moment of a lexical form, None where it is none."""
    found = _FORMS[kind].fullmatch(lexical)
    if found is None:
        return None
    parts = found.groupdict()
    year, month, day = int(parts.get("year") or 1972), int(parts.get("month") or 12), int(parts.get("day") or 31)
    if day > _days_of(year, month):
        return None
    if parts.get("midnight") and kind is MomentKind.DATE_TIME:
        year, month, day = _date_of(_day_number(year, month, day) + 1)
    hour, minute, second = int(parts.get("hour") or 0), int(parts.get("minute") or 0), Decimal(parts.get("second") or 0)
    return moment(kind, (year, month, day), (hour, minute, second), _minutes(parts["zone"]))


def moment(kind: MomentKind, date: tuple[int, int, int], time: tuple[int, int, Decimal], zone: int | None) -> Moment:
    """Return a moment of a date that there is, and a time of the day."""
    hour, minute, second = time
    seconds = _day_number(*date) * _DAY + hour * 3600 + minute * 60 - (zone or 0) * 60
    return Moment(kind, *date, hour, minute, second, zone, EXACT.add(Decimal(seconds), second))


def converted(value: Moment, kind: MomentKind) -> Moment | None:
    """Return the moment of another kind that XPath casts to (XPath functions 2.0, 17.1.5), None where it is no cast."""
    if value.kind is kind:
        return value
    if value.kind is MomentKind.TIME:
        return None
    date = (1972, 12, 31) if kind is MomentKind.TIME else (value.year, value.month, value.day)
    time = (0, 0, Decimal(0)) if kind is MomentKind.DATE else (value.hour, value.minute, value.second)
    return None if value.kind is MomentKind.DATE and kind is MomentKind.TIME else moment(kind, date, time, value.zone)


def difference(one: Moment, other: Moment) -> int | None:
    """Return -1, 0 or 1 as a moment is before, at, or after another of its kind; None where their zones leave it open."""
    first, second = one.instant, other.instant
    if (one.zone is None) != (other.zone is None):
        apart = EXACT.subtract(first, second)
        if abs(apart) <= _FARTHEST_ZONE:
            return None
    return (first > second) - (first < second)


def written_zone(zone: int | None) -> str:
    if not zone:
        return "" if zone is None else "Z"
    hours, minutes = divmod(abs(zone), 60)
    return f"{'-' if zone < 0 else '+'}{hours:02}:{minutes:02}"


def written_moment(value: Moment) -> str:
    """Return the canonical form, in the zone that the moment has."""
    year = f"{'-' if value.year < 0 else ''}{abs(value.year):04}"
    date = f"{year}-{value.month:02}-{value.day:02}"
    second = format(value.second, "f")
    second = second.rstrip("0").rstrip(".") if "." in second else second
    whole, _, fraction = second.partition(".")
    time = f"{value.hour:02}:{value.minute:02}:{whole:0>2}{'.' if fraction else ''}{fraction}"
    texts = {MomentKind.DATE_TIME: f"{date}T{time}", MomentKind.DATE: date, MomentKind.TIME: time}
    return texts[value.kind] + written_zone(value.zone)


def _minutes(zone: str | None) -> int | None:
    if zone is None or zone == "Z":
        return None if zone is None else 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:])
    return -minutes if zone[0] == "-" else minutes


def _days_of(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _day_number(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 of the Gregorian calendar, which has no end on either side. Years are counted from March."""
    years = year - (month <= 2)
    of_year = (153 * ((month - 3) % 12) + 2) // 5 + day - 1
    return years * 365 + years // 4 - years // 100 + years // 400 + of_year - 719_468


def _date_of(number: int) -> tuple[int, int, int]:
    """Return year, month and day of a day's number."""
    days = number + 719_468
    era, of_era = divmod(days, 146_097)
    years = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    months = (5 * of_year + 2) // 153
    month = months + 3 if months < 10 else months - 9
    return years + era * 400 + (month <= 2), month, of_year - (153 * months + 2) // 5 + 1
