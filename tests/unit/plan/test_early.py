"""Semi-joins go below outer joins where they read their left side alone."""

from __future__ import annotations

import pytest

from imp_driver.plan.attributes import identifiers
from imp_driver.plan.early import early
from imp_driver.plan.nodes import Filter, Join, Plan, Project, SemiJoin, children
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import plan_of

SCHEMA = (SchemaColumn("a", "integer", True), SchemaColumn("b", "long", True), SchemaColumn("c", "string", True))


def _found(plan: Plan) -> SemiJoin:
    if isinstance(plan, SemiJoin):
        return plan
    return next(found for each in children(plan) if (found := _found(each)) is not None)


def _names(plan: Plan) -> str:
    own = {Join: "join", SemiJoin: "semi", Filter: "filter", Project: "project"}.get(type(plan), plan.__class__.__name__.lower())
    inner = " ".join(map(_names, children(plan)))
    return f"{own}({inner})" if inner else own


@pytest.mark.parametrize(
    ("source", "condition", "expected"),
    [
        ("r LEFT JOIN s ON r.a = s.a", "r.a", "join(semi(scan scan) scan)"),
        ("r LEFT JOIN s ON r.a = s.a", "s.a", ""),
        ("r LEFT JOIN s ON r.a = s.a", "r.a + s.a", ""),
        ("r JOIN s ON r.a = s.a", "r.a", ""),
        ("r FULL JOIN s ON r.a = s.a", "r.a", ""),
        ("(SELECT r.a AS k, s.b FROM r LEFT JOIN s ON r.a = s.a WHERE r.b > 1) q", "k", "project(filter(join(semi(scan scan) scan)))"),
        ("(SELECT r.a + 1 AS k, s.b FROM r LEFT JOIN s ON r.a = s.a) q", "k", ""),
        ("r LEFT JOIN s ON r.a = s.a LEFT JOIN s AS u ON u.a = s.a", "r.b", "join(join(semi(scan scan) scan) scan)"),
        ("r LEFT JOIN s ON r.a = s.a LEFT JOIN s AS u ON u.a = s.a", "s.b", "join(semi(join(scan scan) scan) scan)"),
    ],
)
@pytest.mark.parametrize("operator", ["IN", "NOT IN"])
def test_semi_joins_go_below_joins_that_drop_no_row(source: str, condition: str, expected: str, operator: str) -> None:
    before = _found(plan_of(f"SELECT 1 FROM {source} WHERE {condition} {operator} (SELECT a FROM t)", SCHEMA))
    after = early(before)
    assert ("" if after is before else _names(after)) == expected
    if after is not before:
        assert (_found(after).anti, _found(after).null_aware) == (before.anti, before.null_aware)
        assert [each.identifier for each in after.output] == [each.identifier for each in before.output]
        known = {each.identifier for side in (_found(after).left, _found(after).right) for each in side.output}
        assert all(identifiers(each) <= known for each in _found(after).conjuncts)
