"""Where all constants would need too many groups, those within bounds of what was asked for have a state."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.answer import lifting
from imp_driver.reasons import Reason, ServedBy
from imp_driver.values.report import SketchReport
from tests.unit.answer.lake_table import LakeTable

FIRST = datetime.datetime(2019, 1, 1)
SCHEMA = pa.schema(
    [
        ("k", pa.int32()),
        ("d", pa.date32()),
        ("t", pa.timestamp("us")),
        ("u", pa.timestamp("us", "UTC")),
        ("p", pa.decimal128(8, 2)),
        ("x", pa.int64()),
    ]
)


def _row(chance: random.Random) -> list[object]:
    time = None if chance.random() < 0.05 else FIRST + datetime.timedelta(hours=chance.randrange(24_000))
    price = None if chance.random() < 0.05 else chance.randrange(60_000)
    return [
        chance.randrange(4),
        time and time.date(),
        time,
        time and time.replace(tzinfo=datetime.UTC),
        None if price is None else Decimal(price) / 100,
        chance.randrange(100),
    ]


@pytest.fixture
def sales(tmp_path: Path) -> Iterator[LakeTable]:
    found = LakeTable(tmp_path, "sales", SCHEMA, _row)
    yield found
    found.close()


def _learned(table: LakeTable, text: str, *constants: str) -> list[SketchReport]:
    """Ask with one constant after the other, and wait each time for what is captured."""
    reports = []
    for constant in constants:
        reports.append(table.ask(text.format(constant)))
        table.settle()
    return reports


def _groups(table: LakeTable) -> dict[str, int | None]:
    """Return how many groups the states have, by their conditions."""
    held = [each for each in table.relations.registry.relations() if each.is_held]
    return {each.block.where_sql or "": each.groups for each in held if each.block is not None}


@pytest.mark.parametrize(
    ("condition", "constants", "bound"),
    [
        ("d > DATE '{}'", ["2020-03-07", "2020-03-20", "2020-03-02", "2020-11-11"], "`d` >= CAST('2020-03-01' AS DATE)"),
        ("'{}' >= d", ["2019-03-07", "2019-03-20", "2019-03-01", "2019-01-05"], "`d` <= CAST('2019-04-01' AS DATE)"),
        ("d = '{}'", ["2019-03-07", "2019-03-20", "2019-03-01", "2019-03-31"], "`d` <= CAST('2019-04-01' AS DATE)"),
        (
            "d IN (DATE '{}', DATE '2019-03-15')",
            ["2019-03-07", "2019-03-20", "2019-03-01", "2019-03-31"],
            "`d` >= CAST('2019-03-01' AS DATE)",
        ),
        (
            "t < TIMESTAMP_NTZ'{}'",
            ["2019-02-07 11:00:00", "2019-02-20 12:30:00", "2019-02-02 00:00:00", "2018-01-01 10:00:00"],
            "`t` <= CAST('2019-03-01 00:00:00.000000' AS TIMESTAMP_NTZ)",
        ),
        (
            "u >= TIMESTAMP'{}Z'",
            ["2020-10-07 11:00:00", "2020-10-20 12:30:00", "2020-10-02 00:00:00", "2021-01-01 10:00:00"],
            "`u` >= CAST('2020-10-01 00:00:00.000000+00:00' AS TIMESTAMP)",
        ),
        ("p >= {}", ["523.17", "570", "530.5", "599.999"], "`p` >= 500"),
        ("x < {}", ["9", "17", "16", "-3"], "`x` <= 20"),
        ("x BETWEEN {} AND 90", ["70", "71", "72", "90"], "`x` >= 70"),
    ],
)
def test_constants_within_bounds_have_one_state(
    sales: LakeTable, condition: str, constants: list[str], bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifting, "MOST_GROUPS", 170)
    keys = "k, t" if condition[0] in "xp" else "k, x, p"
    text = f"SELECT k, sum(x * p) AS s, count(*) AS n FROM sales WHERE {condition} GROUP BY {keys}"
    for constant in constants[:2]:
        sales.ask(text.format(constant))
    sales.settle()
    third = sales.ask(text.format(constants[0])), sales.ask(text.format(constants[1]))
    assert Reason.LIFT_NEEDED in {each.not_answered and each.not_answered.reason for each in third}
    sales.settle()
    assert [each for each in _groups(sales) if bound in each], _groups(sales)
    for number, constant in enumerate(constants * 2):
        sales.change(f"x = {number}")
        assert sales.ask(text.format(constant)).served_by is ServedBy.STATE


def test_bounds_move_for_what_is_asked_beyond_them(sales: LakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifting, "MOST_GROUPS", 200)
    text = "SELECT x, p, count(*) AS n FROM sales WHERE d >= DATE '{}' GROUP BY x, p"
    _learned(sales, text, "2021-06-10", "2021-06-11", "2021-06-11")
    assert sales.ask(text.format("2021-06-01")).served_by is ServedBy.STATE
    beyond = sales.ask(text.format("2021-05-31"))
    assert beyond.not_answered is not None
    assert beyond.not_answered.reason is Reason.LIFT_NEEDED
    # What the former bounds hold is answered meanwhile.
    assert sales.ask(text.format("2021-06-02")).served_by is ServedBy.STATE
    sales.settle()
    for constant in ("2021-05-31", "2021-05-02", "2021-06-20"):
        sales.change("x = 3")
        assert sales.ask(text.format(constant)).served_by is ServedBy.STATE
    # Where all rows are asked for, no bound helps, and the states that are there go on.
    _learned(sales, text, *["2018-01-01"] * 3)
    assert sales.ask(text.format("2021-05-03")).served_by is ServedBy.STATE


def test_rows_within_bounds_are_kept(sales: LakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifting, "MOST_GROUPS", 100)
    text = "SELECT k, x, p, d FROM sales WHERE d > DATE '{}' AND k < 3 ORDER BY d, k, x, p LIMIT 20"
    _learned(sales, text, "2021-06-10", "2021-06-20", "2021-06-15", "2021-06-20")
    for number, constant in enumerate(("2021-06-18", "2021-06-04", "2021-08-01")):
        sales.change(f"x = {number}")
        assert sales.ask(text.format(constant)).served_by is ServedBy.STATE
    assert max(filter(None, _groups(sales).values())) < 100


def test_constants_beside_which_all_dates_lie_bound_nothing(sales: LakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifting, "MOST_GROUPS", 100)
    text = "SELECT k, x, p, count(*) AS n FROM sales WHERE d < DATE '{}' GROUP BY k, x, p"
    reports = _learned(sales, text, "9999-12-10", "9999-12-20", "9999-12-20")
    assert Reason.INTERNAL not in {reason for each in reports for reason in (each.reason, each.not_answered and each.not_answered.reason)}
    assert not [condition for condition in _groups(sales) if "<=" in condition]
