"""Scalar subqueries below groups: constants that are computed first, or joins with groups."""

from __future__ import annotations

from collections import Counter

import pytest
import sqlglot

from imp_driver.plan.resolve import resolve
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.option_kinds import Policy
from imp_driver.values.refusal import Refused
from tests.soundness.engine import Row
from tests.soundness.tables import Catalog
from tests.unit.answer.test_answers import World

ROWS: list[Row] = [*((place, place % 3, place % 7, place % 5) for place in range(60)), (90, None, None, 1), (91, 1, 3, None)]
PARTNERS: list[Row] = [(place, place % 4, place % 5, place % 6) for place in range(30)] + [(40, None, 3, 3), (41, 2, None, None)]


def _world() -> World:
    # By their times alone steps on a busy machine would be left out.
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", ROWS)
    world.warehouse.commit("s", PARTNERS)
    return world


def _change(world: World, number: int) -> None:
    world.commit((100 + number, number % 3, number % 7, 4 + number), (200 + number, None, number, None))
    world.warehouse.commit("s", [*world.warehouse.rows("s")[1:], (50 + number, number % 4, 9, 6)])


def _follow(world: World, text: str) -> None:
    """Ask a query, which must be answered from groups from the second time on, before and after changes."""
    for number in range(4):
        world.checked(text)
        assert world.sketches.relations.background.settle(30)
        assert world.checked(text).served_by is ServedBy.STATE
        _change(world, number)


CONSTANT = [
    "SELECT g, count(*) AS n FROM r WHERE a > (SELECT avg(b) FROM s WHERE y > {}) GROUP BY g",
    "SELECT sum(x) AS s FROM r WHERE x < {} AND a >= (SELECT max(b) - 3 FROM s)",
    "SELECT g, sum(a) AS s FROM r WHERE a > (SELECT avg(a) FROM r WHERE x > {}) AND x <> (SELECT min(y) FROM s) "
    "GROUP BY g HAVING count(*) > 1",
    "SELECT r.g, count(*) AS n FROM r JOIN s ON r.g = s.k WHERE r.a > (SELECT count(*) / 20 FROM s WHERE b > {}) GROUP BY r.g",
    "SELECT g, count(*) AS n FROM r WHERE a > (SELECT max(b) FROM s WHERE y > (SELECT min(x) + {} FROM r)) GROUP BY g",
    "SELECT g, count(*) AS n FROM r WHERE a > (SELECT max(b) FROM s WHERE y > {} AND y < 0) OR x > 3 GROUP BY g",
    "SELECT max(n) AS m FROM (SELECT g, count(*) AS n FROM r WHERE a <= (SELECT avg(b) FROM s WHERE k = {}) GROUP BY g) q",
]


@pytest.mark.parametrize("text", CONSTANT)
def test_the_value_of_a_subquery_is_a_constant_like_others(text: str) -> None:
    world = _world()
    for number in range(8):
        world.checked(text.format(number % 3))
        _change(world, number)
        assert world.sketches.relations.background.settle(30)
    decisions = []
    for number in (0, 1, 2, 7):
        report = world.checked(text.format(number))
        assert report.served_by is ServedBy.STATE, report.not_answered
        decisions += [each.decision for each in (report, *report.also)]
        _change(world, 10 + number)
    assert Decision.CAPTURED not in decisions
    # What stands below the groups is followed, since no subquery is left there.
    assert Decision.RECAPTURED not in decisions


@pytest.mark.parametrize("condition", ["(SELECT max(x) FROM r) > {}", "{} < 4", "(SELECT min(b) FROM s WHERE y > 90) IS NULL AND {} < 4"])
def test_a_condition_may_read_no_column(condition: str) -> None:
    world = _world()
    text = "SELECT g, count(*) AS n FROM r WHERE " + condition + " GROUP BY g"
    assert world.checked("SELECT g, x, count(*) AS n FROM r GROUP BY g, x").served_by is ServedBy.STATE
    for number in (3, 4, 5, 6, 99, 3):
        assert world.checked(text.format(number)).served_by is ServedBy.STATE
        _change(world, number)


def test_a_subquery_that_is_no_known_constant_stays_inside() -> None:
    world = _world()
    # Any of several rows would be an error, so no groups may hide it.
    text = "SELECT g, count(*) AS n FROM r WHERE a > (SELECT approx_count_distinct(b) FROM s) - 4 GROUP BY g"
    report = world.checked(text)
    assert report.served_by is ServedBy.STATE
    assert [each.decision for each in (report, *report.also)] == [Decision.CAPTURED]


JOINED = [
    "SELECT sum(r.a) AS t FROM r WHERE x < (SELECT avg(y) FROM s WHERE s.k = r.g)",
    "SELECT g, count(*) AS n FROM r WHERE x > (SELECT count(*) FROM s WHERE s.k = r.a AND b > 3) GROUP BY g",
    "SELECT g, count(*) AS n FROM r WHERE x >= (SELECT coalesce(sum(b), 2) FROM s WHERE r.g = s.k AND s.y = r.x) GROUP BY g",
    "SELECT g, sum(a) AS t FROM r WHERE a * 2 > (SELECT 1 + min(b) FROM s WHERE s.k = r.g) AND x > {} GROUP BY g",
    "SELECT r.g, count(*) AS n FROM r JOIN s ON r.x = s.y WHERE r.a > (SELECT avg(q.a) FROM r q WHERE q.g = r.g) AND s.b > {} GROUP BY r.g",
]


@pytest.mark.parametrize("text", JOINED)
def test_a_subquery_that_reads_the_row_around_it_is_joined(text: str) -> None:
    world = _world()
    for number in range(3):
        world.checked(text.format(number))
        _change(world, number)
        assert world.sketches.relations.background.settle(30)
    for number in (1, 2, 0):
        report = world.checked(text.format(number))
        assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED), (report.not_answered, report.recapture_reason)
        _change(world, 10 + number)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, n FROM (SELECT g, count(*) AS n FROM r GROUP BY g) q WHERE n > (SELECT sum(b) / 4 FROM s WHERE s.k = q.g)",
        "SELECT g, sum(a) AS t FROM r GROUP BY g HAVING sum(a) > (SELECT count(*) FROM s WHERE s.k = g AND b > 3)",
        "SELECT id, a FROM r WHERE a > (SELECT avg(b) FROM s WHERE s.k = r.g) AND id < 40",
    ],
)
def test_a_subquery_beside_groups_or_rows_is_joined(text: str) -> None:
    world = _world()
    for _ in range(2):
        world.checked(text)
        assert world.sketches.relations.background.settle(30)
    _change(world, 1)
    assert world.checked(text).served_by is ServedBy.STATE


WITHOUT_FROM = [
    "SELECT (SELECT count(*) FROM r) AS n, (SELECT max(b) FROM s) AS m, (SELECT sum(a) FROM r) / (SELECT count(*) FROM r) AS per",
    "SELECT 'r' AS what, (SELECT count(*) FROM r WHERE x > 3) AS n UNION ALL SELECT 's', (SELECT count(*) FROM s)",
    "SELECT CASE WHEN (SELECT min(a) FROM r) > (SELECT max(y) FROM s) THEN 1 ELSE (SELECT count(*) FROM r WHERE a > 1000) END AS c",
    "SELECT (SELECT sum(a) FROM r WHERE a > (SELECT avg(b) FROM s)) AS n ORDER BY n LIMIT 1",
    "SELECT n + 1 AS m FROM (SELECT (SELECT count(*) FROM r) AS n) q WHERE n > 2",
    "SELECT (SELECT max(b) FROM s WHERE k = (SELECT max(k) FROM s)) AS m, (SELECT count(*) FROM s) AS n",
]


@pytest.mark.parametrize("text", WITHOUT_FROM)
def test_values_of_subqueries_alone(text: str) -> None:
    world = _world()
    _follow(world, text)


MEMBERSHIPS = [
    "SELECT v, sum(a) AS t FROM (SELECT CASE WHEN g IN (SELECT k FROM s WHERE b > 2) THEN 1 ELSE 0 END AS v, a FROM r) AS q GROUP BY v",
    "SELECT g, count_if(a > (SELECT avg(b) FROM s)) AS n, sum(CASE WHEN x IN (SELECT y FROM s) THEN a ELSE 0 END) AS t FROM r GROUP BY g",
    "SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.g)) AS n, max(a - (SELECT min(b) FROM s)) AS m FROM r",
    "SELECT g, 1 + sum(a * (SELECT count(*) FROM s WHERE s.k = r.g)) AS t FROM r GROUP BY g HAVING count(*) > 1 ORDER BY t, g",
    "SELECT g, count(*) AS n FROM r WHERE a > 3 OR g IN (SELECT k FROM s WHERE y > 1) GROUP BY g",
    "SELECT g, count(*) AS n FROM r WHERE (x > 2 OR g IN (SELECT k FROM s WHERE k > 1)) AND (a < 3 OR x IN (SELECT y FROM s)) GROUP BY g",
    "SELECT g, count(*) AS n FROM r WHERE NOT (x > 2 AND EXISTS (SELECT 1 FROM s WHERE s.k = r.g AND s.b > 1)) GROUP BY g",
    "SELECT g, if(g IN (SELECT k FROM s), 1, 0) AS f, CASE WHEN g IN (SELECT y FROM s WHERE b > 99) THEN 2 END AS e FROM r GROUP BY g",
    "SELECT x, EXISTS (SELECT 1 FROM s WHERE s.y = x) AS f FROM (SELECT x, count(*) AS n FROM r GROUP BY x) AS q",
    "SELECT count_if(g IN (SELECT k FROM s WHERE b < 4)) AS yes, count(*) FILTER (WHERE x IN (SELECT y FROM s) OR a > 3) AS n FROM r",
    "SELECT g, EXISTS (SELECT k FROM s GROUP BY k HAVING count(*) > 5) AS f, max(a) AS m FROM r GROUP BY g",
]


@pytest.mark.parametrize("text", MEMBERSHIPS)
def test_whether_a_row_is_in_a_subquery_is_a_value(text: str) -> None:
    world = _world()
    _follow(world, text)
    # Without any row of the other table, and with none that is NULL.
    for rows in ([], [(1, 1, 1, 3)], [(1, None, None, 3)]):
        world.warehouse.commit("s", list(rows))
        world.checked(text)


@pytest.mark.parametrize(
    "condition",
    [
        "a > 1 OR EXISTS (SELECT 1 FROM s WHERE s.k < r.g)",
        "a > 1 OR (g, x) IN (SELECT k, y FROM s)",
        "a > 1 OR g IN (SELECT k FROM s WHERE s.y = r.x)",
        "a > 1 OR g + 1 IN (SELECT k FROM s)",
        "NOT (a > 1 OR g IN (SELECT k FROM s))",
        "(g IN (SELECT k FROM s)) IS NULL",
        "(a > 1) = (g IN (SELECT k FROM s))",
        "CASE WHEN NOT g IN (SELECT k FROM s) THEN a > 1 ELSE FALSE END",
        "CASE g IN (SELECT k FROM s) WHEN FALSE THEN a > 1 END",
        "a > ANY (SELECT k FROM s)",
    ],
)
def test_memberships_that_stay_with_spark(condition: str) -> None:
    with pytest.raises(Refused) as refused:
        resolve(sqlglot.parse_one(f"SELECT g, count(*) AS n FROM r WHERE {condition} GROUP BY g", read="spark"), Catalog())
    assert refused.value.reason in (Reason.SUBQUERY, Reason.UNKNOWN_FUNCTION)


@pytest.mark.parametrize(
    "text", ["SELECT 1 + 1 AS n", "SELECT count(*) AS n, (SELECT count(*) FROM r) AS m", "SELECT (SELECT a FROM r) AS a"]
)
def test_a_query_that_reads_no_table_is_sparks(text: str) -> None:
    with pytest.raises(Refused) as refused:
        resolve(sqlglot.parse_one(text, read="spark"), Catalog())
    assert refused.value.reason is Reason.NO_AGGREGATION


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, n FROM (SELECT g, count(*) AS n FROM r GROUP BY g) q WHERE n > (SELECT sum(b + q.g) FROM s WHERE s.k = q.g)",
        "SELECT g, n FROM (SELECT g, count(*) AS n FROM r GROUP BY g) q WHERE n > (SELECT max(b) FROM s WHERE s.k = q.g GROUP BY s.k)",
    ],
)
def test_what_is_no_group_for_a_row_stays(text: str) -> None:
    world = _world()
    assert world.checked(text).served_by is not ServedBy.STATE


OVER_GROUPS = [
    "SELECT g, count(*) AS n FROM r WHERE g IN (SELECT k FROM s GROUP BY k HAVING sum(b) > {}) GROUP BY g",
    "SELECT count(*) AS n, sum(a) AS t FROM r WHERE x IN (SELECT y FROM s WHERE b < 5 GROUP BY y HAVING count(*) > 1 + {}) AND a > {}",
    "SELECT g, max(a) AS m FROM r WHERE (g, x) IN (SELECT k, y FROM s GROUP BY k, y HAVING min(b) <= {}) GROUP BY g",
    "SELECT g, sum(a) AS t FROM r WHERE id IN (SELECT id FROM r GROUP BY id HAVING sum(a) > {}) AND g IN "
    "(SELECT k FROM s GROUP BY k HAVING max(b) - min(y) > {}) GROUP BY g",
]


@pytest.mark.parametrize("text", OVER_GROUPS)
def test_constants_of_having_below_in_are_lifted(text: str) -> None:
    world = _world()
    for number in range(3):
        world.checked(text.replace("{}", str(number)))
        _change(world, number)
        assert world.sketches.relations.background.settle(30)
    for number in (3, 1, 0, 5):
        report = world.checked(text.replace("{}", str(number)))
        assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED), (report.not_answered, report.recapture_reason)
        _change(world, 10 + number)


@pytest.mark.parametrize(
    "text",
    [
        # A row has several groups where not all keys are compared.
        "SELECT g, count(*) AS n FROM r WHERE g IN (SELECT k FROM s GROUP BY k, y HAVING sum(b) > {}) GROUP BY g",
        "SELECT g, count(*) AS n FROM r WHERE g IN (SELECT k + 1 FROM s GROUP BY k HAVING sum(b) > {}) GROUP BY g",
        "SELECT g, count(*) AS n FROM r WHERE g NOT IN (SELECT k FROM s WHERE k > 0 GROUP BY k HAVING sum(b) > {}) GROUP BY g",
        "SELECT g, count(*) AS n FROM r WHERE g IN (SELECT sum(b) FROM s GROUP BY k HAVING sum(b) > {}) GROUP BY g",
    ],
)
def test_in_over_groups_of_which_a_row_may_have_several_stays(text: str) -> None:
    world = _world()
    for number in range(3):
        world.checked(text.format(number))
        _change(world, number)
        assert world.sketches.relations.background.settle(30)


def test_the_tables_of_a_subquery_must_be_readable_too() -> None:
    world = _world()
    world.session.hidden.add("s")
    _, report = world.ask(CONSTANT[0].format(1))
    assert report.not_answered is not None
    assert report.not_answered.reason is Reason.NOT_PERMITTED


def test_markers_of_the_caller_stand_beside_those_of_subqueries() -> None:
    world = _world()
    text = "SELECT g, count(*) AS n FROM r WHERE a > (SELECT max(b) - ? FROM s WHERE y > ?) AND x < ? GROUP BY g"
    named = "SELECT g, count(*) AS n FROM r WHERE a > (SELECT max(b) - :one FROM s WHERE y > :two) AND x < :three GROUP BY g"
    plain = text.replace("- ?", "- 3").replace("y > ?", "y > 1").replace("x < ?", "x < 5")
    expected = Counter(tuple(row.values()) for row in world.warehouse.query(plain).to_pylist())
    rows, report = world.ask(text, (3, 1, 5))
    assert (Counter(rows), report.served_by) == (expected, ServedBy.STATE)
    assert Counter(world.ask(named, {"one": 3, "two": 1, "three": 5})[0]) == expected
