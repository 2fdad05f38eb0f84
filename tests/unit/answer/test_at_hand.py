"""Groups that stand for the newest versions already serve all constants on their keys as they are."""

from __future__ import annotations

import pytest

from imp_driver.answer import group_reader
from imp_driver.reasons import Decision, ServedBy
from tests.soundness.engine import Row
from tests.unit.answer.test_answers import World

ROWS: list[Row] = [(place, place % 4 or None, place % 7, place % 5) for place in range(80)]
TEXTS = [
    "SELECT g, x, sum(a) AS s FROM r WHERE g > {} GROUP BY g, x HAVING count(*) > 1 ORDER BY s DESC, g, x LIMIT 5",
    "SELECT g, count(*) AS n FROM r WHERE g IN ({}, 2, NULL) OR g IS NULL GROUP BY g",
    "SELECT max(n) AS m FROM (SELECT x, count(*) AS n FROM r WHERE x <> {} AND a > 0 GROUP BY x) AS q",
    "SELECT g, n FROM (SELECT g, count(*) AS n FROM r WHERE g <= {} GROUP BY g) AS q "
    "UNION ALL SELECT k, max(b) FROM s WHERE k > {} GROUP BY k",
    "SELECT r.g, count(*) AS n FROM r JOIN s ON r.g = s.k WHERE r.g <> {} GROUP BY r.g",
    "SELECT x, min(a) AS m FROM r GROUP BY x HAVING min(a) > {}",
]


def _world() -> World:
    world = World()
    world.warehouse.commit("r", ROWS)
    world.warehouse.commit("s", [(place, place % 3, place % 5, place) for place in range(12)])
    return world


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("few", [50_000, 0])
def test_other_constants_before_and_after_commits(text: str, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_reader, "_FEW_GROUPS", few)
    world = _world()
    for number in (0, 1, 2, 3):
        world.checked(text.format(number, number))
        assert world.sketches.relations.background.settle(30)
    for number in (0, 1, 2, 4):
        report = world.checked(text.format(number, number))
        assert report.served_by is ServedBy.STATE
        assert Decision.CAPTURED not in {each.decision for each in (report, *report.also)}
        world.commit((100 + number, number, number, 9), (200 + number, None, 1, None))
        assert world.checked(text.format(number, number)).served_by is ServedBy.STATE


def test_an_answer_counts_once() -> None:
    world = _world()
    text = "SELECT g, sum(a) AS s FROM r WHERE g > {} GROUP BY g"
    for number in range(6):
        world.checked(text.format(number % 3))
    relations = [each for each in world.sketches.relations.registry.relations() if each.is_held]
    assert sum(each.usage.counts.answers for each in relations) == 6


def test_groups_that_cannot_be_finished_all_are_finished_as_far_as_they_are_asked_for() -> None:
    world = _world()
    # A quotient by zero in a group that is not asked for is no error.
    text = "SELECT g, sum(a) / sum(x) AS q FROM r WHERE g <> {} GROUP BY g"
    world.commit((300, 9, 0, 5))
    for number in (9, 9, 9):
        report = world.checked(text.format(number))
        assert report.served_by is ServedBy.STATE, report.not_answered
