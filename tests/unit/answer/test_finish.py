"""What stands above groups, where the random attack does not look: empty inputs, types, and what is left to Spark."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pytest
import sqlglot

from imp_driver.answer.finish import Finish
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.plan.context import TableDefinition
from imp_driver.plan.groupings import groupings, ungrouped
from imp_driver.plan.resolve import resolve
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn

TYPES: Mapping[str, pa.DataType] = {"g": pa.int32(), "x": pa.int64(), "d": pa.decimal128(10, 2), "t": pa.string()}
SCHEMA = tuple(
    SchemaColumn(name, type_name, True) for name, type_name in (("g", "integer"), ("x", "long"), ("d", "decimal(10,2)"), ("t", "string"))
)


class Tables:
    def find(self, name: tuple[str, ...]) -> TableDefinition:
        return TableDefinition(name, SCHEMA)


def finished(text: str, groups: Mapping[str, list[object]]) -> list[tuple[object, ...]]:
    """Return the rows of a query whose one aggregation has these rows, by column."""
    plan = resolve(sqlglot.parse_one(text, read="spark"), Tables(), keeps_order=True)
    (grouping,) = groupings(plan)
    names = [attribute.identifier for attribute in grouping.aggregate.output]
    columns = [pa.array(values, TYPES.get(name, pa.int64())) for name, values in groups.items()]
    table = pa.table(columns, names=names)
    found = Finish({names[0]: table}).answer(plan)
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def test_order_and_limit_of_the_whole_query_are_part_of_its_rows() -> None:
    groups: Mapping[str, list[object]] = {"g": [3, 1, 2], "n": [1, 2, 3]}
    assert finished("SELECT g, count(*) AS n FROM q GROUP BY g ORDER BY 2 DESC", groups) == [(2, 3), (1, 2), (3, 1)]
    assert finished("SELECT g FROM q GROUP BY g ORDER BY count(*) LIMIT 2", groups) == [(3,), (1,)]
    assert finished("SELECT g, count(*) AS n FROM q GROUP BY g LIMIT 2", groups) == [(1, 2), (2, 3)]
    assert finished("SELECT g, count(*) AS n FROM q GROUP BY g ORDER BY g LIMIT 1 OFFSET 5", groups) == []


def test_an_aggregation_without_groups_has_one_row_of_no_groups() -> None:
    nothing: Mapping[str, list[object]] = {"g": [], "x": []}
    text = "SELECT count(*), count(s), sum(s), min(s), max(g) FROM (SELECT g, sum(x) AS s FROM q GROUP BY g)"
    assert finished(text, nothing) == [(0, 0, None, None, None)]
    assert finished("SELECT sum(s) FROM (SELECT g, sum(x) AS s FROM q GROUP BY g) GROUP BY g", nothing) == []
    assert finished("SELECT count(*) FROM (SELECT g, sum(x) AS s FROM q GROUP BY g) HAVING count(*) > 0", nothing) == []


def test_a_sum_that_may_overflow_on_sparks_way_is_left_to_it() -> None:
    text = "SELECT sum(s) FROM (SELECT g, sum(x) AS s FROM q GROUP BY g)"
    with pytest.raises(NotEvaluable, match="between bounds"):
        finished(text, {"g": [1, 2, 3], "x": [2**62, 2**62, -(2**62)]})
    assert finished(text, {"g": [1, 2], "x": [2**61, -(2**61)]}) == [(0,)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT g, sqrt(t) FROM (SELECT g, max(t) AS t FROM q GROUP BY g)", "not computed"),
        ("SELECT g, row_number() OVER (ORDER BY 1 + 0 * g) FROM (SELECT g, max(t) AS t FROM q GROUP BY g)", "window"),
        ("SELECT g FROM (SELECT g, max(t) AS t FROM q GROUP BY g ORDER BY t LIMIT 1) WHERE g > 0", "tie"),
        ("SELECT g, 1 / n FROM (SELECT g, count(*) AS n FROM q GROUP BY g)", "zero"),
    ],
)
def test_what_is_not_certain_is_left_to_spark(text: str, problem: str) -> None:
    with pytest.raises(NotEvaluable, match=problem):
        finished(text, {"g": [1, 2], "t": ["a", "a"]} if "max(t)" in text else {"g": [1, 2], "n": [0, 1]})


def test_rows_that_come_from_no_groups_are_named() -> None:
    with pytest.raises(Refused) as refused:
        groupings(resolve(sqlglot.parse_one("SELECT g FROM q", read="spark"), Tables(), keeps_order=True))
    assert refused.value.reason is Reason.ROWS_WITHOUT_GROUPS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT g FROM q UNION ALL SELECT g FROM q GROUP BY g", 1),
        ("SELECT u.g FROM q u JOIN (SELECT g FROM q GROUP BY g) v ON u.g = v.g", 1),
        ("SELECT g FROM q WHERE x > (SELECT avg(x) FROM q) AND EXISTS (SELECT 1 FROM q)", 2),
        ("SELECT g, sum(x) FROM q WHERE g IN (SELECT g FROM q GROUP BY g HAVING sum(x) > 3) GROUP BY g", 0),
    ],
)
def test_tables_beside_the_groups_are_known(text: str, expected: int) -> None:
    plan = resolve(sqlglot.parse_one(text, read="spark"), Tables(), keeps_order=True)
    assert len(ungrouped(plan, [each.aggregate for each in groupings(plan)])) == expected


def test_the_lowest_aggregations_are_those_that_are_maintained() -> None:
    text = "SELECT max(s) FROM (SELECT g, sum(x) AS s FROM q WHERE x > 0 GROUP BY g)"
    (grouping,) = groupings(resolve(sqlglot.parse_one(text, read="spark"), Tables()))
    assert [key.sql() for key in grouping.block.query.keys] != ["TRUE"]
    assert len(grouping.block.query.where) == 1
    (whole,) = groupings(resolve(sqlglot.parse_one("SELECT count(*) FROM q", read="spark"), Tables()))
    assert [key.sql() for key in whole.block.query.keys] == ["TRUE"]
