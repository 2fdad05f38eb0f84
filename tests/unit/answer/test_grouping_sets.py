"""GROUPING SETS, ROLLUP and CUBE are answered from the groups by all keys."""

from __future__ import annotations

import pytest

from imp_driver.parse.statement import parse
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.snapshot.text import known_text
from imp_driver.values.option_kinds import Policy
from imp_driver.values.refusal import Refused
from tests.soundness.engine import Row
from tests.soundness.tables import Catalog
from tests.unit.answer.test_answers import World

ROWS: list[Row] = [*((place, place % 3, place % 7, place % 5) for place in range(60)), (90, None, None, 1), (91, 1, None, None)]


def _world() -> World:
    # By their times alone steps on a busy machine would be left out.
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", ROWS)
    return world


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, x, sum(a) AS s, count(*) AS n FROM r GROUP BY ROLLUP (g, x)",
        "SELECT g, x, avg(a) AS m, grouping(g) + grouping(x) AS d FROM r GROUP BY CUBE (g, x)",
        "SELECT x, g, min(a) AS m, grouping_id(x, g) AS i FROM r GROUP BY GROUPING SETS ((x, g), (g), ())",
        "SELECT g, x, sum(a + g) AS s FROM r GROUP BY g, ROLLUP (x)",
        "SELECT g, x, id, sum(a) AS s FROM r GROUP BY ROLLUP (g, (x, id))",
        "SELECT g + 1 AS h, x, sum(g) AS s FROM r WHERE a > 0 GROUP BY ROLLUP (g + 1, x)",
        "SELECT g, x, count(DISTINCT a) AS n FROM r GROUP BY CUBE (g, x) HAVING count(*) > 3 AND grouping(g) = 0",
        "SELECT g, x, sum(a) AS s FROM r GROUP BY ROLLUP (1, 2) ORDER BY g NULLS LAST, x NULLS FIRST, s LIMIT 7",
        "SELECT g, max(s) AS most FROM (SELECT g, x, sum(a) AS s FROM r GROUP BY ROLLUP (g, x)) q WHERE x IS NULL GROUP BY g",
        "SELECT q.g, q.s, p.n FROM (SELECT g, sum(a) AS s FROM r GROUP BY ROLLUP (g)) q JOIN (SELECT g, count(*) AS n FROM r GROUP BY g) p "
        "ON q.g = p.g",
    ],
)
def test_all_sets_follow_from_the_finest_groups(text: str) -> None:
    world = _world()
    first = world.checked(text)
    assert first.served_by is ServedBy.STATE
    # The first part is the finest: all others follow from what was captured for it.
    assert [each.decision for each in (first, *first.also)].count(Decision.CAPTURED) == 1
    for number in range(3):
        world.commit((100 + number, number, 20 + number, 7), (200 + number, None, number, None))
        report = world.checked(text)
        assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.MAINTAINED)


def test_sets_without_a_finest_one_have_states_of_their_own() -> None:
    world = _world()
    text = "SELECT g, x, sum(a) AS s FROM r GROUP BY GROUPING SETS ((g), (x), (g))"
    assert world.checked(text).decision is Decision.CAPTURED
    world.commit((100, 1, 2, 3))
    assert world.checked(text).decision is Decision.MAINTAINED


def test_no_rows_have_no_groups_as_in_spark() -> None:
    world = _world()
    text = "SELECT g, sum(a) AS s, count(*) AS n FROM r GROUP BY ROLLUP (g)"
    assert len(world.ask(text)[0]) == 5
    world.warehouse.commit("r", [])
    rows, report = world.ask(text)
    assert (rows, report.served_by) == ([], ServedBy.STATE)


def test_other_constants_of_rows_are_lifted_for_all_sets() -> None:
    world = _world()
    text = "SELECT g, x, sum(a) AS s FROM r WHERE id < {} GROUP BY ROLLUP (g, x)"
    for number in (10, 20):
        world.checked(text.format(number))
    assert world.sketches.relations.background.settle(30)
    assert world.checked(text.format(30)).decision is Decision.FRESH


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT g, x, sum(a) FROM r GROUP BY CUBE (g, x, a, id, g + 1, x + 1, a + 1)", Reason.GROUPING_SETS),
        ("SELECT g, grouping(x) FROM r GROUP BY ROLLUP (g)", Reason.GROUPING_SETS),
        ("SELECT g, grouping_id(g) FROM r GROUP BY ROLLUP (g, x)", Reason.GROUPING_SETS),
        ("SELECT g, grouping(g) FROM r GROUP BY g", Reason.GROUPING_SETS),
        ("SELECT g, x FROM r GROUP BY (g, x), ROLLUP (a)", Reason.GROUPING_SETS),
        ("SELECT g, x, a FROM r GROUP BY ROLLUP (g, x)", Reason.UNSUPPORTED_EXPRESSION),
        ("SELECT count(*) FROM r GROUP BY GROUPING SETS (())", Reason.GROUPING_SETS),
        ("SELECT 'c', g, count(*) FROM r GROUP BY ROLLUP ('c', g)", Reason.GROUPING_SETS),
        ("SELECT 1 AS one, count(*) FROM r GROUP BY ROLLUP (1)", Reason.GROUPING_SETS),
    ],
)
def test_what_has_no_rule_is_refused(text: str, reason: Reason) -> None:
    known = known_text(parse(text), Catalog(), {})
    with pytest.raises(Refused) as refused:
        known.grouped()
    assert refused.value.reason is reason


@pytest.mark.parametrize("sets", ["GROUP BY g, x WITH ROLLUP", "GROUP BY CUBE (g, x)", "GROUP BY g, x GROUPING SETS ((g, x), (g))"])
def test_groups_by_several_sets_are_never_cut(sets: str) -> None:
    known = known_text(parse(f"SELECT g, x, sum(a) FROM r {sets} HAVING sum(a) > 3"), Catalog(), {})
    assert known.grouped().parts
    with pytest.raises(Refused) as refused:
        known.cut()
    assert refused.value.reason is Reason.GROUPING_SETS
