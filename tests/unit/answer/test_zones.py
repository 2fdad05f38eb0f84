"""Rules of zones against a slow twin, and what they make of expressions; against Spark they are tested in ``tests/spark/test_zones.py``."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta
from functools import cache
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import assume, given
from hypothesis import strategies as st

from imp_driver.dataflow.expression import zones as computed
from imp_driver.dataflow.expression.evaluate import truth
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.parse.statement import DIALECT
from imp_driver.plan import moments
from imp_driver.plan.constants import constant
from imp_driver.plan.convert import row_expression
from imp_driver.plan.zones import Times, zone_of
from imp_driver.values import zones
from imp_driver.values.types import INSTANT, LOCAL
from imp_driver.values.zones import BEGIN, CYCLE, REPEATS_FROM, Zone
from tests.soundness.lake_path import LakePath

NAMES = ("Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "America/St_Johns", "Asia/Kolkata", "Pacific/Apia")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _offset(name: str, second: int) -> int:
    found = (_EPOCH + timedelta(seconds=second)).astimezone(ZoneInfo(name)).utcoffset()
    assert found is not None
    return int(found.total_seconds())


@cache
def _zone(name: str) -> Zone:
    """Return the rules that Python has, found by looking at every day from 1980 to 2040."""
    first, last, day = 315_532_800, 2_208_988_800, 86_400
    changes, offsets = [], [_offset(name, first)]
    for begin in range(first, last, day):
        low, high = begin, begin + day
        if _offset(name, high) == offsets[-1]:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _offset(name, middle) == offsets[-1] else (low, middle)
        changes.append(high)
        offsets.append(_offset(name, high))
    return Zone.of(name, changes, offsets)


def _micros(moment: datetime) -> int:
    return (moment.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


def _when(name: str, shown: datetime) -> list[int]:
    """Return the instants at which the clocks show a time."""
    zone = ZoneInfo(name)
    both = {_micros(shown.replace(tzinfo=zone, fold=fold).astimezone(UTC)) for fold in (0, 1)}
    return sorted(each for each in both if (_EPOCH + timedelta(microseconds=each)).astimezone(zone).replace(tzinfo=None, fold=0) == shown)


def _instants(name: str) -> st.SearchStrategy[datetime]:
    changes = [_EPOCH + timedelta(microseconds=int(each)) for each in _zone(name).changes] or [datetime(2000, 1, 1, tzinfo=UTC)]
    near = st.builds(lambda each, seconds: each + timedelta(seconds=seconds), st.sampled_from(changes), st.integers(-90_000, 90_000))
    return st.one_of(near, st.datetimes(datetime(1981, 1, 1), datetime(2039, 1, 1), timezones=st.just(UTC)))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_what_clocks_show_and_when(name: str, data: st.DataObject) -> None:
    zone, moment = _zone(name), data.draw(_instants(name))
    instant = np.array([_micros(moment)])
    shown = moment.astimezone(ZoneInfo(name)).replace(tzinfo=None, fold=0)
    assert zone.local(instant).tolist() == [_micros(shown)]
    # The first of two instants; as much later as the clocks skip it by.
    midnight = shown.replace(hour=0, minute=0, second=0, microsecond=0)
    for each in (shown, midnight):
        found = _when(name, each) or [_micros(each.replace(tzinfo=ZoneInfo(name), fold=0).astimezone(UTC))]
        assert zone.instant(np.array([_micros(each)])).tolist() == [found[0]]
    begin = int(zone.day_start(np.array([_micros(midnight)]))[0])
    assert zone.local(np.array([begin]))[0] >= _micros(midnight) > zone.local(np.array([begin - 1]))[0] - 1


@pytest.mark.parametrize("unit", ["day", "hour", "minute"])
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_a_time_is_cut_with_its_own_offset_where_that_holds(name: str, unit: str, data: st.DataObject) -> None:
    zone, moment = _zone(name), data.draw(_instants(name))
    instant = _micros(moment)
    shown = moment.astimezone(ZoneInfo(name)).replace(tzinfo=None, fold=0)
    cleared = {"day": ("hour", "minute", "second", "microsecond"), "hour": ("minute", "second", "microsecond")}
    cut = shown.replace(**dict.fromkeys(cleared.get(unit, ("second", "microsecond")), 0))  # type: ignore[arg-type]
    own = _micros(cut) - (_micros(shown) - instant)
    both = _when(name, cut)
    expected = own if own in both else both[0] if both else int(zone.instant(np.array([_micros(cut)]))[0])
    assert zone.truncated(np.array([instant]), np.array([_micros(cut)])).tolist() == [expected]
    zones.learn(zone)
    found = computed.truncated_in_zone(pa.array([instant, None], pa.int64()).cast(INSTANT), unit, name)
    assert found.cast(pa.int64()).to_pylist() == [expected, None]


def _resolved(name: str, shown: datetime, like: datetime) -> datetime:
    """Return when clocks show a time, of two instants the one as far from UTC as another; as much later as they skip it by."""
    both = _when(name, shown)
    own = _micros(shown) - (_micros(like.astimezone(ZoneInfo(name)).replace(tzinfo=None)) - _micros(like))
    skipped = _micros(shown.replace(tzinfo=ZoneInfo(name), fold=0).astimezone(UTC))
    return _EPOCH + timedelta(microseconds=own if own in both else both[0] if both else skipped)


_UNITS = {"day": timedelta(days=1), "week": timedelta(days=7), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), count=st.integers(-60, 60), unit=st.sampled_from([*_UNITS, "month", "year"]))
def test_constant_times_are_moved_by_the_clocks(name: str, data: st.DataObject, count: int, unit: str) -> None:
    zones.learn(_zone(name))
    moment = data.draw(_instants(name))
    shown = moment.astimezone(ZoneInfo(name)).replace(tzinfo=None, fold=0)
    if unit in _UNITS:
        days, rest = divmod(abs(count) * _UNITS[unit], timedelta(days=1))
        sign = 1 if count > 0 else -1
        begun = _resolved(name, shown + sign * timedelta(days=days), moment) if days else moment
        expected = begun + sign * rest
    else:
        months = shown.year * 12 + shown.month - 1 + count * (12 if unit == "year" else 1)
        last = calendar.monthrange(months // 12, months % 12 + 1)[1]
        expected = _resolved(name, shown.replace(year=months // 12, month=months % 12 + 1, day=min(shown.day, last)), moment)
    assume(1981 <= expected.year < 2039)
    written = f"TIMESTAMP '{moment.replace(tzinfo=None).isoformat(sep=' ')}Z'"
    for text in (f"{written} + INTERVAL {count} {unit.upper()}", f"{written} - INTERVAL '{-count}' {unit.upper()}"):
        found = moments.computed(sqlglot.parse_one(text, read=DIALECT), name)
        assert found is not None
        assert moments.time_at_utc(found) == expected, text
    day = moments.computed(sqlglot.parse_one(f"CAST({written} AS DATE)", read=DIALECT), name)
    assert day is not None
    assert constant(day) == constant(sqlglot.parse_one(f"DATE '{shown.date().isoformat()}'", read=DIALECT))


@pytest.mark.parametrize("unit", ["second", "minute", "hour", "day", "week", "month", "quarter", "year"])
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_constant_times_are_cut_as_columns_are(name: str, unit: str, data: st.DataObject) -> None:
    zones.learn(_zone(name))
    moment = data.draw(_instants(name))
    text = f"date_trunc('{unit}', TIMESTAMP '{moment.replace(tzinfo=None).isoformat(sep=' ')}Z')"
    found = moments.computed(sqlglot.parse_one(text, read=DIALECT), name)
    cut = computed.truncated_in_zone(pa.array([_micros(moment)], pa.int64()).cast(INSTANT), unit, name).cast(pa.int64())[0].as_py()
    assert found is not None
    assert moments.time_at_utc(found) == _EPOCH + timedelta(microseconds=cut)


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "=", "<>"])
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_days_beside_constant_times_begin_when_the_clocks_say_so(name: str, operator: str, data: st.DataObject) -> None:
    """Spark compares the instant at which a day begins."""
    zone = _zone(name)
    zones.learn(zone)
    moment = data.draw(_instants(name))
    near = moment.astimezone(ZoneInfo(name)).date()
    begin = datetime.combine(near, datetime.min.time())
    if data.draw(st.booleans(), "at the beginning of a day"):
        moment = _EPOCH + timedelta(microseconds=int(zone.day_start(np.array([_micros(begin)]))[0]))
    days = [near + timedelta(days=step) for step in range(-2, 3)]
    text = f"d {operator} TIMESTAMP '{moment.replace(tzinfo=None).isoformat(sep=' ')}Z'"
    read = Times.of({"d": pa.date32()}, name).read(sqlglot.parse_one(text, read=DIALECT))
    expression = row_expression(read, {"d": pa.date32()})
    starts = [int(zone.day_start(np.array([_micros(datetime.combine(day, datetime.min.time()))]))[0]) for day in days]
    try:
        found = truth(pa.table({"d": pa.array(days, pa.date32())}), expression).to_pylist()
    except NotEvaluable:
        # A time within a day is equal to none, and of two days that begin at once one is skipped.
        assert operator in ("=", "<>") or len(set(starts)) < len(starts)
        return
    compare = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "<>": ne}[operator]
    assert found == [compare(each, _micros(moment)) for each in starts], text


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_in_whole_zones_beginnings_keep_the_order_and_never_come_after(name: str, data: st.DataObject) -> None:
    zone = _zone(name)
    zones.learn(zone)
    near = data.draw(_instants(name))
    later = near + timedelta(seconds=data.draw(st.integers(0, 100_000)))
    times = pa.array([_micros(near), _micros(later)], pa.int64()).cast(INSTANT)
    units = ("minute", "hour", "day", "week", "month", "quarter", "year")
    for place, unit in enumerate(units):
        found = computed.truncated_in_zone(times, unit, name)
        first, second = found.cast(pa.int64()).to_pylist()
        if not zone.is_whole:
            continue
        assert first <= _micros(near)
        assert first <= second
        assert computed.truncated_in_zone(found, unit, name) == found
        # What follows from a finer unit is what follows from the time; a week lies in no month.
        for coarser in units[place + 1 :] if unit != "week" else ():
            assert computed.truncated_in_zone(found, coarser, name) == computed.truncated_in_zone(times, coarser, name)
        days = computed.shown(times, name).cast(pa.date32())
        if unit in ("minute", "hour", "day"):
            assert computed.shown(found, name).cast(pa.date32()) == days
        if unit == "day":
            assert computed.day_starts(days, name) == found


@pytest.mark.parametrize(
    ("name", "is_whole"), [(name, name != "America/St_Johns") for name in NAMES] + [("Atlantic/Azores", False), ("Africa/Casablanca", True)]
)
def test_which_zones_keep_units_whole(name: str, is_whole: bool) -> None:
    assert _zone(name).is_whole is is_whole


def test_rules_come_again_with_the_calendar() -> None:
    winter, summer = 3600, 7200
    zone = Zone.of("Z", [REPEATS_FROM + 100, REPEATS_FROM + 200], [winter, summer, winter])
    for cycle in (0, 1, 7, 19):
        begin = REPEATS_FROM + cycle * CYCLE
        times = np.array([begin + 99, begin + 100, begin + 199, begin + 200]) * 1_000_000
        assert (zone.offset_at(times) // 1_000_000).tolist() == [winter, summer, summer, winter]


def test_what_has_no_rules_is_left_to_spark() -> None:
    zones.learn(Zone.of("Known", [], [0]))
    early = pa.array([(BEGIN - 1) * 1_000_000], pa.int64()).cast(INSTANT)
    with pytest.raises(NotEvaluable, match="1970"):
        computed.shown(early, "Known")
    assert computed.shown(pa.nulls(2, INSTANT), "Known").type == LOCAL
    with pytest.raises(NotEvaluable, match="Nowhere"):
        computed.shown(early, "Nowhere")


TEXTS = [
    ("t >= '2024-10-27 02:30:00'", "t >= CAST('2024-10-27 00:30:00.000000Z' AS TIMESTAMP)"),
    ("t < '2024-03-31 02:30:00'", "t < '2024-03-31 02:30:00'"),
    ("t = DATE '2024-07-01'", "t = CAST('2024-06-30 22:00:00.000000Z' AS TIMESTAMP)"),
    ("hour(t) = 3", "HOUR(CAST(t AS TIMESTAMP_NTZ)) = 3"),
    ("date_trunc('DAY', t) = u", "DATE_TRUNC('DAY', t) = u"),
    ("d = TIMESTAMP '2024-07-01 00:00:00Z'", "d = CAST('2024-07-01 00:00:00Z' AS TIMESTAMP)"),
]


@pytest.fixture
def berlin() -> str:
    zones.learn(_zone("Europe/Berlin"))
    return "Europe/Berlin"


@pytest.mark.parametrize(("text", "read"), TEXTS)
def test_texts_beside_times_are_those_of_the_zone(text: str, read: str, berlin: str) -> None:
    times = Times.of({"t": INSTANT, "u": INSTANT, "d": pa.date32()}, berlin)
    assert times.read(sqlglot.parse_one(text, read=DIALECT)).sql(dialect=DIALECT) == read
    unknown = Times.of({"t": INSTANT, "u": INSTANT, "d": pa.date32()}, "")
    assert unknown.read(sqlglot.parse_one(text, read=DIALECT)) == sqlglot.parse_one(text, read=DIALECT)


@pytest.mark.parametrize(
    ("settings", "zone"),
    [
        ({"spark.sql.session.timeZone": "Etc/UTC"}, "UTC"),
        ({"spark.sql.session.timeZone": "Europe/Berlin"}, "Europe/Berlin"),
        ({"spark.sql.session.timeZone": "Europe/Berlin", "spark.sql.timestampType": "TIMESTAMP_NTZ"}, ""),
    ],
)
def test_which_zone_a_session_has(settings: dict[str, str], zone: str) -> None:
    assert zone_of(settings) == zone


def test_a_session_whose_rules_are_not_known_keeps_no_granules_whatever_others_have_learned(berlin: str, tmp_path: Path) -> None:
    """A Spark Connect session of the zone beside an embedded one: its server may have other rules."""
    path = LakePath(tmp_path, berlin)
    times = [datetime(2024, 3, 1, tzinfo=UTC) + timedelta(hours=7 * number) for number in range(60)]
    path.append("events", pa.table({"t": pa.array(times, INSTANT), "x": pa.array(range(60), pa.int32())}))
    for month in ("2024-03-02", "2024-03-03", "2024-03-04"):
        path.ask(f"SELECT count(*) AS n, max(x) AS x FROM events WHERE t >= TIMESTAMP '{month} 00:00:00Z'")
        path.settle()
    keys = [key for each in path.relations.registry.relations() if each.block is not None for key in each.block.keys_sql]
    assert keys
    assert not [key for key in keys if "TRUNC" in key.upper()]
    path.close()
