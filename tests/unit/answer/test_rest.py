"""What stands above groups and only Spark computes: it gets the groups in the place of their tables."""

from __future__ import annotations

from collections import Counter

import pytest

from imp_driver.answer import answers, join, rest, states
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.refusal import Refused
from tests.soundness.engine import Row
from tests.unit.answer.test_answers import World

ROWS: list[Row] = [*((place, place % 4, place % 7, place % 5) for place in range(60)), (90, None, None, 1), (91, 1, 3, None)]
OTHERS: list[Row] = [(0, 0, 1, 10), (1, 1, 2, 20), (2, 1, 2, 30), (3, None, 4, 40)]


def _world(**options: object) -> World:
    world = World(**options)
    world.warehouse.commit("r", ROWS)
    world.warehouse.commit("s", OTHERS)
    return world


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, sum(a) AS s, sum(sum(a)) OVER (ORDER BY g RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS near FROM r GROUP BY g",
        "SELECT g, md5(CAST(sum(a) AS STRING)) AS digest FROM r GROUP BY g ORDER BY digest DESC, g LIMIT 3",
        "SELECT q.g, q.n, s.b FROM (SELECT g, count(*) AS n FROM r GROUP BY g) q JOIN s ON s.k = q.g WHERE s.b > 10",
        "SELECT s.k, s.b, q.n FROM s LEFT JOIN (SELECT g, count(*) AS n FROM r GROUP BY g HAVING count(*) > 2) q ON s.k = q.g "
        "ORDER BY s.b, s.k",
        "SELECT s.id FROM s WHERE s.k IN (SELECT g FROM r GROUP BY g HAVING count(*) > 14)",
        "SELECT s.id, s.b FROM s WHERE s.b > (SELECT avg(a) FROM r WHERE x > 1)",
        "WITH q AS (SELECT g, sum(a) AS s FROM r GROUP BY g) SELECT u.g, md5(CAST(v.s AS STRING)) AS m FROM q u JOIN q v ON u.g = v.g",
    ],
)
def test_spark_gets_the_groups_in_the_place_of_their_tables(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of these tiny tables most of what is read may stand beside the groups.
    monkeypatch.setattr(rest, "MOST_BESIDE", 0.9)
    monkeypatch.setattr(states, "why_too_many", lambda *_: "their rows are not kept")
    world = _world()
    for number in range(3):
        rows, report = world.ask(text)
        assert report.served_by is ServedBy.STATE_AND_SPARK
        assert report.decision is (Decision.CAPTURED, Decision.MAINTAINED, Decision.MAINTAINED)[number]
        assert "__imp_groups_" in report.executed_sql
        expected = [tuple(row.values()) for row in world.warehouse.query(text).to_pylist()]
        assert Counter(rows) == Counter(expected)
        if "ORDER BY digest" in text or "ORDER BY s.b" in text:
            assert rows == expected
        world.commit((100 + number, number % 4, number, 9), (200 + number, None, number, None))
        world.warehouse.commit("s", [*world.warehouse.rows("s"), (10 + number, number, number, 15)])


def test_tables_beside_the_groups_are_read_at_their_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "MOST_BESIDE", 0.9)
    report = _world().ask("SELECT q.n, s.b FROM (SELECT g, count(*) AS n FROM r GROUP BY g) q JOIN s ON s.k = q.g")[1]
    assert "s VERSION AS OF 1" in report.executed_sql.replace("`", "")
    assert " r VERSION" not in report.executed_sql.replace("`", "")


def test_most_of_the_bytes_beside_the_groups_are_not_worth_it() -> None:
    world = _world()
    report = world.ask("SELECT r.id, q.n FROM r JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) q ON q.k = r.g")[1]
    assert report.not_answered is not None
    assert (report.served_by, report.not_answered.reason) == (ServedBy.SPARK, Reason.ROWS_WITHOUT_GROUPS)


def test_shadow_mode_leaves_what_may_tie_to_spark_alone() -> None:
    world = _world(sketch=SketchMode.SHADOW)
    report = world.ask("SELECT g, row_number() OVER (ORDER BY count(*)) AS n FROM r GROUP BY g")[1]
    assert report.not_answered is not None
    assert (report.served_by, "may tie" in report.not_answered.detail) == (ServedBy.SPARK, True)
    assert world.ask("SELECT g, md5(CAST(sum(a) AS STRING)) AS m FROM r GROUP BY g")[1].served_by is ServedBy.STATE_AND_SPARK


def test_many_groups_are_not_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "MOST_BYTES", 10)
    report = _world().ask("SELECT g, md5(CAST(sum(a) AS STRING)) AS m FROM r GROUP BY g")[1]
    assert report.not_answered is not None
    assert (report.served_by, "too many to hand over" in report.not_answered.detail) == (ServedBy.SPARK, True)


def test_what_takes_as_long_as_the_query_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "CHEAP", 0.0)
    monkeypatch.setattr(rest, "DEAR", 0.0)
    world = _world()
    text = "SELECT g, md5(CAST(sum(a) AS STRING)) AS m FROM r GROUP BY g"
    served = [world.ask(text)[1].served_by for _ in range(4)]
    assert served == [ServedBy.STATE_AND_SPARK] * 3 + [ServedBy.SPARK]


GROUPS = "(SELECT g, sum(CAST(a AS DOUBLE)) AS s FROM r GROUP BY g)"


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("md5(CAST(g AS STRING)) AS m, s, s * 2 + 1 AS t, -s AS u", ServedBy.STATE_AND_SPARK),
        ("md5(CAST(g AS STRING)) AS m, CAST(s AS STRING) AS t", ServedBy.SPARK),
        ("md5(CAST(g AS STRING)) AS m, round(s) AS t", ServedBy.SPARK),
        ("md5(CAST(g AS STRING)) AS m, CASE WHEN s > 1 THEN 1 END AS t", ServedBy.SPARK),
        ("md5(CAST(g AS STRING)) AS m, rank() OVER (ORDER BY s) AS t", ServedBy.SPARK),
    ],
)
def test_sums_of_doubles_are_handed_over_where_nothing_depends_on_their_last_digits(items: str, expected: ServedBy) -> None:
    assert _world().ask(f"SELECT {items} FROM {GROUPS} q")[1].served_by is expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT u.g, s, n FROM u, v WHERE u.g = v.g ORDER BY u.g",
        "SELECT u.g, s, n FROM u, v WHERE v.g = u.g AND s = (SELECT max(s) FROM u) ORDER BY u.g",
        "SELECT u.g, s, v.n, w.x FROM u, v, w WHERE u.g = v.g AND w.g = u.g AND w.x >= (SELECT min(x) FROM w) AND s < 90 ORDER BY u.g",
        "SELECT u.g, s, n FROM u JOIN v ON u.g = v.g AND s > n ORDER BY u.g",
    ],
)
def test_equalities_above_joins_of_groups_pair_their_rows(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "MOST_PAIRS", 10)
    world = _world()
    groups = {"u": "sum(a) AS s", "v": "count(*) AS n", "w": "max(x) AS x"}
    text = f"WITH {', '.join(f'{name} AS (SELECT g, {value} FROM r GROUP BY g)' for name, value in groups.items())} {text}"
    for number in range(2):
        assert world.checked(text).served_by is ServedBy.STATE
        world.commit((100 + number, number, number, 9))
    assert len(world.ask(text)[0]) > 0


def test_what_is_always_left_to_spark_in_the_end_is_tried_ever_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def refuse(*_: object, why: str, **__: object) -> None:
        tries.append(why)
        raise Refused(Reason.LEFT_TO_SPARK, "too many groups to hand over")

    monkeypatch.setattr(answers, "check_left", refuse)
    world = _world()
    reports = [world.checked("SELECT g, md5(CAST(sum(a) AS STRING)) AS digest FROM r GROUP BY g") for _ in range(25)]
    assert {report.not_answered.reason for report in reports if report.not_answered} == {Reason.LEFT_TO_SPARK}
    assert {report.served_by for report in reports} == {ServedBy.SPARK}
    assert len(tries) == 5
