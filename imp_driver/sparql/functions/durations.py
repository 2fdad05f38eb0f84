"""Durations of XML Schema: months and seconds. TIMEZONE gives them; they are compared, and nothing else is computed with them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final

from imp_driver.sparql.functions.numerals import EXACT


class DurationKind(Enum):
    ANY = "duration"
    DAY_TIME = "dayTimeDuration"
    YEAR_MONTH = "yearMonthDuration"


@dataclass(frozen=True, slots=True)
class Duration:
    """Both ``months`` and ``seconds`` have the sign of the duration."""

    kind: DurationKind
    months: int
    seconds: Decimal


_FORM: Final = re.compile(
    r"(?P<sign>-?)P(?=.)(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?(?:(?P<days>[0-9]+)D)?"
    r"(?P<time>T(?=.)(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+(?:\.[0-9]+)?)S)?)?"
)
_ABSENT: Final = {
    DurationKind.ANY: (),
    DurationKind.DAY_TIME: ("years", "months"),
    DurationKind.YEAR_MONTH: ("days", "time"),
}


def read_duration(kind: DurationKind, lexical: str) -> Duration | None:
    """Return the duration of a lexical form, None where it is none of this kind."""
    found = _FORM.fullmatch(lexical)
    if found is None or len(lexical) > 1000 or any(found[name] is not None for name in _ABSENT[kind]):
        return None
    months = int(found["years"] or 0) * 12 + int(found["months"] or 0)
    whole = int(found["days"] or 0) * 86_400 + int(found["hours"] or 0) * 3600 + int(found["minutes"] or 0) * 60
    seconds = EXACT.add(Decimal(whole), Decimal(found["seconds"] or 0))
    return Duration(kind, -months, seconds.copy_negate()) if found["sign"] else Duration(kind, months, seconds)


def written_duration(value: Duration) -> str:
    """Return the canonical form."""
    sign = "-" if value.months < 0 or value.seconds < 0 else ""
    years, months = divmod(abs(value.months), 12)
    total = value.seconds.copy_abs()
    rest, fraction = int(total), format(total, "f").partition(".")[2].rstrip("0")
    days, rest = divmod(rest, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    seconds = f"{rest}.{fraction}" if fraction else str(rest)
    date = "".join(f"{number}{unit}" for number, unit in ((years, "Y"), (months, "M"), (days, "D")) if number)
    time = "".join(f"{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M")) if number)
    time += f"{seconds}S" if seconds != "0" else ""
    if not date and not time:
        return "P0M" if value.kind is DurationKind.YEAR_MONTH else "PT0S"
    return f"{sign}P{date}{'T' if time else ''}{time}"


def difference(one: Duration, other: Duration) -> int | None:
    """Return -1, 0 or 1 as a duration is shorter than another, as long, or longer; None where months and days do not compare."""
    if one.months == other.months:
        return (one.seconds > other.seconds) - (one.seconds < other.seconds)
    if one.seconds == other.seconds:
        return (one.months > other.months) - (one.months < other.months)
    return None
