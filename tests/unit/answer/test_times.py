"""Times in answers: what depends on the zone is computed in sessions at UTC, days and hours are keys in the place of times."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.plan.zones import zone_of
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.zones import UTC
from tests.unit.answer.lake_table import LakeTable

FIRST = datetime.datetime(2024, 1, 1)
SCHEMA = pa.schema(
    [("k", pa.int32()), ("t", pa.timestamp("us", tz="UTC")), ("l", pa.timestamp("us")), ("d", pa.date32()), ("x", pa.int64())]
)
Bounds = Callable[[int], tuple[str, str]]


def _row(chance: random.Random) -> list[object]:
    time = _time(chance)
    day = None if chance.random() < 0.05 else FIRST.date() + datetime.timedelta(days=chance.randrange(400))
    return [chance.randrange(4), None if time is None else time.replace(tzinfo=datetime.UTC), _time(chance), day, chance.randrange(100)]


def _time(chance: random.Random) -> datetime.datetime | None:
    """Half of the times are at the beginning of an hour, or right before one."""
    if chance.random() < 0.05:
        return None
    hour = FIRST + datetime.timedelta(hours=chance.randrange(-24, 24 * 400))
    return hour + datetime.timedelta(microseconds=chance.choice([0, 0, -1, chance.randrange(3_600_000_000)]))


@pytest.fixture
def events(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "events", SCHEMA, _row, zone="UTC")
    yield found
    found.close()


def _month(number: int) -> tuple[str, str]:
    return f"2024-{number % 11 + 1:02}-01", f"2024-{number % 11 + 2:02}-01"


def _day(number: int) -> tuple[str, str]:
    return f"2024-0{number + 1}-17 00:00:00", f"2024-0{number + 3}-03"


def _hour(number: int) -> tuple[str, str]:
    return f"2024-0{number + 1}-17 0{number}:00:00", f"2024-0{number + 3}-03 12:00:00"


def _minute(number: int) -> tuple[str, str]:
    return f"2024-0{number + 1}-17 0{number}:30:00", f"2024-0{number + 3}-03 12:00:00.000000"


def _moment(number: int) -> tuple[str, str]:
    return f"2024-0{number + 1}-17 0{number}:30:00.5", f"2024-0{number + 3}-03 12:00:00"


@pytest.mark.parametrize(("bounds", "unit"), [(_month, "MONTH"), (_day, "DAY"), (_hour, "HOUR"), (_minute, "MINUTE"), (_moment, "")])
@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("t", "SELECT k, sum(x) AS s FROM events WHERE t >= TIMESTAMP '{}' AND t < TIMESTAMP '{}' GROUP BY k"),
        ("t", "SELECT count(*) AS n FROM events WHERE t >= '{}' AND NOT CAST('{}' AS TIMESTAMP) <= t"),
        ("l", "SELECT k, max(x) AS m FROM events WHERE l >= TIMESTAMP_NTZ '{}' AND '{}' > l GROUP BY k"),
        ("l", "SELECT sum(CASE WHEN l >= '{}' AND l < '{}' THEN x ELSE 0 END) AS s, count(*) AS n FROM events"),
    ],
)
def test_the_coarsest_unit_that_no_constant_cuts_is_the_key(events: LakeTable, column: str, text: str, bounds: Bounds, unit: str) -> None:
    for number in (0, 1):
        report = events.ask(text.format(*bounds(number)))
    assert report.not_answered is not None
    assert report.not_answered.reason is Reason.LIFT_NEEDED
    events.settle()
    local = f"date_trunc('{unit.lower()}', {'cast(t as timestamp_ntz)' if column == 't' else 'l'})"
    expected = column if not unit else f"cast({local} as timestamp)" if column == "t" else local
    assert events.grouped_by()[-1] == expected
    for number in range(2, 5):
        events.change(f"x = {number}")
        assert events.ask(text.format(*bounds(number))).decision is Decision.MAINTAINED


@pytest.mark.parametrize("column", ["t", "l"])
def test_days_and_their_parts_follow_from_hours(events: LakeTable, column: str) -> None:
    hours = f"SELECT date_trunc('HOUR', {column}) AS h, sum(x) AS s, count(*) AS n FROM events GROUP BY date_trunc('HOUR', {column})"
    assert events.ask(hours).served_by is ServedBy.STATE
    for text in (
        "SELECT date_trunc('DAY', {0}) AS d, sum(x) AS s FROM events GROUP BY date_trunc('DAY', {0})",
        "SELECT CAST({0} AS DATE) AS d, count(*) AS n FROM events WHERE CAST({0} AS DATE) > DATE '2024-03-05' GROUP BY CAST({0} AS DATE)",
        "SELECT to_date({0}) AS d, count(*) AS n FROM events WHERE {0} < DATE '2024-03-05' GROUP BY to_date({0})",
        "SELECT year({0}) AS y, hour({0}) AS h, sum(x) AS s FROM events GROUP BY year({0}), hour({0})",
        "SELECT extract(MONTH FROM {0}) AS m, sum(x) AS s FROM events WHERE {0} BETWEEN '2024-02-01' AND '2024-05-31 23:59:59.999999' "
        "GROUP BY extract(MONTH FROM {0})",
        "SELECT date_trunc('WEEK', {0}) AS w, sum(x) AS s FROM events WHERE quarter({0}) <> 1 GROUP BY date_trunc('WEEK', {0})",
        "SELECT count(*) AS n FROM events WHERE {0} IS NULL",
        "SELECT count(*) AS n FROM events WHERE date_trunc('MONTH', {0}) = '2024-03-01'",
    ):
        before = len(events.relations.registry.relations())
        assert events.ask(text.format(column)).served_by is ServedBy.STATE
        assert len(events.relations.registry.relations()) == before, text
    for text in (
        "SELECT count(*) AS n FROM events WHERE {} <= '2024-05-31 23:59:59'",
        "SELECT count(*) AS n FROM events WHERE {} = '2024-05-31 12:00:00'",
        "SELECT count(*) AS n FROM events WHERE minute({}) = 0",
    ):
        before = len(events.relations.registry.relations())
        events.ask(text.format(column))
        assert len(events.relations.registry.relations()) == before + 1, text


def test_rows_of_times(events: LakeTable) -> None:
    text = "SELECT t, date_trunc('DAY', t) AS day, hour(l) AS h FROM events WHERE t >= '2024-0{}-01' AND k = 1"
    for number in (1, 2, 3, 3):
        events.ask(text.format(number))
        events.settle()
    events.change("x = 1")
    assert events.ask(text.format(4)).served_by is ServedBy.STATE


def test_in_other_zones_parts_of_instants_are_sparks(tmp_path: Path) -> None:
    events = LakeTable(tmp_path, "events", SCHEMA, _row, zone="Europe/Berlin")
    text = "SELECT date_trunc('DAY', t) AS day, count(*) AS n FROM events GROUP BY date_trunc('DAY', t)"
    assert events.ask("SELECT t, count(*) AS n FROM events GROUP BY t").served_by is ServedBy.STATE
    # Neither follows from the groups by the times themselves.
    assert events.ask(text).decision is Decision.CAPTURED
    assert events.ask("SELECT year(t) AS y, count(*) AS n FROM events GROUP BY year(t)").decision is Decision.CAPTURED
    events.change("x = 1")
    assert events.ask(text).decision is Decision.MAINTAINED
    for number in (1, 2, 3):
        report = events.ask(f"SELECT count(*) AS n FROM events WHERE t >= TIMESTAMP '2024-0{number}-01'")
        assert report.not_answered is None or report.not_answered.reason is not Reason.LIFT_NEEDED
        report = events.ask(f"SELECT count(*) AS n FROM events WHERE month(t) = {number}")
        assert report.not_answered is None or report.not_answered.reason is not Reason.LIFT_NEEDED
    for number in (1, 2, 3):
        events.ask(f"SELECT sum(x) AS s FROM events WHERE l >= '2024-0{number}-01'")
        events.settle()
    # Of a time without zone date_trunc makes an instant there.
    assert events.grouped_by() == ["l"]
    events.close()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"spark.sql.session.timeZone": "UTC"}, True),
        ({"spark.sql.session.timeZone": "Etc/UTC", "spark.sql.timestampType": "TIMESTAMP_LTZ"}, True),
        ({"spark.sql.session.timeZone": "UTC", "spark.sql.timestampType": "TIMESTAMP_NTZ"}, False),
        ({"spark.sql.session.timeZone": "Europe/London"}, False),
        ({}, False),
    ],
)
def test_a_session_at_utc_is_told_by_its_settings(settings: dict[str, str], expected: bool) -> None:
    assert (zone_of(settings) == UTC) is expected
