"""Dates in conditions with changing constants: years, quarters or months are keys of the state while no constant cuts one."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.reasons import Reason, ServedBy
from tests.unit.answer.lake_table import LakeTable

FIRST = datetime.date(2019, 1, 1)
SCHEMA = pa.schema([("k", pa.int32()), ("d", pa.date32()), ("e", pa.date32()), ("x", pa.int64())])


def _row(chance: random.Random) -> list[object]:
    return [chance.randrange(4), _random_day(chance), _random_day(chance), chance.randrange(100)]


def _random_day(chance: random.Random) -> datetime.date | None:
    return None if chance.random() < 0.05 else FIRST + datetime.timedelta(days=chance.randrange(1_000))


@pytest.fixture
def sales(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "sales", SCHEMA, _row)
    yield found
    found.close()


def _year(number: int) -> tuple[str, str]:
    return f"{2019 + number % 3}-01-01", f"{2020 + number % 3}-01-01"


def _quarter(number: int) -> tuple[str, str]:
    months = 3 * (number % 6)
    return f"{2019 + months // 12}-{months % 12 + 1:02}-01", f"{2019 + (months + 3) // 12}-{(months + 3) % 12 + 1:02}-01"


def _month(number: int) -> tuple[str, str]:
    return f"2019-{number % 11 + 1:02}-01", f"2019-{number % 11 + 2:02}-01"


def _day(number: int) -> tuple[str, str]:
    return f"2019-{number % 11 + 1:02}-17", f"2020-{number % 11 + 1:02}-03"


@pytest.mark.parametrize(
    ("bounds", "key"),
    [(_year, "trunc(d, 'year')"), (_quarter, "trunc(d, 'quarter')"), (_month, "trunc(d, 'month')"), (_day, "d")],
)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT k, sum(x) AS s FROM sales WHERE d >= DATE '{}' AND d < DATE '{}' GROUP BY k",
        "SELECT k, sum(x) AS s, count(*) AS n FROM sales WHERE d >= '{}' AND '{}' > d GROUP BY k",
        "SELECT max(s) AS most FROM (SELECT k, sum(x) AS s FROM sales WHERE NOT d < DATE '{}' AND d < DATE '{}' GROUP BY k) q",
        "SELECT k, sum(CASE WHEN d >= DATE '{}' AND d < DATE '{}' THEN x ELSE 0 END) AS s, count(*) AS n FROM sales GROUP BY k",
        "SELECT sum(x) FILTER (WHERE d >= DATE '{}') AS s, count(*) FILTER (WHERE d < DATE '{}' OR d IS NULL) AS n FROM sales",
        "SELECT year(d) AS y, min(x) AS least FROM sales WHERE d >= DATE '{}' AND d < DATE '{}' GROUP BY year(d)",
    ],
)
def test_the_coarsest_granule_that_no_constant_cuts_is_the_key(
    sales: LakeTable, text: str, bounds: Callable[[int], tuple[str, str]], key: str
) -> None:
    sales.ask(text.format(*bounds(0)))
    second = sales.ask(text.format(*bounds(1)))
    assert second.not_answered is not None
    assert second.not_answered.reason is Reason.LIFT_NEEDED
    sales.settle()
    assert key in sales.grouped_by()
    for number in range(2, 6):
        sales.change(f"x = {number}")
        assert sales.ask(text.format(*bounds(number))).served_by is ServedBy.STATE


def test_constants_within_a_granule_run_unchanged_and_the_third_makes_the_keys_finer(sales: LakeTable) -> None:
    text = "SELECT k, sum(x) AS s FROM sales WHERE d >= DATE '{}' AND d < DATE '{}' GROUP BY k"
    for number in (0, 1):
        sales.ask(text.format(*_year(number)))
    sales.settle()
    assert sales.grouped_by()[-1] == "trunc(d, 'year')"
    reasons = []
    for number in range(3):
        report = sales.ask(text.format(*_month(number + 1)))
        assert report.served_by is ServedBy.SPARK
        reasons.append(report.not_answered and (report.not_answered.reason, report.not_answered.detail))
        assert sales.ask(text.format(*_year(2))).served_by is ServedBy.STATE
    assert reasons == [(Reason.OFF_GRANULE, "d by year")] * 2 + [(Reason.LIFT_NEEDED, "d by month")]
    sales.settle()
    for number in range(5):
        sales.change(f"x = {number}")
        assert sales.ask(text.format(*_month(number))).served_by is ServedBy.STATE
        assert sales.ask(text.format(*_year(number))).served_by is ServedBy.STATE


def test_dates_of_two_columns_have_granules_of_their_own(sales: LakeTable) -> None:
    text = "SELECT count(*) AS n FROM sales WHERE d < DATE '{}' AND e >= DATE '{}' AND d IS NOT NULL"
    for number in (0, 1):
        sales.ask(text.format(_year(number)[0], _month(number)[0]))
    sales.settle()
    assert sales.grouped_by() == ["trunc(d, 'year')", "trunc(e, 'month')"]
    for number in (2, 3, 4):
        sales.change(f"x = {number}")
        assert sales.ask(text.format(_year(number)[0], _month(number)[0])).served_by is ServedBy.STATE


def test_coarser_parts_of_dates_are_answered_from_months(sales: LakeTable) -> None:
    assert (
        sales.ask("SELECT trunc(d, 'MONTH') AS m, sum(x) AS s, count(*) AS n FROM sales GROUP BY trunc(d, 'MONTH')").served_by
        is ServedBy.STATE
    )
    for text in (
        "SELECT year(d) AS y, quarter(d) AS q, sum(x) AS s FROM sales GROUP BY year(d), quarter(d)",
        "SELECT trunc(d, 'YEAR') AS y, sum(x) AS s FROM sales GROUP BY trunc(d, 'YEAR')",
        "SELECT month(d) AS m, count(*) AS n FROM sales WHERE year(d) = 2020 GROUP BY month(d)",
        "SELECT sum(x) AS s FROM sales WHERE d BETWEEN DATE '2019-03-01' AND DATE '2020-02-29'",
    ):
        captures = len(sales.relations.registry.relations())
        assert sales.ask(text).served_by is ServedBy.STATE
        assert len(sales.relations.registry.relations()) == captures
    sales.ask("SELECT sum(x) AS s FROM sales WHERE d <= DATE '2020-02-28'")
    assert len(sales.relations.registry.relations()) == captures + 1
