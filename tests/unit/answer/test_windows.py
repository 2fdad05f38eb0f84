"""Window functions over rows in process: values and types, and what is not certain."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from imp_driver.reasons import ServedBy
from tests.unit.answer.test_answers import World

Q = "(SELECT g, x, count(*) AS n, sum(a) AS s FROM r GROUP BY g, x) q"


@pytest.fixture(scope="module")
def world() -> World:
    world = World()
    world.warehouse.commit("r", [(1, 1, 1, 5), (2, 1, 2, 7), (3, 1, 3, None), (4, 2, 1, 5), (5, 2, 1, 6), (6, None, 1, 1)])
    return world


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("row_number() OVER (PARTITION BY g ORDER BY x)", [1, 1, 2, 3, 1]),
        ("rank() OVER (ORDER BY n DESC)", [2, 2, 2, 2, 1]),
        ("dense_rank() OVER (ORDER BY n DESC)", [2, 2, 2, 2, 1]),
        ("percent_rank() OVER (ORDER BY n)", [0.0, 0.0, 0.0, 0.0, 1.0]),
        ("cume_dist() OVER (ORDER BY n)", [0.8, 0.8, 0.8, 0.8, 1.0]),
        ("ntile(2) OVER (ORDER BY g, x)", [1, 1, 1, 2, 2]),
        ("ntile(9) OVER (ORDER BY g, x)", [1, 2, 3, 4, 5]),
        ("lag(s) OVER (ORDER BY g, x)", [None, 1, 5, 7, None]),
        ("lead(s, 2, 0) OVER (PARTITION BY g ORDER BY x)", [0, None, 0, 0, 0]),
        ("sum(s) OVER (PARTITION BY g ORDER BY x)", [1, 5, 12, 12, 11]),
        ("sum(s) OVER (PARTITION BY g)", [1, 12, 12, 12, 11]),
        ("count(s) OVER ()", [4, 4, 4, 4, 4]),
        ("count(*) OVER (ORDER BY g, x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", [2, 3, 3, 3, 2]),
        ("sum(s) OVER (ORDER BY g, x ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING)", [7, 11, 11, None, None]),
        ("avg(s) OVER (ORDER BY g, x)", [1.0, 3.0, 13 / 3, 13 / 3, 6.0]),
        ("max(s) OVER (ORDER BY g, x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", [5, 7, 7, 11, 11]),
        ("min(s) OVER (ORDER BY g, x ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)", [1, 5, 7, 11, 11]),
        ("min(s) OVER (ORDER BY n RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)", [1, 1, 1, 1, 11]),
        ("first_value(s) OVER (PARTITION BY g ORDER BY x DESC)", [1, None, None, None, 11]),
        ("last_value(s) OVER (PARTITION BY g ORDER BY x)", [1, 5, 7, None, 11]),
        ("nth_value(s, 2) OVER (ORDER BY g, x)", [None, 5, 5, 5, 5]),
        (
            "sum(CAST(s AS DECIMAL(6, 1))) OVER (ORDER BY g, x)",
            [Decimal("1.0"), Decimal("6.0"), Decimal("13.0"), Decimal("13.0"), Decimal("24.0")],
        ),
    ],
)
def test_values(world: World, function: str, expected: list[Any]) -> None:
    rows, report = world.ask(f"SELECT w FROM (SELECT g, x, {function} AS w FROM {Q}) p ORDER BY g, x")
    assert report.served_by is ServedBy.STATE
    # The table is without the types that Spark gives.
    assert [row[0] for row in rows] == pytest.approx(expected) if isinstance(expected[0], float) else [row[0] for row in rows] == expected


def test_no_rows(world: World) -> None:
    for function in ("row_number() OVER (ORDER BY g)", "sum(n) OVER ()", "max(n) OVER (ORDER BY g)", "lag(n) OVER (ORDER BY g)"):
        rows, report = world.ask(f"SELECT g, {function} AS w FROM {Q} WHERE g > 100 AND x = 1")
        assert (rows, report.served_by) == ([], ServedBy.STATE)


@pytest.mark.parametrize(
    "function",
    [
        "row_number() OVER (ORDER BY n)",
        "lag(s) OVER (ORDER BY n)",
        "sum(s) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING)",
        "first_value(s) OVER (ORDER BY n)",
        "sum(CAST(s AS DOUBLE)) OVER (ORDER BY g, x)",
        "sum(s) OVER (ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
    ],
)
def test_what_is_not_certain_is_left_to_spark(world: World, function: str) -> None:
    assert world.ask(f"SELECT g, x, {function} AS w FROM {Q}")[1].served_by is ServedBy.STATE_AND_SPARK
