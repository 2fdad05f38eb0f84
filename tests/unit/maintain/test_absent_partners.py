"""Groups by a column that is NULL where a join finds no partner: the rows of that group come from anywhere."""

from __future__ import annotations

import pytest

from imp_driver.reasons import Decision, Reason
from tests.unit.maintain.test_sharing import World

JOINS = (
    ("r.g", "r FULL JOIN s ON r.g = s.k"),
    ("s.k", "r FULL JOIN s ON r.g = s.k"),
    ("r.g", "r RIGHT JOIN s ON r.g = s.k"),
    ("s.k", "r LEFT JOIN s ON r.g = s.k"),
    ("s.k, s.y", "r LEFT JOIN s ON r.g = s.k"),
    ("q.g, q.x", "(SELECT g, x, a FROM r) q FULL JOIN s ON q.g = s.k AND q.x = s.y"),
)
CONDITIONS = ("HAVING count(*) > 8", "HAVING max(s.b) >= 6", "HAVING min(s.b) < 1", "ORDER BY f DESC LIMIT 1", "HAVING sum(s.b) > 20")


@pytest.mark.parametrize(("keys", "source"), JOINS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_group_of_rows_without_a_partner_is_complete(keys: str, source: str, condition: str) -> None:
    world = World()
    world.warehouse.commit("r", [(number, number % 8, number % 3, number % 5) for number in range(40)])
    world.warehouse.commit("s", [(number, number % 20, number % 3, number % 7) for number in range(60)])
    for _ in range(3):
        report = world.ask(f"SELECT {keys}, count(*) AS f FROM {source} GROUP BY {keys} {condition}")
        assert report.reason is not Reason.INTERNAL
        world.insert(3, 1)


def test_the_side_that_keeps_its_rows_is_cut_with_its_partners() -> None:
    world = World()
    world.warehouse.commit("s", [(number, number % 20, number % 3, number % 7) for number in range(60)])
    report = world.ask("SELECT r.g, count(*) AS f FROM r LEFT JOIN s ON r.g = s.k GROUP BY r.g HAVING count(*) > 18 OR r.g = 7")
    assert (report.decision, report.reason) == (Decision.CAPTURED, Reason.FILTERED)
