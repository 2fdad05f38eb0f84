"""Constants and arithmetic that Spark computes otherwise than written, over groups and changed rows: rows are those of the plain query."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest
import sqlglot

from imp_driver.dataflow.expression.evaluate import computed
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.convert import row_expression
from imp_driver.reasons import Reason
from imp_driver.values.expressions import Arithmetic, Column, Constant, DatePart
from tests.soundness.engine import Row
from tests.unit.maintain.test_sharing import World

_FIVE_EACH: list[Row] = [(0, group, 0, 2 if group % 2 else 3) for group in range(40) for _ in range(5)]


@pytest.mark.parametrize("condition", ["BETWEEN 13 AND CAST('12.6' AS DECIMAL(2,0))", "<= CAST('12.6' AS DECIMAL(2,0)) AND sum(a) > 12"])
def test_a_cast_that_rounds_is_compared_rounded(condition: str) -> None:
    world = World()
    world.warehouse.commit("r", [*_FIVE_EACH, *((0, 50, 0, value) for value in (2, 3, 2, 3, 3))])
    world.ask(f"SELECT g, sum(a) AS v FROM r GROUP BY g HAVING sum(a) {condition}")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, count(*) AS n FROM r WHERE a = CAST('2.6' AS DECIMAL(1,0)) GROUP BY g HAVING count(*) > 4",
        "SELECT g, sum(CASE WHEN a = CAST('2.6' AS DECIMAL(1,0)) THEN 1 ELSE 0 END) AS n FROM r GROUP BY g "
        "HAVING sum(CASE WHEN a = CAST('2.6' AS DECIMAL(1,0)) THEN 1 ELSE 0 END) > 4",
    ],
)
def test_a_cast_that_rounds_is_compared_rounded_with_changed_rows(text: str) -> None:
    world = World()
    rows: list[Row] = [(0, group, 0, group % 7) for group in range(40) for _ in range(4)]
    world.warehouse.commit("r", rows)
    world.ask(text)
    world.warehouse.commit("r", [*rows, *[(0, 10, 0, 3)] * 3])
    world.ask(text)


@pytest.mark.parametrize(
    ("values", "kind", "expression"),
    [
        ([10], pa.int16(), "x + 32767S"),
        ([10, -128], pa.int8(), "0Y - x"),
        ([10, -128], pa.int8(), "-x"),
        ([32], pa.int8(), "4Y * x"),
        ([60], pa.int8(), "(x + 10Y) * 2Y"),
        ([60], pa.int8(), "x + CAST(100 AS TINYINT)"),
        ([0], pa.int8(), "x - -128Y"),
        ([2**31 - 1], pa.int32(), "x + 1"),
    ],
)
def test_arithmetic_that_may_wrap_is_left_to_spark(values: list[int], kind: pa.DataType, expression: str) -> None:
    with pytest.raises(NotEvaluable, match="overflows"):
        computed(pa.table({"x": pa.array(values, kind)}), row_expression(sqlglot.parse_one(expression, read=DIALECT), {"x": kind}))


def test_constants_without_a_letter_are_integers_of_32_bits() -> None:
    expression = row_expression(sqlglot.parse_one("x + 32767", read=DIALECT), {"x": pa.int16()})
    found = computed(pa.table({"x": pa.array([10], pa.int16())}), expression)
    assert (found.type, found.to_pylist()) == (pa.int32(), [32_777])


def test_parts_of_dates_are_wide() -> None:
    rows = pa.table({"d": pa.array([datetime.date(2024, 5, 6)])})
    assert computed(rows, Arithmetic("+", DatePart("year", Column("d")), Constant(1))).to_pylist() == [2025]


def test_arithmetic_within_the_narrow_type_is_computed() -> None:
    rows = pa.table({"x": pa.array([10, None], pa.int8())})
    assert computed(rows, Arithmetic("+", Column("x"), Constant(100))).to_pylist() == [110, None]


def test_the_last_skipped_row_may_tie_where_a_state_of_other_constants_serves() -> None:
    world = World()
    rows: list[Row] = [row for group in range(40) for row in ((0, group, 0, 93 if group == 8 else 100 - group), (1, group, 0, 1))]
    world.warehouse.commit("r", rows)
    top = "SELECT g, sum(a) AS v FROM r WHERE g > {} AND a > 0 GROUP BY g ORDER BY v DESC LIMIT {}"
    world.ask(top.format(3, 3))
    assert world.ask(top.format(5, "2 OFFSET 2")).reason is Reason.TIE_AT_LIMIT
