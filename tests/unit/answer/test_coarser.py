"""Groups that follow from finer ones of another template: no capture, and the rows of the query itself."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot

from imp_driver.answer.groups import extremum, rows_of
from imp_driver.answer.matching import Match
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.plan.bind import bind
from imp_driver.plan.groupings import groupings
from imp_driver.plan.resolve import resolve
from imp_driver.reasons import Decision, ServedBy
from imp_driver.state.group_columns import ColumnCache
from imp_driver.values.expressions import Arithmetic, Column, Constant
from tests.soundness.engine import Row
from tests.soundness.tables import Catalog
from tests.unit.answer.test_answers import World

FINE = "SELECT g, a, sum(x) AS s, count(x) AS c, avg(x) AS m, min(x) AS least, count(DISTINCT x) AS d FROM r GROUP BY g, a"
ROWS: list[Row] = [
    *((place, place % 3, place % 4, place % 5) for place in range(40)),
    (90, None, 1, 7),
    (91, None, None, None),
    (92, 1, None, None),
    (93, 1, None, 3),
]


@pytest.fixture(scope="module")
def world() -> World:
    found = World()
    found.warehouse.commit("r", ROWS)
    assert found.ask(FINE)[1].decision is Decision.CAPTURED
    found.commit((94, 2, 3, -4), (95, 0, 0, 0))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, sum(x) AS s FROM r GROUP BY g",
        "SELECT a, avg(x) AS m, count(x) AS c, min(x) AS least FROM r GROUP BY a",
        "SELECT sum(x) AS s, count(*) AS n FROM r",
        "SELECT count(*) AS n FROM r WHERE g = 7",
        "SELECT sum(x) AS s FROM r WHERE g = 1 OR a > 2",
        "SELECT g, count(x) AS c FROM r WHERE a NOT IN (1, 2) GROUP BY g",
        "SELECT g, count(DISTINCT x) AS d FROM r WHERE a IS NULL GROUP BY g",
        "SELECT g + a AS k, sum(x) AS s FROM r GROUP BY g + a",
        "SELECT a > 1 AS k, min(x) AS least FROM r GROUP BY a > 1",
        "SELECT CASE WHEN g = 0 THEN a ELSE g END AS k, count(*) AS n FROM r GROUP BY 1",
        "SELECT sum(g) AS s, min(a) AS least, max(g) AS most, count(g) AS c, avg(a) AS m FROM r",
        "SELECT g, count(DISTINCT a) AS d, sum(a) AS s FROM r GROUP BY g HAVING count(*) > 3",
        "SELECT sum(CASE WHEN a > 1 THEN g ELSE 0 END) AS s, sum(CASE WHEN a > 1 THEN g END) AS t FROM r WHERE g = 5",
        "SELECT g, sum(CASE WHEN a > 1 THEN x ELSE 0 END) AS s, sum(CASE WHEN a > 1 THEN x END) AS t FROM r GROUP BY g",
        "SELECT sum(x) FILTER (WHERE a = 3) AS s, count(x) FILTER (WHERE g IS NULL) AS c, avg(x) FILTER (WHERE a < g) AS m FROM r",
        "SELECT a, min(CASE g WHEN 1 THEN x END) AS least, count(DISTINCT CASE WHEN g = 1 THEN x END) AS d FROM r GROUP BY a",
        "SELECT g, a, sum(IF(a = 2, x, 0)) AS s, sum(CASE WHEN a = 99 THEN x ELSE 0 END) AS none FROM r WHERE g = 1 GROUP BY g, a",
        "SELECT sum(CASE WHEN g = 77 THEN x END) AS s, sum(CASE WHEN g = 77 THEN x ELSE 0 END) AS z FROM r",
        "SELECT sum(CASE WHEN g = 1 THEN x ELSE 0 END) AS s FROM r WHERE a = 77",
        "SELECT DISTINCT g FROM r",
        "SELECT 1 AS one FROM r GROUP BY g",
        "SELECT max(s) AS most FROM (SELECT g, sum(x) AS s FROM r GROUP BY g) q",
    ],
)
def test_coarser_groups_need_no_capture(world: World, text: str) -> None:
    rows, report = world.ask(text)
    assert (report.served_by, report.decision in (Decision.FRESH, Decision.MAINTAINED)) == (ServedBy.STATE, True)
    assert Counter(rows) == Counter(tuple(row.values()) for row in world.warehouse.query(text).to_pylist())


@pytest.mark.parametrize(
    "text",
    [
        # Another column below the groups, another argument, more rows, a key that is not there.
        "SELECT g, sum(x) AS s FROM r WHERE id > 5 GROUP BY g",
        "SELECT g, sum(id) AS s FROM r GROUP BY g",
        "SELECT g, max(x) AS most FROM r GROUP BY g",
        "SELECT id, sum(x) AS s FROM r GROUP BY id",
        "SELECT g, sum(x + a) AS s FROM r GROUP BY g",
        # Rows that do not pass count, or are not 0; the condition reads another column.
        "SELECT g, avg(CASE WHEN a > 1 THEN x ELSE 0 END) AS m FROM r GROUP BY g",
        "SELECT g, min(CASE WHEN a > 1 THEN x ELSE 0 END) AS m FROM r GROUP BY g",
        "SELECT g, count(CASE WHEN a > 1 THEN x ELSE 0 END) AS c FROM r GROUP BY g",
        "SELECT g, sum(CASE WHEN a > 1 THEN x ELSE 1 END) AS s FROM r GROUP BY g",
        "SELECT g, sum(CASE WHEN a > 1 THEN x WHEN a = 0 THEN id END) AS s FROM r GROUP BY g",
        "SELECT g, sum(x) FILTER (WHERE id > 7) AS s FROM r GROUP BY g",
    ],
)
def test_what_does_not_follow_is_captured(text: str) -> None:
    world = World()
    world.warehouse.commit("r", ROWS)
    world.ask(FINE)
    rows, report = world.ask(text)
    assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.CAPTURED)
    assert Counter(rows) == Counter(tuple(row.values()) for row in world.warehouse.query(text).to_pylist())


def test_groups_of_some_rows_give_none_of_all() -> None:
    world = World()
    world.ask("SELECT g, a, sum(x) AS s FROM r WHERE id > 2 GROUP BY g, a")
    assert world.ask("SELECT g, sum(x) AS s FROM r GROUP BY g")[1].decision is Decision.CAPTURED
    assert world.ask("SELECT g, sum(x) AS s FROM r WHERE id > 2 AND a = 5 GROUP BY g")[1].decision is Decision.FRESH
    assert world.ask("SELECT g, sum(x) AS s FROM r WHERE id > 3 GROUP BY g")[1].decision is Decision.CAPTURED


def test_of_several_finer_groups_the_fewest_are_taken() -> None:
    world = World()
    world.commit((6, 1, 4, None), (7, 1, 4, None))
    few = world.ask("SELECT a, x, sum(x) AS s FROM r GROUP BY a, x")[1].sketch_id
    many = world.ask("SELECT a, id, sum(x) AS s FROM r GROUP BY a, id")[1].sketch_id
    assert many != few
    assert world.ask("SELECT a, sum(x) AS s FROM r GROUP BY a")[1].sketch_id == few
    assert world.ask("SELECT id, sum(x) AS s FROM r GROUP BY id")[1].sketch_id == many


def test_a_key_that_is_computed_is_never_minus_zero() -> None:
    """Spark groups by 0.0 where a key is -0.0, and gives that; both are equal in Python."""
    state = GroupState.capture([pa.array([0.0, 2.0])], pa.array([1, 1]), {}, (), (pa.float64(),))
    found = Match((0,), None, (Arithmetic("*", Column("key_0"), Constant(-1.0)),), (), False)
    plan = resolve(sqlglot.parse_one("SELECT x FROM r GROUP BY x", read="spark"), Catalog())
    (grouping,) = groupings(plan)
    block = bind(grouping.block.query, None, {})
    rows = rows_of(ColumnCache().of(state, {}), found, block, grouping.aggregate)
    assert [math.copysign(1, value) for value in rows.column(0).to_pylist()] == [1.0, -1.0]


EXTREMES: dict[pa.DataType, list[Any]] = {
    pa.int32(): [3, -1, None, 7, None, 2],
    pa.float64(): [1.5, float("nan"), None, -0.0, None, 0.0],
    pa.string(): ["b", "ab", None, "é", None, ""],
    pa.decimal128(30, 2): [Decimal("1.50"), Decimal("-12345678901234567890.00"), None, Decimal("0.01"), None, Decimal("0.02")],
    pa.date32(): [date(2024, 1, 1), date(1, 1, 1), None, date(9999, 12, 31), None, date(2024, 2, 29)],
    pa.bool_(): [True, False, None, True, None, True],
}


@pytest.mark.parametrize("kind", list(EXTREMES), ids=str)
@pytest.mark.parametrize("maximum", [False, True])
def test_least_and_greatest_keys_of_groups(kind: pa.DataType, maximum: bool) -> None:
    """Three groups of two: of values, of one value and of none."""
    values = EXTREMES[kind]
    found = extremum(pa.array(values, kind), RollUp(np.array([0, 0, 2, 1, 2, 1]), 3), maximum=maximum)

    def rank(value: Any) -> Any:
        return (value != value, value)

    expected = [(max if maximum else min)(values[:2], key=rank), (max if maximum else min)([values[3], values[5]], key=rank), None]
    assert [repr(each) for each in found.array.to_pylist()] == [
        repr(0.0 if each == 0.0 and kind == pa.float64() else each) for each in expected
    ]
    assert found.exact.all()
    assert found.array.type == kind
