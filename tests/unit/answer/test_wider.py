"""Groups over more tables serve queries that read fewer of them, as long as the data prove that these joins drop and multiply nothing."""

from __future__ import annotations

import pytest

from imp_driver.answer.wider import WIDER
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.report import SketchReport
from tests.unit.answer.test_answers import World

WIDE = "SELECT r.g, s.y, count(*) AS n, sum(r.a) AS t FROM r JOIN s ON r.x = s.id GROUP BY r.g, s.y"
NARROW = "SELECT g, count(*) AS n, sum(a) AS t FROM r GROUP BY g"


def _world() -> World:
    """Return a warehouse whose table r has one partner in s for each row, by the column x."""
    world = World()
    world.warehouse.commit("r", [(1, 0, 5, 1), (2, 0, 6, 2), (3, 1, 5, 3), (4, 1, 6, None), (5, None, 7, 4)])
    world.warehouse.commit("s", [(5, 0, 1, 1), (6, 0, 2, 1), (7, 1, 1, 1), (8, 1, 1, 1)])
    return world


def _asked(world: World, *texts: str) -> list[SketchReport]:
    """Ask each text, and let what is asked for in the background be done."""
    reports = []
    for text in texts:
        reports.append(world.checked(text))
        assert world.sketches.relations.background.settle(30)
    return reports


def _is_wide(report: SketchReport) -> bool:
    return report.served_by is ServedBy.STATE and report.detail.startswith(WIDER)


def test_a_query_of_the_large_table_alone_is_answered_from_groups_of_its_join() -> None:
    world = _world()
    first, second, third = _asked(world, WIDE, "SELECT sum(a), count(*) FROM r", NARROW)
    # The second finds that nobody has looked whether s.id is unique.
    assert [first.decision, second.decision] == [Decision.CAPTURED, Decision.CAPTURED]
    assert not _is_wide(second)
    assert _is_wide(third)
    assert third.decision is Decision.FRESH


@pytest.fixture
def world() -> World:
    """A warehouse with groups of the join, in which columns are known to be unique."""
    world = _world()
    _asked(world, WIDE, "SELECT max(g) FROM r")
    return world


TEXTS = [
    NARROW,
    "SELECT count(*), sum(a) FROM r",
    "SELECT sum(a), min(g) FROM r WHERE g > 0 OR g IS NULL",
    "SELECT DISTINCT g FROM r",
    "SELECT g, count(*) AS n FROM r LEFT JOIN s ON r.x = s.id GROUP BY g",
    "SELECT g, s.y, count(*) AS n FROM r LEFT JOIN s ON s.id = r.x GROUP BY g, s.y",
]


@pytest.mark.parametrize("text", TEXTS)
def test_any_aggregate_of_its_columns_follows(world: World, text: str) -> None:
    (report,) = _asked(world, text)
    assert _is_wide(report), report
    world.commit((6, 1, 8, 10))
    assert _asked(world, text)[0].decision is Decision.MAINTAINED


def test_a_row_without_a_partner_ends_it(world: World) -> None:
    assert _is_wide(*_asked(world, NARROW))
    world.commit((6, 1, 99, 10))
    assert not _is_wide(*_asked(world, NARROW))


def test_none_of_several_states_has_one_row_for_each(world: World) -> None:
    _asked(world, "SELECT r.g, r.a, s.k, count(*) AS n FROM r JOIN s ON s.id = r.x GROUP BY r.g, r.a, s.k")
    world.commit((6, 1, 99, 10))
    report = _asked(world, "SELECT g, count(*) AS n FROM r GROUP BY g")[0]
    assert (report.served_by, report.reason) == (ServedBy.STATE, Reason.ANSWERED)


def test_null_has_no_partner(world: World) -> None:
    world.commit((6, 1, None, 10))
    assert not _is_wide(*_asked(world, NARROW))


def test_one_that_gets_its_partner_is_no_longer_without(world: World) -> None:
    world.commit((6, 1, 99, 10))
    assert not _is_wide(*_asked(world, "SELECT count(a) FROM r"))
    world.warehouse.commit("s", [*world.warehouse.rows("s"), (99, 1, 1, 1)])
    _asked(world, "SELECT sum(a) FROM r")
    assert _is_wide(*_asked(world, NARROW))


def test_a_key_that_comes_twice_ends_it_also_where_a_lost_row_makes_up_for_it(world: World) -> None:
    world.warehouse.commit("s", [(5, 0, 1, 1), (6, 0, 2, 1), (7, 1, 1, 1), (7, 1, 1, 1), (8, 1, 1, 1)])
    world.commit((6, 1, 99, 10))
    for text in ("SELECT count(a) FROM r", "SELECT count(a), max(g) FROM r", "SELECT g, sum(a) FROM r GROUP BY g"):
        assert not _is_wide(*_asked(world, text))


OTHERS = {
    "a column that the groups have not": "SELECT x, count(*) AS n FROM r GROUP BY x",
    "the small table": "SELECT count(*) FROM s",
    "another join": "SELECT g, count(*) AS n FROM r JOIN s ON r.g = s.id GROUP BY g",
    "a join of all": "SELECT r.g, count(*) AS n FROM r, s GROUP BY r.g",
    "an outer join by more": "SELECT g, s.y, count(*) AS n FROM r LEFT JOIN s ON r.x = s.id AND s.y > 1 GROUP BY g, s.y",
    "itself": "SELECT r.g, count(*) AS n FROM r JOIN r AS o ON r.x = o.id GROUP BY r.g",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_does_not_follow_is_not_taken(world: World, name: str) -> None:
    assert not _is_wide(*_asked(world, OTHERS[name]))


WIDE_SOURCES = {
    "outer": "r LEFT JOIN s ON r.x = s.id",
    "conditions": "r JOIN s ON r.x = s.id AND s.y < 9 WHERE r.id > 0",
}


@pytest.mark.parametrize("name", WIDE_SOURCES)
def test_conditions_and_outer_joins_of_the_groups(name: str) -> None:
    world = _world()
    wide = f"SELECT r.g, s.y, count(*) AS n, sum(r.a) AS t FROM {WIDE_SOURCES[name]} GROUP BY r.g, s.y"
    _asked(world, wide, "SELECT max(g) FROM r")
    assert _is_wide(*_asked(world, NARROW))
    # An outer join may be without a partner, and then says nothing of the inner one.
    inner = "SELECT r.g, s.y, count(*) AS n FROM r JOIN s ON r.x = s.id GROUP BY r.g, s.y"
    assert not _is_wide(*_asked(world, inner)) or name == "conditions"


def test_groups_of_an_outer_join_without_partners() -> None:
    world = _world()
    world.commit((6, 1, 99, 10))
    _asked(world, WIDE.replace("JOIN", "LEFT JOIN"), "SELECT max(g) FROM r")
    assert _is_wide(*_asked(world, NARROW))
    assert not _is_wide(*_asked(world, WIDE))


def test_who_may_not_read_the_other_table_is_answered_otherwise(world: World) -> None:
    world.session.hidden.add("s")
    assert not _is_wide(*_asked(world, NARROW))


def test_explain_names_the_other_tables(world: World) -> None:
    lines = [str(row[-1]) for row in world.ask(f"EXPLAIN SKETCH {NARROW}")[0]]
    assert any("held as" in line and line.endswith(", over s too") for line in lines), lines
