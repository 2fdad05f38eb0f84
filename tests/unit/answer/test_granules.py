"""Conditions on dates over years, quarters, months and weeks: each says the same of the granules, or is not made."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pyarrow as pa
import pytest

from imp_driver.answer import granule
from imp_driver.answer.granule import CHAIN, Granule, grain, over_granules
from imp_driver.dataflow.expression.dates import truncated
from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.values.expressions import And, Cast, Column, Comparison, Constant, DatePart, Expression, Function, IsNull, Not
from imp_driver.values.types import INSTANT, LOCAL

UNITS = ("year", "quarter", "month", "week")
FIRST = datetime.date(2019, 11, 20)
DAYS = [FIRST + datetime.timedelta(days=number) for number in range(160)]
BOUNDS = DAYS[10:-10]
DATE = Column("d")
ROWS = pa.table({"d": pa.array([*DAYS, None], pa.date32())})


def _said(expression: Expression) -> list[object]:
    rows = ROWS.append_column("key", truncated(ROWS.column("d").combine_chunks(), "month"))
    return list(computed(rows, expression).to_pylist())


def _over(expression: Expression, unit: str) -> list[object] | None:
    """Return what an expression says over the granules of the dates, None where it is not made."""
    found = over_granules(expression, {"d": (Granule(unit, Column("key"), pa.date32()),)})
    if found is None:
        return None
    keys = truncated(ROWS.column("d").combine_chunks(), unit)
    return list(computed(pa.table({"key": keys}), found).to_pylist())


def _differences(unit: str) -> tuple[int, int]:
    """Return how many comparisons are made over a granule, and how many of these say something else."""
    made = wrong = 0
    for operator in ("<", "<=", ">", ">=", "=", "<>", "<=>"):
        for bound in BOUNDS:
            for condition in (Comparison(operator, DATE, Constant(bound)), Comparison(operator, Constant(bound), DATE)):
                over = _over(condition, unit)
                if over is not None:
                    made += 1
                    wrong += over != _said(condition)
    return made, wrong


@pytest.mark.parametrize("unit", UNITS)
def test_comparisons_with_every_day_of_some_months_say_the_same_or_are_not_made(unit: str) -> None:
    made, wrong = _differences(unit)
    edges = sum(truncated(pa.array([day]), unit)[0].as_py() == day for day in BOUNDS)
    before = sum(
        truncated(pa.array([day + datetime.timedelta(days=1)]), unit)[0].as_py() == day + datetime.timedelta(days=1) for day in BOUNDS
    )
    # < and >= at the first day of a granule, > and <= at the last, each from both sides.
    assert (made, wrong) == (4 * edges + 4 * before, 0)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("_is_beginning", lambda day, unit, zone: True),
        ("MIRRORED", {"<": "<", "<=": "<=", ">": ">", ">=": ">="}),
    ],
)
def test_a_wrong_rule_is_found(name: str, wrong: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(granule, name, wrong)
    assert all(_differences(unit)[1] for unit in ("year", "month"))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "expression",
    [
        *(DatePart(part, DATE) for part in ("year", "quarter", "month", "weekofyear", "day", "dayofyear", "dayofweek", "weekday")),
        *(Function("trunc", (DATE,), (unit,)) for unit in UNITS),
        Function("last_day", (DATE,)),
        IsNull(DATE),
        Not(IsNull(DATE)),
        Cast(DATE, pa.string()),
        Function("datediff", (DATE, Constant(FIRST))),
        DATE,
        And(
            (
                Comparison(">=", DATE, Constant("2020-01-01")),
                Comparison("<", DATE, Function("add_months", (Constant(FIRST.replace(day=1)),), (14,))),
            )
        ),
        Comparison(">=", DATE, Constant("2020-1-1")),
        Comparison(">=", DATE, Constant(None)),
        Comparison(">", DATE, Constant(datetime.date.max)),
        Comparison("<", DATE, DATE),
    ],
)
def test_what_is_made_says_the_same(expression: Expression, unit: str) -> None:
    over = _over(expression, unit)
    assert over is None or over == _said(expression)


def test_parts_follow_from_what_lies_within_them() -> None:
    made = {
        (part, unit) for part in ("year", "quarter", "month", "weekofyear", "day") for unit in UNITS if _over(DatePart(part, DATE), unit)
    }
    assert made == {
        *(("year", unit) for unit in ("year", "quarter", "month")),
        *(("quarter", unit) for unit in ("quarter", "month")),
        ("month", "month"),
        ("weekofyear", "week"),
    }
    assert _over(Function("last_day", (DATE,)), "month") is not None
    assert _over(IsNull(DATE), "week") is not None


@pytest.mark.parametrize(
    ("low", "operator", "high", "unit"),
    [
        (datetime.date(2020, 1, 1), "<", datetime.date(2021, 1, 1), "year"),
        (datetime.date(2020, 1, 1), "<=", datetime.date(2020, 12, 31), "year"),
        (datetime.date(2020, 4, 1), "<", datetime.date(2021, 1, 1), "quarter"),
        (datetime.date(2020, 2, 1), "<", datetime.date(2020, 5, 1), "month"),
        (datetime.date(2020, 2, 1), "<=", datetime.date(2020, 5, 1), "day"),
        (datetime.date(2020, 2, 2), "<", datetime.date(2020, 5, 1), "day"),
    ],
)
def test_the_grain_is_the_coarsest_granule_that_is_left_whole(low: datetime.date, operator: str, high: datetime.date, unit: str) -> None:
    condition = And((Comparison(">=", DATE, Constant(low)), Comparison(operator, DATE, Constant(high))))
    assert CHAIN[grain(condition, "d", pa.date32())] == unit


@pytest.mark.parametrize("kind", [LOCAL, INSTANT])
@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "="])
def test_a_day_beside_a_time_says_nothing_of_granules(kind: pa.DataType, operator: str) -> None:
    """Right after a day comes another day, right after a time another microsecond."""
    compared = Comparison(operator, Column("t"), Constant(datetime.date(2024, 1, 1)))
    assert over_granules(compared, {"t": (Granule("day", Column("key"), kind),)}) is None
