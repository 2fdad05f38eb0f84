"""Joins in process pair what Spark pairs, however many more rows one side has."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.answer.join import joined, semijoined
from imp_driver.dataflow.ranks import first_of_each, numbered
from imp_driver.plan.nodes import Join, Plan, SemiJoin, children
from imp_driver.plan.resolve import resolve
from imp_driver.reasons import ServedBy
from imp_driver.values.tables import SchemaColumn
from tests.soundness.engine import Row
from tests.unit.answer.test_answers import World
from tests.unit.tables import OneSchema

_DAY = datetime.date(2024, 1, 1)
KINDS: dict[str, tuple[pa.DataType, Callable[[int], object]]] = {
    "long": (pa.int64(), lambda number: number),
    "string": (pa.string(), lambda number: f"text {number}"),
    "date": (pa.date32(), lambda number: _DAY + datetime.timedelta(number)),
    "decimal(9,2)": (pa.decimal128(9, 2), lambda number: Decimal(number) / 4),
    "boolean": (pa.bool_(), lambda number: number % 2 == 0),
    "double": (pa.float64(), lambda number: (0.0, -0.0, float("nan"), 1.5)[number % 4]),
}
PARTNERS: list[Row] = [(3, 0, 1, 2), (8, 2, 6, 1), (8, 2, 6, 1), (None, 1, 1, 1), (11, None, 4, 4)]
ROWS: list[Row] = [*((place % 40, place % 3, place % 7, place % 5) for place in range(200)), (None, None, None, 1), (41, None, 3, None)]


def _column(kind: str, count: int, most: int, chance: random.Random) -> pa.Array:
    arrow, value = KINDS[kind]
    return pa.array([None if chance.random() < 0.1 else value(chance.randrange(most)) for _ in range(count)], arrow)


def _operator(plan: Plan) -> Join | SemiJoin:
    return plan if isinstance(plan, Join | SemiJoin) else next(map(_operator, children(plan)))


def _is_equal(one: object, other: object) -> bool:
    return one is not None and (one == other or (one != one and other != other))


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("sizes", [(300, 10), (10, 300), (60, 50), (0, 100), (100, 0)])
def test_rows_meet_by_two_equalities(kind: str, sizes: tuple[int, int]) -> None:
    chance = random.Random(f"{kind} {sizes}")
    schema = (SchemaColumn("k", kind, True), SchemaColumn("n", "integer", True))
    texts = {
        "inner": "SELECT 1 FROM r JOIN s ON r.k = s.k AND s.n = r.n",
        "left": "SELECT 1 FROM r LEFT JOIN s ON r.k = s.k AND s.n = r.n",
        "full": "SELECT 1 FROM r FULL JOIN s ON r.k = s.k AND s.n = r.n",
        "semi": "SELECT 1 FROM r WHERE EXISTS (SELECT 1 FROM s WHERE r.k = s.k AND s.n = r.n)",
        "anti": "SELECT 1 FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE r.k = s.k AND s.n = r.n)",
    }
    plans = {name: _operator(resolve(sqlglot.parse_one(text, read="spark"), OneSchema(schema))) for name, text in texts.items()}
    for name, plan in plans.items():
        left, right = (
            pa.table(
                [_column(kind, size, 50, chance), pa.array([chance.choice([1, 2, None]) for _ in range(size)], pa.int32())],
                names=[attribute.identifier for attribute in side.output],
            )
            for size, side in zip(sizes, (plan.left, plan.right), strict=True)
        )
        rows = [list(zip(*(column.to_pylist() for column in table.columns), strict=True)) for table in (left, right)]
        met = [[all(map(_is_equal, one, other)) for other in rows[1]] for one in rows[0]]
        pairs = [(*one, *other) for place, one in enumerate(rows[0]) for number, other in enumerate(rows[1]) if met[place][number]]
        alone = [(*one, None, None) for place, one in enumerate(rows[0]) if not any(met[place])]
        others = [(None, None, *other) for number, other in enumerate(rows[1]) if not any(each[number] for each in met)]
        expected = {
            "inner": pairs,
            "left": pairs + alone,
            "full": pairs + alone + others,
            "semi": [one for place, one in enumerate(rows[0]) if any(met[place])],
            "anti": [one for place, one in enumerate(rows[0]) if not any(met[place])],
        }[name]
        found = joined(plan, left, right) if isinstance(plan, Join) else semijoined(plan, left, right)
        assert Counter(map(repr, found.to_pylist())) == Counter(repr(dict(zip(found.column_names, row, strict=True))) for row in expected)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a, g FROM r WHERE id IN (SELECT id FROM s WHERE b < 6) AND x >= (SELECT sum(b) FROM s WHERE s.k = r.g)",
        "SELECT a, g FROM r WHERE id NOT IN (SELECT id FROM s WHERE id > 5) AND x < (SELECT sum(b) FROM s WHERE s.k = r.g)",
        "SELECT r.a, q.n FROM r LEFT JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) q ON r.g = q.k WHERE r.id IN (SELECT id FROM s)",
        "SELECT r.a, q.n FROM r LEFT JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) q ON r.g = q.k WHERE r.id NOT IN (SELECT id FROM s)",
        "SELECT r.a, q.n FROM r LEFT JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) q ON r.g = q.k "
        "WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.id = r.id AND s.b > r.a)",
    ],
)
def test_semi_joins_that_go_below_outer_ones_leave_the_same_rows(text: str) -> None:
    world = World()
    world.warehouse.commit("r", ROWS)
    world.warehouse.commit("s", PARTNERS)
    for _ in range(2):
        world.checked(text)
    assert world.sketches.relations.background.settle(30)
    for row in ((11, 2, 6, 9), (8, None, 2, 0), (None, 1, 1, 9)):
        assert world.checked(text).served_by is ServedBy.STATE
        world.commit(row)
        world.warehouse.commit("s", [*PARTNERS[:3], row])


@given(st.lists(st.tuples(st.sampled_from([None, 1, 2**62, -(2**62)]), st.sampled_from([None, "a", "b"]), st.booleans())))
def test_rows_are_numbered_in_turn(rows: list[tuple[int | None, str | None, bool]]) -> None:
    columns = [pa.array([row[place] for row in rows], kind) for place, kind in enumerate((pa.int64(), pa.string(), pa.bool_()))]
    expected = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    numbers = numbered(columns, len(rows))
    assert numbers.tolist() == [expected[row] for row in rows]
    assert first_of_each(numbers).tolist() == [rows.index(row) for row in expected]
