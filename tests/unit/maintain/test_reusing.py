"""States that serve blocks with other row conditions: which groups they hold decides what they may be asked."""

from __future__ import annotations

import pytest

from imp_driver.reasons import Decision
from tests.unit.maintain.test_sharing import World

ALL = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 1"
ON_KEYS = (
    "g + 1 > 5",
    "g % 2 = 0",
    "abs(g - 5) > 2",
    "coalesce(g, 0) > 4",
    "nullif(g, 4) < 9",
    "CASE WHEN g > 4 THEN g < 9 ELSE g = 2 END",
    "IF(g > 4, g < 8, FALSE)",
    "greatest(g, 2) < 4",
    "CAST(g AS STRING) LIKE '%7'",
    "substring(CAST(g AS STRING), 1, 1) > '6'",
    "(g > 7 OR g + 1 < 3)",
    "g > 2 AND g % 3 = 1",
)


@pytest.mark.parametrize(
    "end", ["ORDER BY f DESC, g LIMIT 2", "ORDER BY f, g LIMIT 2", "ORDER BY f DESC, g LIMIT 1 OFFSET 1", "ORDER BY g LIMIT 2"]
)
@pytest.mark.parametrize("condition", ON_KEYS)
def test_first_groups_are_not_asked_of_a_state_with_groups_that_the_block_has_not(condition: str, end: str) -> None:
    world = World()
    assert world.ask(ALL).decision is Decision.CAPTURED
    world.ask(f"SELECT g, sum(a) AS f FROM r WHERE {condition} GROUP BY g {end}")


@pytest.mark.parametrize("condition", ["g + 1 > {}", "g % {} = 0", "abs(g - 9) < {}"])
def test_first_groups_are_not_asked_of_a_state_of_other_constants(condition: str) -> None:
    world = World()
    top = f"SELECT g, sum(a) AS f FROM r WHERE {condition} GROUP BY g ORDER BY f DESC, g LIMIT 3"
    for constant in (1, 6, 4, 2):
        world.ask(top.format(constant))


def test_plain_comparisons_are_asked_of_the_groups_before_the_first_are_taken() -> None:
    world = World()
    assert world.ask(ALL).decision is Decision.CAPTURED
    report = world.ask("SELECT g, sum(a) AS f FROM r WHERE g > 3 AND g < 8 GROUP BY g ORDER BY f DESC, g LIMIT 2")
    assert report.decision is Decision.FRESH


def test_conditions_on_groups_are_asked_of_a_state_with_more_groups() -> None:
    world = World()
    assert world.ask(ALL).decision is Decision.CAPTURED
    report = world.ask("SELECT g, sum(a) AS f FROM r WHERE g % 2 = 0 GROUP BY g HAVING sum(a) > 13")
    assert report.decision is Decision.FRESH
    assert "served by the state of other constants" in report.detail
