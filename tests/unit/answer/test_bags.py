"""Rows without groups are answered from their different rows, each with its copies, once they are asked for again."""

from __future__ import annotations

import pytest

from imp_driver.answer import lifting
from imp_driver.reasons import Decision, Reason, ServedBy
from tests.soundness.engine import Row
from tests.unit.answer.test_answers import World

ROWS: list[Row] = [
    *((place % 20, place % 3, place % 7, place % 5) for place in range(60)),
    (90, None, None, 1),
    (90, None, None, 1),
    (91, 1, 3, None),
    (91, 1, 3, None),
]
PARTNERS: list[Row] = [(place, place % 4, place % 2, place) for place in range(8)] + [(3, 3, 1, 3), (None, None, 1, 1)]


def _world() -> World:
    world = World()
    world.warehouse.commit("r", ROWS)
    world.warehouse.commit("s", PARTNERS)
    return world


def _settled(world: World, text: str) -> None:
    """Ask twice, and wait until the rows are kept."""
    for _ in range(2):
        world.checked(text)
    assert world.sketches.relations.background.settle(30)


def test_rows_are_kept_in_the_background_when_they_are_asked_for_again() -> None:
    world = _world()
    text = "SELECT a, x FROM r WHERE x > 1"
    found = []
    for _ in range(2):
        report = world.checked(text)
        found.append((report.not_answered and report.not_answered.reason, report.decision))
    assert found == [(Reason.ROWS_WITHOUT_GROUPS, Decision.NOT_USED), (Reason.ROWS_NEEDED, Decision.NOT_USED)]
    assert world.sketches.relations.background.settle(30)
    assert world.checked(text).decision is Decision.FRESH


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM r",
        "SELECT a, x FROM r",
        "SELECT a, a, g + 1 AS k, 'r' AS name FROM r WHERE x > 2",
        "SELECT id, g, a, x FROM r WHERE g = 1 OR a IS NULL ORDER BY id, a, x, g",
        "SELECT a FROM r ORDER BY a DESC, g LIMIT 7 OFFSET 2",
        "SELECT r.a, s.b FROM r JOIN s ON r.g = s.k WHERE r.x > 1",
        "SELECT r.a, s.b FROM r LEFT JOIN s ON r.a = s.id AND s.b > 2",
        "SELECT a, g FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.g AND s.b > 5)",
        "SELECT a, g FROM r WHERE g NOT IN (SELECT k FROM s WHERE k > 1)",
        "SELECT a FROM r WHERE x = 1 UNION ALL SELECT k FROM s",
        "SELECT a, g FROM r WHERE x < 3 EXCEPT ALL SELECT b, k FROM s",
        "SELECT r.a, q.n FROM r JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) q ON r.g = q.k",
        "SELECT a, x FROM r WHERE x > (SELECT min(b) FROM s)",
        "WITH t AS (SELECT a, g FROM r WHERE a > 1) SELECT t.a, u.g FROM t JOIN t AS u ON t.a = u.a",
    ],
)
def test_rows_are_answered_from_memory_and_follow_changes(text: str) -> None:
    world = _world()
    _settled(world, text)
    executed = len(world.session.executed)
    assert world.checked(text).served_by is ServedBy.STATE
    world.commit((1, 1, 6, 4), (1, 1, 6, 4), (None, None, None, None))
    assert world.checked(text).served_by is ServedBy.STATE
    world.warehouse.commit("s", PARTNERS[2:])
    world.warehouse.commit("r", ROWS[7:-1])
    assert world.checked(text).served_by is ServedBy.STATE
    world.warehouse.commit("r", [])
    report = world.checked(text)
    assert report.served_by is ServedBy.STATE
    assert len(world.session.executed) == executed


def test_other_templates_and_constants_are_answered_from_the_same_rows() -> None:
    world = _world()
    _settled(world, "SELECT g, a, x FROM r")
    for text in (
        "SELECT a FROM r WHERE g = 2",
        "SELECT a, x FROM r WHERE x > 3 ORDER BY x, a LIMIT 2",
        "SELECT g, sum(x) AS s, count(*) AS n FROM r GROUP BY g",
        "SELECT max(a) AS m FROM r WHERE x = 1",
        "SELECT DISTINCT g, x FROM r",
    ):
        report = world.checked(text)
        assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.FRESH), text


def test_columns_of_changing_constants_are_kept_with_the_rows() -> None:
    world = _world()
    text = "SELECT a, x FROM r WHERE id = {} AND x < 4"
    world.checked(text.format(3))
    second = world.checked(text.format(4))
    assert second.not_answered is not None
    assert second.not_answered.reason is Reason.ROWS_NEEDED
    assert world.sketches.relations.background.settle(30)
    for number in (3, 5, 90, 1_000):
        world.commit((number, 1, 1, 1))
        assert world.checked(text.format(number)).served_by is ServedBy.STATE


def test_conditions_that_join_tables_are_kept_although_keys_decide_them() -> None:
    world = _world()
    text = "SELECT r.g, s.k, r.a, s.b FROM r JOIN s ON r.g = s.k WHERE r.a > {} AND s.b < 7"
    for number in (1, 2):
        world.checked(text.format(number))
    assert world.sketches.relations.background.settle(30)
    assert world.checked(text.format(3)).served_by is ServedBy.STATE
    (wide,) = (each.block for each in world.sketches.relations.registry.relations() if each.is_held)
    assert wide is not None
    assert [node.sql() for node in wide.where_nodes] == ['"g#t0" = "k#t1"']


def test_too_many_rows_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifting, "FEW_GROUPS", 10)
    monkeypatch.setattr(lifting, "SMALL_MEMORY_SHARE", 1 << 40)
    world = _world()
    text = "SELECT id, a FROM r"
    _settled(world, text)
    third = world.checked(text)
    assert third.served_by is ServedBy.SPARK
    assert third.not_answered is not None
    assert third.not_answered.reason is Reason.ROWS_WITHOUT_GROUPS
    assert "different ones of 64" in third.not_answered.detail
    # Few rows of a table are kept however large it is.
    _settled(world, "SELECT id, a FROM r WHERE id = 91")
    assert world.checked("SELECT id, a FROM r WHERE id = 91").served_by is ServedBy.STATE


def test_groups_beside_tables_are_used_until_the_rows_of_these_are_kept() -> None:
    world = _world()
    text = "SELECT s.id, q.n FROM s JOIN (SELECT g, count(*) AS n FROM r GROUP BY g) q ON s.k = q.g"
    served = [world.checked(text).served_by for _ in range(2)]
    assert served == [ServedBy.STATE_AND_SPARK] * 2
    assert world.sketches.relations.background.settle(30)
    assert world.checked(text).served_by is ServedBy.STATE
