"""Groups of groups below views are computed once for all queries over them, and never for others or at other versions."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from imp_driver.answer.regroup import regrouped
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from tests.soundness.engine import drained
from tests.soundness.view_attack import NamedWarehouse, ViewedSession

VIEWS = {
    "low": "SELECT g, x, sum(a) AS s, count(*) AS c FROM r GROUP BY g, x",
    "middle": "SELECT g, sum(s) AS s, sum(c) AS c FROM low GROUP BY g",
    "upper": "SELECT c, max(s) AS s, count(*) AS n FROM middle GROUP BY c",
    "other": "SELECT c, max(s) AS s, count(*) AS n FROM middle WHERE s > 3 GROUP BY c",
    "bounded": "SELECT g, x, sum(a) AS s FROM r WHERE a > (SELECT max(b) - 2 FROM s) GROUP BY g, x",
    "above_bounded": "SELECT g, sum(s) AS s FROM bounded GROUP BY g",
}


class World:
    """A warehouse with the views."""

    def __init__(self) -> None:
        self.warehouse = NamedWarehouse()
        self.chance = random.Random(7)
        self.change("r")
        self.change("s")
        self.session = ViewedSession(self.warehouse)
        self.sketches = Sketches(Relations(self.warehouse, 1 << 30))
        self.path = Middleware(self.session, self.warehouse, self.sketches, Options())
        for name, text in VIEWS.items():
            self.path.run(Execution(f"CREATE INCREMENTAL VIEW {name} AS {text}"))

    def change(self, table: str) -> None:
        chance = self.chance
        self.warehouse.commit(table, [(place, *(chance.randint(0, 4) for _ in range(3))) for place in range(chance.randint(20, 60))])

    def check(self, text: str) -> None:
        rows = [tuple(row.values()) for row in drained(self.path.run(Execution(text)).stream)]
        expected: list[Any] = [tuple(row.values()) for row in self.warehouse.query(text).to_pylist()]
        assert Counter(rows) == Counter(expected), text


@pytest.fixture
def grouped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often groups of groups are computed."""
    found: list[int] = []

    def counted(*given: Any) -> Any:
        found.append(1)
        return regrouped(*given)

    monkeypatch.setattr("imp_driver.answer.finish.regrouped", counted)
    return found


def test_they_are_computed_once_for_all_at_each_version(grouped: list[int]) -> None:
    world = World()
    for _ in range(4):
        world.change("r")
        world.check("SELECT g, s FROM middle")
        grouped.clear()
        for name in ("upper", "other"):
            world.check(f"SELECT c, s, n FROM {name}")
        assert len(grouped) == 2
        world.check("SELECT s, n FROM upper")
        assert len(grouped) == 2


def test_values_of_subqueries_decide_what_they_are() -> None:
    world = World()
    for _ in range(20):
        world.change("s" if world.chance.random() < 0.7 else "r")
        known = len(world.sketches.relations.inner)
        for name in ("bounded", "above_bounded"):
            world.check(f"SELECT * FROM {name}")
        # A plan with such values is another object each time, and may take the place of an earlier one in memory.
        assert len(world.sketches.relations.inner) == known


def test_rows_that_are_kept_beside_others_that_are_not_keep_their_copies() -> None:
    """Computed columns are not kept as rows, so that here the groups above are captured as a whole, with every copy of a row below them."""
    world = World()
    joined = "SELECT r.g + q.b AS c FROM r JOIN (SELECT k, b + 1 AS b FROM s) q ON r.g = q.k"
    totals = "(SELECT g, sum(a) AS n FROM r GROUP BY g HAVING sum(a) > 2) t"
    world.path.run(
        Execution(
            f"CREATE INCREMENTAL VIEW mixed AS SELECT g AS k FROM r UNION ALL SELECT q.c FROM ({joined}) q LEFT JOIN {totals} ON q.c = t.g"
        )
    )
    for _ in range(3):
        world.check("SELECT k, count(*) AS c, max(k) AS m FROM mixed GROUP BY k")
        world.check("SELECT * FROM mixed")
        world.change("r")
