"""Dates, and parts of dates and of times without zone, in the years that Arrow and Spark count alike.

Parts of a TIMESTAMP are left to Spark: they depend on the session's time zone.

Source: DateTimeUtils of Spark 4.2, which counts by the proleptic Gregorian calendar as NumPy does.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.values.codes import BooleanArray
from imp_driver.values.types import LENGTHS

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""Days since 1970 of the years 1 to 9999."""
_MICROSECONDS = 86_400_000_000
_PARTS: Mapping[str, Callable[[pa.Array], pa.Array]] = {
    "year": pc.year,
    "quarter": pc.quarter,
    "month": pc.month,
    "day": pc.day,
    "dayofweek": lambda values: pc.add(pc.day_of_week(values, count_from_zero=True, week_start=7), 1),
    "weekday": lambda values: pc.day_of_week(values, count_from_zero=True, week_start=1),
    "dayofyear": pc.day_of_year,
    "weekofyear": pc.iso_week,
}
_PARTS_OF_TIMES: Mapping[str, Callable[[pa.Array], pa.Array]] = {"hour": pc.hour, "minute": pc.minute, "second": pc.second}
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMES = ("hour", "minute", "second")
"""Units that have no calendar."""
_MONTHS_OF = {"year": 12, "quarter": 3, "month": 1}
_MONTH = np.timedelta64(1, "M")


def date_part(part: str, values: pa.Array) -> pa.Array:
    """Return a part as an integer of 32 bits. Raises NotEvaluable."""
    is_local = pa.types.is_timestamp(values.type) and values.type.tz is None and values.type.unit == "us"
    found = _PARTS.get(part)
    if is_local and part in _PARTS_OF_TIMES:
        _check_days(to_dates(values))
        found = _PARTS_OF_TIMES[part]
    elif is_local:
        values = to_dates(values)
    elif not pa.types.is_date32(values.type):
        raise NotEvaluable(f"{part} of {values.type} is not computed in process")
    if found is None:
        raise NotEvaluable(f"{part} of {values.type} is not computed in process")
    if not is_local:
        _check_days(values)
    return found(values).cast(pa.int32())


def to_dates(times: pa.Array) -> pa.Array:
    """Return the days of times without zone. Raises NotEvaluable."""
    moments = times.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return _dates(moments // _MICROSECONDS, times.is_null().to_numpy(zero_copy_only=False))


def days_later(dates: pa.Array, days: pa.Array) -> pa.Array:
    """Return dates so many days later. Raises NotEvaluable."""
    counts = days.cast(pa.int64())
    nulls = pc.or_(dates.is_null(), counts.is_null()).to_numpy(zero_copy_only=False)
    return _dates(_days(dates) + counts.fill_null(0).to_numpy(zero_copy_only=False), nulls)


def later(values: pa.Array, count: int, unit: str) -> pa.Array:
    """Return dates, or times without zone, so many units later (a key of ``LENGTHS``; of dates a day). Raises NotEvaluable."""
    if pa.types.is_date32(values.type):
        return _dates(_days(values) + count, _nulls(values))
    to_dates(values)
    moments = values.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False) + count * LENGTHS[unit]
    found = pa.array(moments, mask=_nulls(values)).cast(values.type)
    to_dates(found)
    return found


def months_later(dates: pa.Array, months: int) -> pa.Array:
    """Return dates so many months later; a day that the month has not becomes its last. Raises NotEvaluable."""
    days = _days(dates).astype("datetime64[D]")
    first = days.astype("datetime64[M]")
    within = (days - first.astype("datetime64[D]")).astype(np.int64)
    target = first + months * _MONTH
    last = ((target + _MONTH).astype("datetime64[D]") - target.astype("datetime64[D]")).astype(np.int64) - 1
    return _dates(target.astype("datetime64[D]").astype(np.int64) + np.minimum(within, last), _nulls(dates))


def days_between(end: pa.Array, start: pa.Array) -> pa.Array:
    """Return the days from ``start`` to ``end``. Raises NotEvaluable."""
    nulls = _nulls(end) | _nulls(start)
    return pa.array((_days(end) - _days(start)).astype(np.int32), mask=nulls)


def last_day(dates: pa.Array) -> pa.Array:
    """Return the last day of each date's month. Raises NotEvaluable."""
    months = _days(dates).astype("datetime64[D]").astype("datetime64[M]")
    return _dates((months + _MONTH).astype("datetime64[D]").astype(np.int64) - 1, _nulls(dates))


def truncated(dates: pa.Array, unit: str) -> pa.Array:
    """Return the first day of each date's week (Monday), month, quarter or year. Raises NotEvaluable."""
    days = _days(dates)
    if unit == "week":
        return _dates((days + 3) // 7 * 7 - 3, _nulls(dates))
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    # Months are counted from January 1970, with which a quarter and a year begin as well.
    size = _MONTHS_OF[unit]
    return _dates((months // size * size).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64), _nulls(dates))


def times_truncated(times: pa.Array, unit: str) -> pa.Array:
    """Return where the unit of each time without zone begins. Raises NotEvaluable."""
    days = to_dates(times)
    if unit not in _TIMES:
        return (days if unit == "day" else truncated(days, unit)).cast(times.type)
    moments = times.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return pa.array(moments // LENGTHS[unit] * LENGTHS[unit], mask=_nulls(times)).cast(times.type)


def date_of_text(text: str) -> datetime.date | None:
    """Return the date that Spark reads from a text beside a date: only from the usual form, whatever the settings."""
    try:
        return datetime.date.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None


def check_years(dates: pa.Array) -> None:
    """Raise NotEvaluable unless all dates are in the years 1 to 9999."""
    _check_days(dates)


def _days(dates: pa.Array) -> npt.NDArray[np.int64]:
    _check_days(dates)
    days: npt.NDArray[np.int64] = dates.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return days


def _nulls(array: pa.Array) -> BooleanArray:
    nulls: BooleanArray = array.is_null().to_numpy(zero_copy_only=False)
    return nulls


def _dates(days: npt.NDArray[np.int64], nulls: BooleanArray) -> pa.Array:
    if np.any(((days < _FIRST_DAY) | (days > _LAST_DAY)) & ~nulls):
        raise NotEvaluable("a date beyond the years 1 to 9999")
    return pa.array(np.where(nulls, 0, days).astype(np.int32), mask=nulls).cast(pa.date32())


def _check_days(dates: pa.Array) -> None:
    days = pc.min_max(dates.cast(pa.int32()))
    if len(dates) > dates.null_count and not _FIRST_DAY <= days["min"].as_py() <= days["max"].as_py() <= _LAST_DAY:
        raise NotEvaluable("Arrow counts years in 16 bits, Spark in 32")
