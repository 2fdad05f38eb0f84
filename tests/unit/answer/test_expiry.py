"""Rows that expire by a DATE or a TIMESTAMP_NTZ, without a JVM: a recursion has the rows that another engine finds, to the last moment."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.parse.expiry import Expiry, with_expiries
from imp_driver.reasons import Decision, ServedBy
from tests.unit.answer.lake_table import LakeTable

FIRST = datetime.datetime(2024, 3, 1)
SCHEMA = pa.schema([("k", pa.int32()), ("d", pa.date32()), ("l", pa.timestamp("us"))])
QUERY = "WITH RECURSIVE p(k, d, l) AS (SELECT k, d, l FROM seen UNION SELECT k + 1, d, l FROM p WHERE k < 5) SELECT k, d, l FROM p"


def _row(chance: random.Random) -> list[object]:
    time = FIRST + datetime.timedelta(days=chance.randrange(30), hours=6 * chance.randrange(4))
    return [chance.randrange(4), None if chance.random() < 0.05 else time.date(), None if chance.random() < 0.05 else time]


@pytest.fixture
def seen(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "seen", SCHEMA, _row, zone="UTC")
    yield found
    found.close()


def expiring(column: str, count: int, unit: str, *, by_clock: bool = False) -> str:
    expiry = Expiry(("seen",), count, unit, column, by_clock)
    return with_expiries(QUERY, [expiry], lambda each: SCHEMA.field(each.column).type)


AGES = [("d", 10, "day"), ("d", 2, "week"), ("l", 36, "hour"), ("l", 9, "day"), ("l", 1, "week")]


@pytest.mark.parametrize(("column", "count", "unit"), AGES)
def test_rows_expire_by_the_newest_value(seen: LakeTable, column: str, count: int, unit: str) -> None:
    text = expiring(column, count, unit)
    for day in (28, 25, 20):
        assert seen.ask(text).served_by is ServedBy.STATE
        last = FIRST + datetime.timedelta(days=day, hours=12)
        seen.delete(f"{column} > '{last.date() if column == 'd' else last}'")
    seen.change("k = 2")
    assert seen.ask(text).decision is Decision.MAINTAINED


@pytest.mark.parametrize(("column", "count", "unit"), [("d", 3, "day"), ("d", 1, "week"), ("l", 30, "hour"), ("l", 2, "day")])
def test_rows_expire_by_the_clock(seen: LakeTable, column: str, count: int, unit: str) -> None:
    text = expiring(column, count, unit, by_clock=True)
    for hours in (0, 6, 7, 18, 30, 54):
        seen.go_to(datetime.datetime(2024, 3, 29, tzinfo=datetime.UTC) + datetime.timedelta(hours=hours))
        report = seen.ask(text)
        assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.FRESH if hours else Decision.CAPTURED)


@pytest.mark.parametrize(
    ("column", "unit", "told"),
    [
        ("k", "day", "k of `seen` is INT; rows expire by a TIMESTAMP, a TIMESTAMP_NTZ or a DATE"),
        ("d", "hour", "d of `seen` is a DATE, whose age is counted in DAYS or WEEKS, not in HOURS"),
    ],
)
def test_what_cannot_expire_is_told(column: str, unit: str, told: str) -> None:
    with pytest.raises(ProgrammingError, match=told):
        expiring(column, 1, unit)
