"""Random queries over groups against a slow reading of their plans: what stands above the groups, finished in process.

``python -m tests.soundness.answer_attack 100000`` tries that many (query, database) pairs and stops at the first difference.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import pyarrow as pa
import sqlglot
from sqlglot import exp

from imp_driver.answer.finish import Finish
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.plan.groupings import groupings
from imp_driver.plan.nodes import Aggregate, Plan, Project, Sort, children
from imp_driver.plan.resolve import resolve
from imp_driver.values.refusal import Refused
from tests.soundness.attack import Query, queries
from tests.soundness.interpret import Annotated, evaluate
from tests.soundness.shapes import above_groups
from tests.soundness.tables import Catalog, Database, random_database
from tests.soundness.values import Value

DATABASES = 6
"""Tried for each query."""


@dataclass(slots=True)
class Tally:
    """What was tried: ``refused`` queries whose rows come from no groups, ``left`` pairs that are left to Spark."""

    pairs: int = 0
    refused: int = 0
    left: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    found_in: int | None = None


def attack(pairs: int, seed: int) -> Tally:
    """Try so many pairs, or until there is a difference."""
    tally = Tally()
    for query in queries(seed):
        if tally.pairs >= pairs or tally.differences:
            break
        _attack_one(query, tally)
    return tally


def attack_query(seed: int, number: int) -> Tally:
    """Try the pairs of one query."""
    tally = Tally()
    _attack_one(next(queries(seed, number)), tally)
    return tally


def _attack_one(query: Query, tally: Tally) -> None:
    text = above_groups(query.chance) if query.number % 2 else query.text
    try:
        plan = resolve(sqlglot.parse_one(text, read="spark"), Catalog(), keeps_order=True)
        aggregates = [each.aggregate for each in groupings(plan)]
    except Refused:
        tally.refused += 1
        return
    for _ in range(DATABASES):
        database = random_database(query.chance, nonnegative=query.chance.random() < 0.5)
        difference = _difference(plan, aggregates, database, tally)
        if difference is not None:
            tally.differences.append(f"query {query.number}: {text}\n  {database}\n  {difference}")
            tally.found_in = query.number
            return


def _difference(plan: Plan, aggregates: Sequence[Aggregate], database: Database, tally: Tally) -> str | None:
    groups = {each.output[0].identifier: table_of(each, evaluate(each, database)) for each in aggregates if each.output}
    try:
        found = Finish(groups).answer(plan, may_tie=False)
    except NotEvaluable as error:
        tally.left[str(error)] += 1
        return None
    tally.pairs += 1
    tally.operators.update(_kinds(plan, aggregates))
    names = [attribute.identifier for attribute in plan.output]
    expected = [tuple(_plain(each.row[name]) for name in names) for each in evaluate(plan, database)]
    rows = list(zip(*(found.column(name).to_pylist() for name in names), strict=True))
    if Counter(rows) != Counter(expected):
        return f"expected {expected}\n  found {rows}"
    order = _sort(plan)
    if order is not None:
        # Both have the same rows, so where the keys of the order are alike it may be any.
        keys = [names.index(key.expression.name) for key in order.order if key.expression.name in names]
        if [tuple(row[key] for key in keys) for row in rows] != [tuple(row[key] for key in keys) for row in expected]:
            return f"expected in this order {expected}\n  found {rows}"
    return None


def _sort(plan: Plan) -> Sort | None:
    while isinstance(plan, Project):
        plan = plan.child
    return plan if isinstance(plan, Sort) else None


def _kinds(plan: Plan, aggregates: Sequence[Aggregate]) -> set[str]:
    """Return the operators above the groups."""
    if any(plan is each for each in aggregates):
        return set()
    return {type(plan).__name__}.union(*(_kinds(child, aggregates) for child in children(plan)))


def table_of(plan: Aggregate, rows: Sequence[Annotated]) -> pa.Table:
    """Return rows of groups as a state gives them."""
    types: list[pa.DataType] = [pa.int32()] * len(plan.keys) + [_type(function) for function in plan.functions]
    columns = [
        pa.array([_plain(each.row[attribute.identifier]) for each in rows], kind)
        for attribute, kind in zip(plan.output, types, strict=True)
    ]
    return pa.table(columns, names=[attribute.identifier for attribute in plan.output])


def _type(function: exp.Expr) -> pa.DataType:
    inner = function.this if isinstance(function, exp.Filter) else function
    if isinstance(inner, exp.Avg):
        return pa.float64()
    return pa.int32() if isinstance(inner, (exp.Min, exp.Max)) else pa.int64()


def _plain(value: Value) -> object:
    return float(value) if isinstance(value, Fraction) else value


def main() -> int:
    """Attack as the command line says; return 1 when a difference was found."""
    tally = attack(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(tally)
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
