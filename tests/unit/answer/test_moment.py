"""Queries that ask for the day or the time at which they are run: a constant like any other, the same wherever it stands."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import sqlglot

from imp_driver.parse.moment import with_moment
from imp_driver.parse.statement import DIALECT, parse
from imp_driver.plan.zones import Times
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.zones import UTC
from tests.unit.answer.lake_table import LakeTable

FIRST = datetime.date(2024, 3, 1)
SCHEMA = pa.schema(
    [
        ("k", pa.int32()),
        ("d", pa.date32()),
        ("t", pa.timestamp("us", tz="UTC")),
        ("x", pa.int64()),
        ("l", pa.timestamp("us")),
    ]
)


def _row(chance: random.Random) -> list[object]:
    day = FIRST + datetime.timedelta(days=chance.randrange(-60, 60))
    time = datetime.datetime.combine(day, datetime.time(chance.randrange(24)), datetime.UTC)
    local = datetime.datetime.combine(day, datetime.time(chance.randrange(24)))
    return [chance.randrange(4), None if chance.random() < 0.05 else day, time, chance.randrange(100), local]


@pytest.fixture
def sales(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "sales", SCHEMA, _row, zone="UTC")
    yield found
    found.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT k, sum(x) AS s FROM sales WHERE d >= current_date() - INTERVAL 7 DAYS GROUP BY k",
        "SELECT k, count(*) AS n FROM sales WHERE d BETWEEN date_sub(current_date, 30) AND CURRENT_DATE GROUP BY k",
        "SELECT count(*) AS n FROM sales WHERE d = curdate()",
        "SELECT k, sum(CASE WHEN d < current_date() THEN x ELSE 0 END) AS s FROM sales GROUP BY k",
        "SELECT d < current_date() AS is_past, max(x) AS m FROM sales GROUP BY 1",
        "SELECT k, sum(x) AS s FROM sales WHERE CAST(t AS DATE) > date_add(current_date(), -3) GROUP BY k HAVING max(d) >= current_date()",
        "SELECT k, sum(x) AS s FROM sales WHERE date_format(d, 'yyyy-MM') = date_format(current_date(), 'yyyy-MM') GROUP BY k",
        "SELECT year(d) AS y, sum(x) AS s FROM sales WHERE year(d) = year(current_date()) GROUP BY year(d)",
    ],
)
def test_another_day_is_answered_from_the_same_state(sales: LakeTable, text: str) -> None:
    for number in range(4):
        sales.go_to(FIRST + datetime.timedelta(days=number))
        report = sales.ask(text)
        sales.settle()
    assert report.served_by is ServedBy.STATE
    sales.change("k = 2 AND x > 90")
    sales.go_to(FIRST + datetime.timedelta(days=9))
    report = sales.ask(text)
    assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED)


def test_the_day_in_the_select_list_keeps_its_name(sales: LakeTable) -> None:
    for _ in range(2):
        report = sales.ask("SELECT k, max(d) < current_date() AS is_late, current_date() FROM sales GROUP BY k")
    assert report.served_by is ServedBy.STATE


def test_a_column_of_that_name_is_read_by_spark(tmp_path: Path) -> None:
    table = LakeTable(tmp_path, "t", pa.schema([("k", pa.int32()), ("current_date", pa.date32())]), lambda chance: _row(chance)[:2], 20)
    report = table.ask("SELECT k, count(*) AS n FROM t WHERE current_date() > DATE '2024-01-01' GROUP BY k")
    assert (report.served_by, report.reason) == (ServedBy.SPARK, Reason.NON_DETERMINISTIC)
    table.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT k, max(d) AS current_date FROM sales GROUP BY k HAVING max(d) > current_date()",
        "WITH q(k, current_date) AS (SELECT k, d FROM sales) SELECT k, max(current_date()) AS d FROM q GROUP BY k",
    ],
)
def test_a_name_that_is_written_alike_is_spark_s(sales: LakeTable, text: str) -> None:
    report = sales.ask(text)
    assert (report.served_by, report.reason) == (ServedBy.SPARK, Reason.NON_DETERMINISTIC)


def test_no_sketch_is_used_on_the_next_day(sales: LakeTable) -> None:
    """A function of Spark's is above rows that only filter; Spark would read the day anew."""
    report = sales.ask("SELECT k, md5(CAST(sum(x) AS STRING)) AS r FROM sales WHERE d <= current_date() GROUP BY k")
    assert report.served_by is ServedBy.STATE_AND_SPARK
    assert "current_date" not in report.executed_sql.lower()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT k, sum(x) AS s FROM sales WHERE t >= date_trunc('day', now()) - INTERVAL 7 DAYS GROUP BY k",
        "SELECT k, count(*) AS n FROM sales WHERE t < date_trunc('month', current_timestamp()) - INTERVAL 1 MONTH GROUP BY k",
        "SELECT count(*) AS n FROM sales WHERE d > CAST(now() - INTERVAL 36 HOURS AS DATE)",
        "SELECT k, sum(CASE WHEN t < date_trunc('week', now()) THEN x ELSE 0 END) AS s FROM sales GROUP BY k",
        "SELECT k, max(t) < now() AS is_past, sum(x) AS s FROM sales GROUP BY k",
        "SELECT k, sum(x) AS s FROM sales WHERE t BETWEEN date_trunc('year', now()) AND date_trunc('quarter', now()) GROUP BY k",
        "SELECT k, sum(x) AS s FROM sales WHERE l >= date_trunc('day', now()) - INTERVAL 7 DAYS GROUP BY k",
        "SELECT k, sum(x) AS s FROM sales WHERE d >= now() - INTERVAL 7 DAYS AND d < now() GROUP BY k",
        "SELECT k, sum(x) AS s FROM sales WHERE now() - INTERVAL 1 MONTH < d AND now() >= d GROUP BY k",
        "SELECT k, sum(x) AS s FROM sales WHERE d > now() - INTERVAL 9 DAYS AND date_trunc('day', now()) <= d GROUP BY k",
        "SELECT k, sum(x) AS s FROM sales WHERE d BETWEEN now() - INTERVAL 9 DAYS AND now() GROUP BY k",
        "SELECT k, sum(x) AS s FROM sales WHERE d <> date_trunc('day', now()) AND d <= now() GROUP BY k",
        "SELECT k, sum(x) AS s FROM sales WHERE d >= to_date(INTERVAL 2 WEEKS + (now() - INTERVAL '3' YEAR)) GROUP BY k",
    ],
)
def test_another_time_is_answered_from_the_same_state(sales: LakeTable, text: str) -> None:
    for number in range(4):
        sales.go_to(datetime.datetime(2024, 3, 31, 22, 7, 30, 17, datetime.UTC) + datetime.timedelta(hours=7 * number))
        report = sales.ask(text)
        sales.settle()
    assert report.served_by is ServedBy.STATE
    sales.change("k = 2 AND x > 90")
    sales.go_to(datetime.datetime(2024, 4, 9, 0, 0, 1, 0, datetime.UTC))
    report = sales.ask(text)
    assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED)


def test_a_moving_time_between_the_kept_ones_is_right(sales: LakeTable) -> None:
    for number in range(8):
        sales.go_to(datetime.datetime(2024, 3, 5, 9, 30, tzinfo=datetime.UTC) + datetime.timedelta(minutes=47 * number))
        sales.ask("SELECT k, sum(x) AS s, count(*) AS n FROM sales WHERE t >= now() - INTERVAL 12 HOURS AND t < now() GROUP BY k")
        sales.settle()


@pytest.mark.parametrize(
    "condition",
    [
        "unix_timestamp(t) > unix_timestamp(now())",
        "t > now() - make_interval(0, 0, 1)",
        "t > now() - INTERVAL '1 2' DAY TO HOUR",
        "datediff(now(), t) < 3",
        "t > now() AND hour(now()) < 7",
    ],
)
def test_what_is_made_of_a_time_in_another_way_is_spark_s(condition: str) -> None:
    statement = parse(f"SELECT k, count(*) AS n FROM sales WHERE {condition} GROUP BY k")
    assert statement.tree is not None
    assert with_moment(statement.tree) == (statement.tree, frozenset())


def test_a_session_in_another_zone_leaves_the_time_to_spark(tmp_path: Path) -> None:
    table = LakeTable(tmp_path, "sales", SCHEMA, _row, zone="Europe/Berlin")
    report = table.ask("SELECT k, count(*) AS n FROM sales WHERE t >= now() - INTERVAL 7 DAYS GROUP BY k")
    assert (report.served_by, report.reason) == (ServedBy.SPARK, Reason.NON_DETERMINISTIC)
    table.close()


@pytest.mark.parametrize("text", ["0001-01-01 00:00:00+05:00", "9999-12-31 23:00:00-05:00", "9999-12-31 12:00:00Z", "0001-01-01 00:00:00Z"])
def test_times_at_the_ends_of_the_calendar_are_compared_with_days(text: str) -> None:
    days = Times({"d": pa.date32()}, UTC, is_needed=True)
    for operator in (">=", ">", "<", "<=", "="):
        read = days.read(sqlglot.parse_one(f"`d` {operator} CAST('{text}' AS TIMESTAMP)", read=DIALECT)).sql(dialect="spark")
        assert ("DATE" in read) is (text.endswith("Z") and (text.startswith("0001") or operator in (">", "<=")))
