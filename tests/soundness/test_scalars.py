"""Scalar subqueries as joins and as constants, by a slow reading of the plan before and after."""

from __future__ import annotations

import random
from collections.abc import Callable

import sqlglot
from sqlglot import exp

from imp_driver.plan.bind import with_values
from imp_driver.plan.memberships import with_joins
from imp_driver.plan.nodes import Plan, Scalar, every
from imp_driver.plan.resolve import resolve
from imp_driver.plan.scalars import with_constants
from imp_driver.values.refusal import Refused
from tests.seeds import SEED, WIDE
from tests.soundness.interpret import bag, evaluate
from tests.soundness.scalar_shapes import of_scalars
from tests.soundness.tables import Catalog, Database, random_database
from tests.soundness.values import Value

_COUNT = 20_000 if WIDE else 400


def _queries(chance: random.Random) -> list[Plan]:
    plans = []
    for text in of_scalars(chance):
        try:
            plans.append(resolve(sqlglot.parse_one(text, read="spark"), Catalog()))
        except Refused:
            continue
    return plans


def _literal(value: Value) -> exp.Expr:
    return exp.Null() if value is None else sqlglot.parse_one(str(value), read="spark")


def _with_values(plan: Plan, database: Database) -> Plan:
    changed, constants = with_constants(plan)
    values = {}
    for each in constants:
        rows = evaluate(_with_values(each.subquery, database), database)
        values[each.marker] = _literal(rows[0].row[each.subquery.output[0].identifier] if rows else None)
    return with_values(changed, values)


def _scalars(plan: Plan) -> int:
    return sum(isinstance(each, Scalar) for each in every(plan))


def test_rows_stay_the_same(record_property: Callable[[str, object], None]) -> None:
    joined = constant = tried = 0
    for seed in (0, SEED):
        chance = random.Random(seed)
        while tried < _COUNT * (1 if seed == 0 else 2):
            for plan in _queries(chance):
                one = with_joins(plan)
                joined += _scalars(one) < _scalars(plan)
                for _ in range(4):
                    database = random_database(chance, nonnegative=False)
                    rows = bag(plan, evaluate(plan, database))
                    assert bag(plan, evaluate(one, database)) == rows
                    other = _with_values(one, database)
                    constant += _scalars(other) < _scalars(one)
                    assert bag(plan, evaluate(other, database)) == rows
                    tried += 1
    record_property("cases", tried)
    assert min(joined, constant) > tried / 40
