"""EXPLAIN WHY through the whole driver, without a JVM: of which rows it is told, and of which not, which a new view is told too."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import pytest

from imp_driver.answer.recursion import recursions
from imp_driver.answer.recursion.why import Provenance
from imp_driver.dataflow.recursion.rules import Rule
from imp_driver.errors import NotSupportedError
from tests.soundness.engine import Row
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


def test_provenance_that_was_too_large_is_tried_again_once_a_table_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    class Few(Provenance):
        def __init__(self, rules: Sequence[Rule], most_nodes: int = 60) -> None:
            made.append(most_nodes)
            super().__init__(rules, most_nodes)

    monkeypatch.setattr(recursions, "Provenance", Few)
    world = Viewed()
    few: list[Row] = [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 1, 0)]
    world.warehouse.commit("r", few)
    world.view("v", SCALAR.format(-1), has_provenance=True)
    assert len(why(world, "SELECT * FROM v")) == 3
    world.warehouse.commit("r", [(10 + number, 1 + number // 7 % 7, 1 + number % 7, 0) for number in range(49)])
    for _ in range(2):
        with pytest.raises(NotSupportedError, match="more than 60 nodes"):
            why(world, "SELECT * FROM v")
        assert len(world.ask("SELECT g FROM v")[0]) == 7
    assert len(made) == 1
    world.warehouse.commit("r", few)
    assert len(why(world, "SELECT * FROM v")) == 3
    assert len(made) == 2


LEAST = (
    "WITH RECURSIVE path(src, dst, cost) AS (SELECT g, x, a FROM r UNION SELECT l.g, p.dst, l.a + p.cost FROM r l, path p "
    "WHERE l.x = p.src AND l.a < 9) SELECT src, dst, min(cost) AS cost FROM path GROUP BY src, dst"
)
WIDEST = LEAST.replace("l.a + p.cost", "least(l.a, p.cost)").replace("min(", "max(")


def _cheapest(links: tuple[Row, ...]) -> dict[tuple[object, object], int]:
    found: dict[tuple[object, object], int] = {}
    for _ in range(len(links) + 1):
        for _, g, x, a in links:
            for (src, dst), cost in [*found.items(), ((x, x), 0)]:
                if src == x and found.get((g, dst), 99) > int(a or 0) + cost:
                    found[g, dst] = int(a or 0) + cost
    return found


def test_a_shortest_path_is_there_by_each_set_of_links_that_it_takes() -> None:
    world, choice = Viewed(), random.Random(11)
    world.view("v", LEAST, has_provenance=True)
    links: list[Row] = [(1, 1, 2, 1), (2, 2, 3, 1), (3, 1, 3, 2), (4, 3, 1, 0), (5, 3, 4, 2), (6, 2, 4, 3)]
    for _ in range(3):
        world.warehouse.commit("r", links)
        shown = {f"r (id = {i}, g = {g}, x = {x}, a = {a})": number for number, (i, g, x, a) in enumerate(links)}
        subsets = [frozenset(each) for size in range(len(links) + 1) for each in combinations(range(len(links)), size)]
        least = {subset: _cheapest(tuple(links[each] for each in sorted(subset))) for subset in subsets}
        whole = least[subsets[-1]]
        for (src, dst), cost in whole.items():
            enough = [subset for subset in subsets if least[subset].get((src, dst)) == cost]
            minimal = {each for each in enough if not any(other < each for other in enough)}
            told = why(world, f"UP TO 50 SELECT * FROM v WHERE src = {src} AND dst = {dst}")
            assert {frozenset(shown[each] for each in rows) for rows in told} == minimal, (src, dst, links)
        links = [*choice.sample(links, 4), *((10 + n, choice.randint(1, 4), choice.randint(1, 4), choice.randint(0, 2)) for n in range(2))]


def test_a_value_that_follows_from_a_worse_one_is_not_explained() -> None:
    world = Viewed()
    world.view("v", LEAST, has_provenance=True)
    world.warehouse.commit("r", [(1, 1, 2, -7), (2, 2, 3, 5)])
    assert (1, 3, -2) in world.ask("SELECT * FROM v")[0]
    with pytest.raises(NotSupportedError, match="a better value follows from a worse one"):
        world.ask("EXPLAIN WHY SELECT * FROM v")


TOLD = {
    "aggregate": (REACH + "SELECT a, count(*) AS n FROM p GROUP BY a", "one recursion \\(aggregate\\)"),
    "two of them": (REACH + "SELECT one.a, other.b FROM p one JOIN p other ON one.b = other.a", "one recursion \\(join\\)"),
    "rows that have it": (PATHS + "SELECT * FROM cheapest", "one recursion \\(join\\)"),
    "two values": (PATHS + OF_PATHS["two at once"], "one recursion \\(aggregate\\)"),
    "values of several groups": (PATHS + OF_PATHS["of all"], "rows of several groups"),
    "the widest way": (WIDEST, "from others than the best rows"),
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
