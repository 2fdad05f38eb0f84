"""Constants that change from query to query: their columns become keys of a state that no query waits for."""

from __future__ import annotations

import pyarrow as pa
import pytest

from imp_driver.answer import lifting
from imp_driver.errors import OperationalError
from imp_driver.maintain import relations
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Policy
from tests.soundness.engine import DuckSession, Row
from tests.unit.answer.test_answers import Asked, World

ROWS: list[Row] = [*((place, place % 3, place % 7, place % 5) for place in range(60)), (90, None, None, 1), (91, 1, 3, None)]
PARTNERS: list[Row] = [(place, place % 4, place % 5, place % 6) for place in range(30)] + [(40, None, 3, 3), (41, 2, None, None)]


def _world() -> World:
    # By their times alone steps on a busy machine would be left out.
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", ROWS)
    return world


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, sum(x) AS s FROM r WHERE a < {} GROUP BY g",
        "SELECT g, count(*) AS n FROM r WHERE a BETWEEN {} AND 5 AND x IS NOT NULL GROUP BY g",
        "SELECT sum(x) AS s, count(*) AS n FROM r WHERE a = {} OR x > 3",
        "SELECT g, avg(x) AS m FROM r WHERE a IN ({}, 6) AND g = 1 GROUP BY g",
        "SELECT max(s) AS most FROM (SELECT g, sum(x) AS s FROM r WHERE a <> {} GROUP BY g) q",
        "SELECT g, sum(CASE WHEN a = {} THEN x ELSE 0 END) AS s, sum(x) AS t FROM r GROUP BY g",
        "SELECT sum(x) FILTER (WHERE a > {}) AS s, count(*) FILTER (WHERE a <= 3) AS n, count(CASE WHEN a = {} THEN 1 END) AS c FROM r",
        "SELECT g, sum(CASE WHEN a = {} THEN x END) AS s FROM r WHERE x < {} GROUP BY g",
        "SELECT g, count(*) AS n FROM r WHERE a IN ({}, 5) AND x IN (0, 1, {}) GROUP BY g",
        "SELECT g, s FROM (SELECT g, sum(x) AS s FROM r WHERE NOT a = {} GROUP BY g) q WHERE s > 3 ORDER BY s, g LIMIT 2",
        "SELECT g, bool_or(a > {}) AS b FROM r WHERE x < {} GROUP BY g",
        "SELECT g, sum(x * {}) AS s, count(*) AS n FROM r GROUP BY g",
        "SELECT CASE WHEN a < {} THEN 'low' ELSE 'high' END AS k, sum(x) AS s FROM r GROUP BY CASE WHEN a < {} THEN 'low' ELSE 'high' END",
        "SELECT a + {} AS k, max(x) AS m FROM r WHERE g = 1 GROUP BY a + {}",
    ],
)
def test_other_constants_are_answered_from_one_state(text: str) -> None:
    world = _world()
    assert world.checked(text.format(1, 1)).decision is Decision.CAPTURED
    second = world.checked(text.format(2, 2))
    assert second.not_answered is not None
    # Nothing is captured for these constants alone.
    assert (second.not_answered.reason, second.reason, second.decision) == (Reason.LIFT_NEEDED, Reason.LIFT_NEEDED, Decision.NOT_USED)
    assert world.sketches.relations.background.settle(30)
    for number in (2, 3, 4, 99):
        world.commit((100 + number, number % 4, number, 7), (200 + number, None, number, None))
        report = world.checked(text.format(number, number))
        assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED)
    # The first constants have a state of their own, of fewer groups.
    assert world.checked(text.format(1, 1)).served_by is ServedBy.STATE


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, sum(a * 60 / x) AS s, sum(a) AS t FROM r WHERE x > {} GROUP BY g",
        "SELECT sum(id * 60 / x) FILTER (WHERE a > 1) AS s, count(*) AS n FROM r WHERE x > {}",
        "SELECT g, max(id * 60 / x) AS m, count(*) AS n FROM r WHERE x > {} AND a IS NOT NULL GROUP BY g",
    ],
)
def test_divisions_by_zero_in_rows_that_are_not_asked_for(text: str) -> None:
    world = _world()
    for number in (1, 2):
        world.checked(text.format(number))
        assert world.sketches.relations.background.settle(30)
    for number in (3, 0, 4):
        world.commit((100 + number, number % 3, 0, 2), (200 + number, 1, None, 2), (300 + number, 1, 5, 2))
        report = world.checked(text.format(number))
        assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED)
    asked = world.checked(text.format(-1))
    assert asked.not_answered is not None
    assert (asked.not_answered.reason, asked.served_by) == (Reason.ERRORS_IN_GROUPS, ServedBy.SPARK)


def test_a_quotient_that_is_null_by_a_setting_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    world = _world()
    monkeypatch.setattr(DuckSession, "settings", lambda _: (("spark.sql.ansi.enabled", "false"),))
    text = "SELECT g, sum(a * 60 / x) AS s FROM r WHERE x > {} GROUP BY g"
    for number in (1, 2):
        world.checked(text.format(number))
        assert world.sketches.relations.background.settle(30)
    assert world.checked(text.format(-1)).served_by is ServedBy.STATE


@pytest.mark.parametrize(
    "text",
    [
        "SELECT r.g, count(*) AS n FROM r JOIN s ON r.g = s.k WHERE (r.x = {} AND s.b = 9) OR (r.x = 9 AND s.b = {}) GROUP BY r.g",
        "SELECT sum(r.x) AS t FROM r, s AS p, s AS q WHERE r.g = p.k AND p.y = q.y AND r.a + q.b > {} AND p.b < 7",
        "SELECT r.x, s.b, count(*) AS n FROM r JOIN s ON r.g = s.k WHERE r.x > {} OR s.b = {} GROUP BY r.x, s.b",
    ],
)
def test_conditions_over_tables_that_are_joined_anyway_are_lifted(text: str) -> None:
    world = _world()
    world.warehouse.commit("s", PARTNERS)
    for number in (1, 2):
        world.checked(text.format(number, number))
        assert world.sketches.relations.background.settle(30)
    for number in (3, 0, 4):
        world.warehouse.commit("s", [*world.warehouse.rows("s")[1:], (50 + number, number % 4, 9, 6)])
        report = world.checked(text.format(number, number))
        assert report.served_by is ServedBy.STATE
        assert Decision.CAPTURED not in [each.decision for each in (report, *report.also)]


@pytest.mark.parametrize("condition", ["r.a + {} = s.b", "r.a < s.b + {}"])
def test_a_condition_that_joins_is_not_lifted(condition: str) -> None:
    """Without it all rows of one table would be paired with all of the other."""
    world = _world()
    world.warehouse.commit("s", PARTNERS)
    text = f"SELECT r.g, count(*) AS n FROM r, s WHERE {condition} GROUP BY r.g"
    for number in (1, 2, 3):
        report = world.checked(text.format(number))
        assert report.not_answered is None or report.not_answered.reason is not Reason.LIFT_NEEDED
        assert world.sketches.relations.background.settle(30)
    blocks = [each.block for each in world.sketches.relations.registry.relations()]
    assert all(block is not None and block.where_nodes for block in blocks)


@pytest.mark.parametrize("part", ["approx_count_distinct", "GROUP BY"])
def test_a_lift_that_fails_at_ever_newer_versions_is_given_up(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the rows of other constants have a value by which the query divides."""
    world = _world()
    failed: list[str] = []

    def read(session: Asked, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        if part in text and " IN " not in text:
            failed.append(text)
            raise OperationalError("[DIVIDE_BY_ZERO] Division by zero.")
        return DuckSession.read(session, text, execution, most_bytes)

    monkeypatch.setattr(Asked, "read", read)
    text = "SELECT g, sum(x) AS s FROM r WHERE a IN ({}, 9) GROUP BY g"
    reasons = []
    for number in range(12):
        report = world.checked(text.format(3 + number % 2))
        reasons.append(None if report.not_answered is None else report.not_answered.reason)
        assert world.sketches.relations.background.settle(30)
        world.commit((100 + number, number % 4, number, 7))
    assert reasons.count(Reason.LIFT_NEEDED) == len(failed) == 3
    # Constants that come again have states of their own.
    assert reasons[-2:] == [None, None]


@pytest.mark.parametrize(("share", "hint"), [(0.5, "COALESCE(2)"), (0.1, "COALESCE(1)"), (1.0, "FROM `r` VERSION AS OF 0")])
def test_captures_in_the_background_read_tables_by_a_share_of_the_cores(share: float, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(policy=Policy.INCREMENTAL, background_share=share)
    read: list[str] = []

    def noted(session: Asked, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        read.append(text)
        return DuckSession.read(session, text, execution, most_bytes)

    monkeypatch.setattr(Asked, "parallelism", lambda session: 4)
    monkeypatch.setattr(Asked, "read", noted)
    text = "SELECT g, sum(x) AS s FROM r WHERE a < {} GROUP BY g"
    world.checked(text.format(1))
    assert "COALESCE" not in read[-1]
    world.checked(text.format(2))
    assert world.sketches.relations.background.settle(30)
    assert hint in read[-2]
    assert hint in read[-1]
    assert world.checked(text.format(3)).served_by is ServedBy.STATE


def test_constants_that_no_state_serves_together_are_captured_few_times() -> None:
    world = _world()
    world.warehouse.commit("s", PARTNERS)
    text = "SELECT r.g, count(s.b) AS n FROM r LEFT JOIN s ON r.g = s.k AND s.b > {} GROUP BY r.g"
    most = relations.MOST_OF_A_SHAPE
    served = [world.checked(text.format(number)).served_by for number in (*range(most + 3), most, 0)]
    assert served == [ServedBy.STATE] * most + [ServedBy.SPARK] * 3 + [ServedBy.STATE] * 2


def test_lists_of_any_length_have_one_state() -> None:
    world = _world()
    text = "SELECT g, sum(x) AS s FROM r WHERE a IN ({}) GROUP BY g"
    world.checked(text.format("1, 2"))
    second = world.checked(text.format("1, 2, 3"))
    assert second.not_answered is not None
    assert second.not_answered.reason is Reason.LIFT_NEEDED
    assert world.sketches.relations.background.settle(30)
    for several in ("4", "1, 3, 5, 6", "NULL, 2"):
        assert world.checked(text.format(several)).decision is Decision.FRESH


def test_only_what_changes_is_lifted() -> None:
    world = _world()
    text = "SELECT g, sum(x) AS s FROM r WHERE a < {} AND id > {} GROUP BY g"
    for number in (1, 2):
        world.checked(text.format(number, 7))
    assert world.sketches.relations.background.settle(30)
    (wide,) = (each for each in world.sketches.relations.registry.relations() if len(each.key_types) == 2)
    assert wide.block is not None
    assert [wide.block.keys_sql, wide.block.where_sql] == [("`g`", "`a`"), "(`id` > 7)"]
    assert world.checked(text.format(5, 7)).decision is Decision.FRESH
    second = world.checked(text.format(5, 8))
    assert second.not_answered is not None
    assert (second.not_answered.reason, second.not_answered.detail) == (Reason.LIFT_NEEDED, "a, id")
    assert world.sketches.relations.background.settle(30)
    assert world.checked(text.format(2, 30)).decision is Decision.FRESH


def test_what_only_spark_decides_is_not_lifted() -> None:
    world = _world()
    text = "SELECT g, sum(x) AS s FROM r WHERE sha1(CAST(a AS STRING)) > '{}' GROUP BY g"
    found = [world.ask(text.format(number))[1].not_answered for number in (1, 2, 3)]
    assert [each and each.reason for each in found[1:]] == [Reason.CAPTURE_DEFERRED] * 2


def test_too_many_groups_are_given_up_with_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifting, "MOST_GROUPS", 10)
    world = _world()
    text = "SELECT g, sum(x) AS s FROM r WHERE id <> {} GROUP BY g"
    for number in (10, 20):
        world.checked(text.format(number))
    assert world.sketches.relations.background.settle(30)
    (failure,) = (each.attempts.failure for each in world.sketches.relations.registry.relations() if each.attempts.failure)
    assert failure.reason is Reason.LIFT_TOO_LARGE
    assert "groups of 62 rows" in failure.detail
    # It is not tried again; the same constants have a state of their own once they are asked for again.
    assert [world.checked(text.format(20)).served_by for _ in range(2)] == [ServedBy.SPARK, ServedBy.STATE]


def test_a_connection_that_closes_takes_its_captures_along() -> None:
    world = _world()
    text = "SELECT g, sum(x) AS s FROM r WHERE a < {} GROUP BY g"
    for number in (1, 2):
        world.ask(text.format(number))
    world.path.close()
    background = world.sketches.relations.background
    assert background.settle(0)
    assert background._life is None


def test_groups_that_are_up_to_date_are_preferred_to_fewer_that_are_not() -> None:
    world = _world()
    text = "SELECT g, sum(x) AS s FROM r WHERE a < {} GROUP BY g"
    for number in (1, 2):
        world.checked(text.format(number))
    assert world.sketches.relations.background.settle(30)
    own, wide = world.sketches.relations.registry.relations()
    assert world.checked(text.format(1)).sketch_id == own.identifier
    world.commit((101, 1, 0, 5))
    assert world.checked(text.format(2)).sketch_id == wide.identifier
    found = world.checked(text.format(1))
    assert (found.sketch_id, found.decision) == (wide.identifier, Decision.FRESH)
    assert (own.version or 0) < (wide.version or 0)


def test_conditions_on_keys_of_any_form_are_lifted() -> None:
    world = _world()
    text = "SELECT g, a, count(*) AS n FROM r WHERE g + a > {} AND g <> {} GROUP BY g, a"
    assert world.checked(text.format(1, 2)).decision is Decision.CAPTURED
    second = world.checked(text.format(2, 0))
    assert second.not_answered is not None
    assert second.not_answered.reason is Reason.LIFT_NEEDED
    assert world.sketches.relations.background.settle(30)
    assert [world.checked(text.format(number, 1)).decision for number in (3, 0, 7)] == [Decision.FRESH] * 3
