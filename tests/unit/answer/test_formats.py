"""Texts of dates and times as keys: those of a coarser granule follow from a finer one."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.reasons import Decision, ServedBy
from imp_driver.values.date_patterns import finest_unit, is_known
from tests.unit.answer.lake_table import LakeTable

SCHEMA = pa.schema([("d", pa.date32()), ("t", pa.timestamp("us", tz="UTC")), ("x", pa.int64())])


def _row(chance: random.Random) -> list[object]:
    time = datetime.datetime(2023, 11, 1, tzinfo=datetime.UTC) + datetime.timedelta(hours=chance.randrange(24 * 200))
    return [None if chance.random() < 0.05 else time.date(), time, chance.randrange(100)]


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "visits", SCHEMA, _row, zone="UTC")
    yield found
    found.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT date_format(d, 'yyyy-MM') AS m, sum(x) AS s FROM visits GROUP BY date_format(d, 'yyyy-MM')",
        "SELECT date_format(t, 'yyyy-MM-dd') AS m, count(*) AS n FROM visits GROUP BY 1 ORDER BY m",
        "SELECT sum(x) AS s FROM visits WHERE date_format(t, 'HH') < '12' AND date_format(d, 'yyyyMM') >= '202401'",
    ],
)
def test_texts_are_keys(visits: LakeTable, text: str) -> None:
    visits.ask(text)
    visits.change("x > 90")
    report = visits.ask(text)
    assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED)


def test_texts_of_months_follow_from_days(visits: LakeTable) -> None:
    visits.ask("SELECT d, date_trunc('DAY', t) AS day, sum(x) AS s, count(*) AS n FROM visits GROUP BY d, date_trunc('DAY', t)")
    for text in (
        "SELECT date_format(d, 'MMM yyyy') AS m, sum(x) AS s FROM visits GROUP BY 1",
        "SELECT date_format(t, 'yyyy-MM') AS m, sum(x) AS s FROM visits WHERE date_format(d, 'E') = 'Mon' GROUP BY 1",
    ):
        report = visits.ask(text)
        assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.FRESH)
    hours = visits.ask("SELECT date_format(t, 'HH') AS h, count(*) AS n FROM visits GROUP BY 1")
    assert hours.decision is Decision.CAPTURED


def test_times_of_other_zones_are_spark_s(tmp_path: Path) -> None:
    table = LakeTable(tmp_path, "visits", SCHEMA, _row, 30, zone="Europe/Berlin")
    report = table.ask("SELECT max(date_format(d, 'yyyy-MM')) AS m FROM visits")
    assert report.served_by is ServedBy.SPARK
    table.close()


@pytest.mark.parametrize(
    "pattern", ["", "y", "yyyyMMMMM", "yyyy'T'HH", "QQQ", "yyyy-MM-ddXXX", "yyyy%MM", "YYYY-ww", "ss.SSS", "yyyy [MM]", "--"]
)
def test_other_patterns_are_not_known(pattern: str) -> None:
    assert not is_known(pattern)


def test_the_finest_unit_is_what_a_text_needs() -> None:
    assert [finest_unit(each) for each in ("yyyy", "MMM yyyy", "E MM", "HH:mm")] == ["year", "month", "day", "minute"]
