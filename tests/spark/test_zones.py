"""Times of sessions in zones other than UTC: parts, days and beginnings of units are computed in process, by the JVM's own rules."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from sqlglot import parse_one

import imp_driver
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.moments import computed
from imp_driver.reasons import Decision, ServedBy
from tests.seeds import WIDE

ZONES = (
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "America/St_Johns",
    "Atlantic/Azores",
    "Africa/Casablanca",
    "Pacific/Apia",
    "GMT+05:30",
)
"""With clocks that are put back across midnight, at it, by half an hour, or by a day."""
_CHANGES: tuple[str, ...] = (
    "1987-10-25T03:00",
    "2006-10-29T04:01",
    "2010-10-31T01:00",
    "2018-11-04T03:00",
    "2011-12-30T10:00",
    "2024-03-31T01:00",
)
_CHANGES += ("2024-10-27T01:00", "2024-11-03T06:00", "2024-04-06T15:00", "2107-10-30T01:00", "2611-03-27T01:00", "9998-07-01T12:00")
KEYS = (
    "CAST(t AS DATE)",
    *(f"date_trunc('{unit}', t)" for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")),
    *(f"{part}(t)" for part in ("year", "month", "day", "hour", "minute", "dayofweek", "weekofyear", "dayofyear")),
    "date_format(t, 'yyyy-MM-dd HH')",
    "extract(HOUR FROM t)",
)
_numbers = count()
PATIENCE = 60
"""Seconds for a capture in the background, on a busy machine."""


def _times(chance: random.Random) -> list[datetime]:
    around = [datetime.fromisoformat(each).replace(tzinfo=UTC) for each in _CHANGES]
    near = [each + timedelta(minutes=15 * step) for each in around for step in range(-18, 19)]
    first = datetime(1970, 1, 1, tzinfo=UTC)
    return near + [first + timedelta(seconds=chance.randrange(130 * 365 * 86_400)) for _ in range(150)]


CONDITIONS = (
    "t >= '2024-10-27 02:30:00'",
    "t < TIMESTAMP '2024-03-31 02:30:00' AND t > '2011-01-01'",
    "t BETWEEN DATE '2006-10-29' AND DATE '2107-10-30'",
    "CAST(t AS DATE) = DATE '2024-10-27'",
    "hour(t) IN (1, 2) AND year(t) > 2000",
    "date_trunc('hour', t) = TIMESTAMP '2024-10-27 02:00:00'",
)


@pytest.fixture(scope="module")
def table(engine: imp_driver.Connection) -> Iterator[str]:
    name = f"zones_{next(_numbers)}"
    rows = ", ".join(f"(TIMESTAMP '{each.isoformat()}', {number % 7})" for number, each in enumerate(_times(random.Random(5))))
    engine.execute(f"CREATE TABLE {name} (t TIMESTAMP, x INT) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    engine.execute(f"INSERT INTO {name} VALUES {rows}, (NULL, 1)")
    yield name
    engine.execute(f"DROP TABLE {name}")


def _texts(table: str) -> list[str]:
    """Return a query with all keys, and one for each condition."""
    numbers = ", ".join(str(place + 1) for place in range(len(KEYS)))
    keys = f"SELECT {', '.join(f'{key} AS k{place}' for place, key in enumerate(KEYS))}, count(*) AS n, sum(x) AS s FROM {table}"
    return [
        f"{keys} GROUP BY {numbers}",
        *(f"SELECT x, count(*) AS n, max(t) AS t FROM {table} WHERE {each} GROUP BY x" for each in CONDITIONS),
    ]


@pytest.mark.parametrize("zone", ZONES if WIDE else ZONES[:2])
def test_what_depends_on_the_zone_is_followed_in_process(zone: str, table: str, warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental") as own:
        own.execute(f"SET TIME ZONE '{zone}'")
        plain = own.cursor()
        plain.sketch = "off"
        for text in _texts(table):
            own.execute(text).fetchall()
        own.execute(f"INSERT INTO {table} VALUES (TIMESTAMP '2024-10-27 00:30:00Z', 3), (TIMESTAMP '2024-10-27 01:30:00Z', 4)")
        own.execute(f"DELETE FROM {table} WHERE t = TIMESTAMP '2024-03-31 01:00:00Z'")
        for text in _texts(table):
            cursor = own.execute(text)
            rows = cursor.fetchall()
            assert sorted(map(repr, rows)) == sorted(map(repr, plain.execute(text).fetchall())), text
            report = cursor.sketch_report
            assert report is not None
            assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED), (text, report)


INTERVALS = ("DAY", "WEEK", "HOUR", "MINUTE", "MONTH", "YEAR")


def test_constant_times_are_those_of_spark(table: str, warehouse: Path) -> None:
    chance = random.Random(7)
    for zone in ZONES if WIDE else ZONES[:3]:
        texts = []
        for each in chance.sample(_times(chance), 60):
            written = f"TIMESTAMP '{each.replace(tzinfo=None).isoformat(sep=' ')}Z'"
            texts.append(f"{written} {chance.choice('+-')} INTERVAL {chance.randint(-70, 70)} {chance.choice(INTERVALS)}")
            texts.append(f"date_trunc('{chance.choice((*INTERVALS, 'QUARTER'))}', {written})")
            texts.append(f"CAST({written} AS DATE)")
        with imp_driver.connect(warehouse=str(warehouse)) as own:
            own.execute(f"SET TIME ZONE '{zone}'")
            # The rules of the zone are asked for.
            own.execute(f"SELECT count(*) FROM {table} WHERE t > now()").fetchall()
            instants = [f"CAST(CAST({each} AS TIMESTAMP) AS STRING)" for each in texts]
            (expected,) = own.execute(f"SELECT {', '.join(instants)}").fetchall()
            found = [computed(parse_one(each, dialect=DIALECT), zone) for each in texts]
            assert sum(each is None for each in found) < len(texts) / 10
            given = [
                f"CAST(CAST({text if each is None else each.sql(dialect=DIALECT)} AS TIMESTAMP) AS STRING)"
                for text, each in zip(texts, found, strict=True)
            ]
            (computed_here,) = own.execute(f"SELECT {', '.join(given)}").fetchall()
            assert dict(zip(texts, computed_here, strict=True)) == dict(zip(texts, expected, strict=True))


@pytest.mark.parametrize("zone", ZONES[1:3])
def test_the_time_of_a_query_is_a_constant_of_the_zone(zone: str, table: str, warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental") as own:
        own.execute(f"SET TIME ZONE '{zone}'")
        plain = own.cursor()
        plain.sketch = "off"
        text = f"SELECT x, count(*) AS n, max(t) AS t FROM {table} WHERE t < date_trunc('month', now()) - INTERVAL 3 DAYS GROUP BY x"
        end = time.monotonic() + PATIENCE
        while not _is_answered(own, text):
            assert time.monotonic() < end
        assert sorted(map(repr, own.execute(text).fetchall())) == sorted(map(repr, plain.execute(text).fetchall()))


WHOLE = ("Australia/Lord_Howe", "Europe/Berlin", "Asia/Kolkata", "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca")
ASKED = {
    "month": [f"t >= '2024-{month:02}-01'" for month in range(1, 8)],
    "hour": [f"t >= '2024-10-27 0{hour}:00:00' AND CAST(t AS DATE) < DATE '2107-11-01'" for hour in range(1, 8)],
}


@pytest.mark.parametrize("zone", WHOLE if WIDE else WHOLE[:1])
@pytest.mark.parametrize("unit", ASKED)
def test_times_with_changing_constants_are_kept_by_granules_of_the_zone(unit: str, zone: str, table: str, warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental") as own:
        own.execute(f"SET TIME ZONE '{zone}'")
        plain = own.cursor()
        plain.sketch = "off"
        texts = [f"SELECT year(t) AS y, count(*) AS n, sum(x) AS s FROM {table} WHERE {each} GROUP BY year(t)" for each in ASKED[unit]]
        for text in texts:
            own.execute(text).fetchall()
        end = time.monotonic() + PATIENCE
        while not all(_is_answered(own, text) for text in texts) and time.monotonic() < end:
            time.sleep(0.2)
        own.execute(f"INSERT INTO {table} VALUES (TIMESTAMP '2024-10-27 00:30:00Z', 3), (TIMESTAMP '2024-10-27 01:30:00Z', 4)")
        for text in texts:
            assert _is_answered(own, text), text
            assert sorted(map(repr, own.execute(text).fetchall())) == sorted(map(repr, plain.execute(text).fetchall())), text
        shown = own.execute("SHOW STATES").fetchall()
        assert any(f"date_trunc('{unit}'" in repr(row).lower() for row in shown)


def _is_answered(connection: imp_driver.Connection, text: str) -> bool:
    with connection.execute(text) as cursor:
        report = cursor.sketch_report
        return report is not None and report.served_by is ServedBy.STATE
