"""EXPLAIN WHY through the whole driver, without a JVM: of which rows it is told, and of which not, which a new view is told too."""

from __future__ import annotations

import pytest

from imp_driver.errors import NotSupportedError
from tests.unit.answer.test_recursion import OF_PATHS, PATHS, QUERIES, REACH
from tests.unit.answer.viewing import Viewed

SCALAR = "WITH RECURSIVE p(g) AS (SELECT g FROM r WHERE g = 1 UNION SELECT r.x FROM p JOIN r ON p.g = r.g WHERE r.x > {}) SELECT g FROM p"


def why(world: Viewed, query: str) -> list[list[str]]:
    """Return the base rows of each alternative of each row."""
    found: dict[tuple[object, object], list[str]] = {}
    for row in world.ask(f"EXPLAIN WHY {query}")[0]:
        found.setdefault((row[0], row[2]), []).append(str(row[3]))
    return list(found.values())


def test_a_step_with_a_scalar_subquery() -> None:
    world = Viewed()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 1, 0)])
    world.view("v", SCALAR.format("(SELECT min(id) FROM r)"), has_provenance=True)
    assert sorted(world.ask("SELECT g FROM v")[0]) == [(1,), (2,), (3,)]
    (alternative,) = why(world, "SELECT * FROM v WHERE g = 2")
    assert alternative[0] == "r (id = 1, g = 1, x = 2, a = 0)"
    assert len(alternative) == 2


TOLD = {
    "aggregate": (REACH + "SELECT a, count(*) AS n FROM p GROUP BY a", "one recursion \\(aggregate\\)"),
    "two of them": (REACH + "SELECT one.a, other.b FROM p one JOIN p other ON one.b = other.a", "one recursion \\(join\\)"),
    "best rows": (PATHS + "SELECT * FROM minCost", "one recursion \\(aggregate\\)"),
    "first rows": (PATHS + OF_PATHS["first ones"], "one recursion \\(window\\)"),
    "no rule": (QUERIES["outer inside"], "a step has no rule: Join"),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_view_and_its_explanation_are_refused_alike(name: str) -> None:
    world = Viewed()
    query, told = TOLD[name]
    world.view("v", query, has_provenance=True)
    with pytest.raises(NotSupportedError, match=told):
        world.ask("EXPLAIN WHY SELECT * FROM v")
    with pytest.raises(NotSupportedError, match=told):
        world.ask(f"CREATE INCREMENTAL VIEW w WITH PROVENANCE AS {query}")
