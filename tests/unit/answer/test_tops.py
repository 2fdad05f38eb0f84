"""The first rows of an order over tables with many rows: kept up to a threshold that is learned from the data."""

from __future__ import annotations

import random

import pytest

from imp_driver.answer import tops
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.state import thresholds
from imp_driver.values.option_kinds import Policy
from tests.soundness.engine import Row
from tests.unit.answer.test_answers import World

ROWS: list[Row] = [(place, place % 3, place % 7, place * 37 % 100) for place in range(100)] + [(200, None, None, None), (201, 1, None, 50)]


@pytest.fixture(autouse=True)
def many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let these few rows be too many to be kept."""
    monkeypatch.setattr(tops, "FEW_GROUPS", 20)
    monkeypatch.setattr(thresholds, "_LEAST_ROWS", 12)
    monkeypatch.setattr(thresholds, "_DEPTH", 2)
    monkeypatch.setattr(thresholds, "_GROWTH", 4)


def _world() -> World:
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", ROWS)
    world.warehouse.commit("s", [(place, place % 4, place % 5, place % 6) for place in range(30)])
    return world


def _learn(world: World, text: str) -> list[Reason | None]:
    """Ask until the rows are kept; return why they were not before."""
    reasons = []
    for _ in range(4):
        report = world.checked(text)
        reasons.append(None if report.not_answered is None else report.not_answered.reason)
        assert world.sketches.relations.background.settle(30)
    return reasons


def _kept(world: World) -> int:
    return max(each.groups or 0 for each in world.sketches.relations.registry.relations() if each.is_held)


TEXTS = [
    "SELECT id, g, a FROM r ORDER BY a DESC, id LIMIT 5",
    "SELECT id, a FROM r ORDER BY a, id DESC LIMIT 4 OFFSET 2",
    "SELECT id, a FROM r ORDER BY a NULLS LAST, id LIMIT 5",
    "SELECT id, a FROM r ORDER BY a DESC NULLS FIRST, id LIMIT 5",
    "SELECT id AS place, a + 1 AS b FROM r WHERE x <> 2 ORDER BY r.a DESC, id LIMIT 5",
    "SELECT r.id, s.id AS other, a, b FROM r JOIN s ON r.g = s.k WHERE b = 1 ORDER BY r.a DESC, r.id, s.id LIMIT 6",
    "SELECT place, upper(name) AS n FROM (SELECT id AS place, a, cast(x AS STRING) AS name FROM r) q ORDER BY place DESC LIMIT 3",
    "SELECT id FROM r WHERE g IN (SELECT k FROM s WHERE b > 2) ORDER BY a DESC, id LIMIT 5",
]


@pytest.mark.parametrize("text", TEXTS)
def test_few_rows_are_kept_and_follow_changes(text: str) -> None:
    world = _world()
    assert _learn(world, text) == [Reason.ROWS_WITHOUT_GROUPS, Reason.ROWS_NEEDED, Reason.ROWS_NEEDED, None]
    assert _kept(world) < 60
    chance = random.Random(text)
    for number in range(12):
        rows = world.warehouse.rows("r")
        left = [row for row in rows if chance.random() > 0.02]
        world.warehouse.commit("r", [*left, (300 + number, number % 3, number % 7, chance.choice([None, -1, 50, 101, 102]))])
        report = world.checked(text)
        assert report.served_by is ServedBy.STATE, report.not_answered
        assert report.decision is Decision.MAINTAINED


def test_constants_have_thresholds_of_their_own() -> None:
    world = _world()
    text = "SELECT id, a FROM r WHERE x < {} ORDER BY a DESC, id LIMIT 3"
    for number in (4, 5):
        assert _learn(world, text.format(number))[-1] is None
    world.commit((400, 1, 3, 98), (401, 1, 4, 99))
    for number in (4, 5):
        assert world.checked(text.format(number)).served_by is ServedBy.STATE
    assert _kept(world) < 30


def test_few_rows_that_pass_are_kept_without_a_threshold() -> None:
    world = _world()
    text = "SELECT id, a FROM r WHERE x = 3 AND g = 1 ORDER BY a DESC, id LIMIT 3"
    _learn(world, text)
    _learn(world, text)
    assert world.checked(text).served_by is ServedBy.STATE
    world.warehouse.commit("r", [row for row in world.warehouse.rows("r") if row[2] != 3])
    assert world.checked(text).served_by is ServedBy.STATE


def test_a_threshold_is_learned_anew_when_too_few_rows_are_left() -> None:
    world = _world()
    text = "SELECT id, a FROM r ORDER BY a DESC, id LIMIT 5"
    _learn(world, text)
    # Of the twelve that are kept three are left.
    world.warehouse.commit("r", [row for row in ROWS if row[3] is None or not 89 <= row[3] < 97])
    report = world.checked(text)
    assert report.not_answered is not None
    assert report.not_answered.reason is Reason.ROWS_NEEDED
    assert _learn(world, text)[-1] is None
    assert world.checked(text).served_by is ServedBy.STATE


def test_a_threshold_is_learned_anew_when_many_rows_pass() -> None:
    world = _world()
    text = "SELECT id, a FROM r ORDER BY a DESC, id LIMIT 5"
    _learn(world, text)
    before = [each.groups for each in world.sketches.relations.registry.relations() if each.is_held]
    for number in range(12):
        world.commit(*((500 + 10 * number + place, 1, 1, 100 + number) for place in range(6)))
        world.checked(text)
        assert world.sketches.relations.background.settle(30)
    report = world.checked(text)
    assert report.served_by is ServedBy.STATE
    after = [each.groups for each in world.sketches.relations.registry.relations() if each.is_held]
    assert len(after) > len(before)
    assert (after[-1] or 0) < 50


def test_a_table_that_shrinks_needs_no_threshold() -> None:
    world = _world()
    text = "SELECT id, a FROM r ORDER BY a DESC, id LIMIT 5"
    _learn(world, text)
    world.warehouse.commit("r", ROWS[:3])
    _learn(world, text)
    assert world.checked(text).served_by is ServedBy.STATE


@pytest.mark.parametrize(
    "text",
    [
        # Doubles have NaN and two zeros; an expression has no statistics to be trusted; groups are what they are.
        "SELECT id, a FROM r ORDER BY cast(a AS DOUBLE) DESC, id LIMIT 5",
        "SELECT id, a FROM r ORDER BY a % 10 DESC, id LIMIT 5",
        "SELECT id, a FROM r UNION ALL SELECT id, b FROM s ORDER BY a DESC, id LIMIT 5",
        "SELECT DISTINCT a FROM r ORDER BY a DESC LIMIT 5",
        "SELECT id, a, (SELECT max(b) FROM s) AS m FROM r ORDER BY a DESC, id LIMIT 5",
    ],
)
def test_other_orders_have_no_threshold(text: str) -> None:
    world = _world()
    for _ in range(2):
        _learn(world, text)
        world.commit((600, 1, 1, 1_000))
    assert len(world.sketches.relations.thresholds) == 0


def test_explain_says_what_is_kept() -> None:
    world = _world()
    text = "SELECT id, a FROM r ORDER BY a DESC, id LIMIT 5"
    _learn(world, text)
    shown = [line for row in world.ask(f"EXPLAIN SKETCH {text}")[0] for line in str(row[0]).split("\n")]
    assert any("different rows of" in line and "held as" in line for line in shown), shown
