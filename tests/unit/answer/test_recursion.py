"""Recursive queries through the whole driver, without a JVM: rows of a plain fixpoint after each commit, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

import pytest

from imp_driver.answer.recursion import recursions
from imp_driver.answer.recursion.program import Forms
from imp_driver.errors import NotSupportedError
from imp_driver.plan.nodes import Fixpoint
from imp_driver.plan.rule_forms import NoRule
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.option_kinds import RecursionPlace
from tests.soundness.engine import Row
from tests.unit.answer.keeping import Left
from tests.unit.answer.test_answers import World
from tests.unit.answer.viewing import Viewed

REACH = "WITH RECURSIVE p(a, b) AS (SELECT g, x FROM r UNION SELECT l.g, p.b FROM r l JOIN p ON l.x = p.a) "
QUERIES = {
    "reach": REACH + "SELECT a, b FROM p",
    "right": "WITH RECURSIVE p(a, b) AS (SELECT g, x FROM r UNION SELECT p.a, l.x FROM p JOIN r l ON l.g = p.b) SELECT a, b FROM p",
    "grouped": REACH + "SELECT a, count(*) AS n, max(b) AS m FROM p GROUP BY a HAVING count(*) > 1",
    "below an outer join": REACH + "SELECT r.id, q.n FROM r LEFT JOIN (SELECT a, count(*) AS n FROM p GROUP BY a) q ON q.a = r.g",
    "negated above": REACH + "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.b = r.g)",
    "read twice": REACH + "SELECT one.a, other.b FROM p one JOIN p other ON one.b = other.a",
    "hops": "WITH RECURSIVE p AS (SELECT g AS a, x AS b, 1 AS h FROM r "
    "UNION SELECT p.a, l.x, p.h + 1 FROM p JOIN r l ON l.g = p.b WHERE p.h < 4) "
    "SELECT a, b, min(h) AS m FROM p GROUP BY a, b",
    "from a constant": "WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT l.x FROM p JOIN r l ON l.g = p.a) SELECT a FROM p",
    "semi-join": "WITH RECURSIVE p(a) AS (SELECT g FROM r WHERE id = 1 UNION SELECT l.x FROM r l WHERE l.g IN (SELECT a FROM p)) "
    "SELECT a FROM p",
    "given joined": "WITH RECURSIVE p(a, b) AS (SELECT g, x FROM r "
    "UNION SELECT p.a, t.x FROM p JOIN r l ON l.g = p.b JOIN r t ON t.id > l.id AND t.g = l.x) "
    "SELECT a, b FROM p",
    "outer inside": "WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT l.x FROM p LEFT JOIN r l ON l.g = p.a) SELECT a FROM p",
    "negated given": "WITH RECURSIVE p(a) AS (SELECT g FROM r UNION SELECT l.x FROM p JOIN r l ON l.g = p.a "
    "WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = l.x)) SELECT a FROM p",
    "same generation": "WITH RECURSIVE p(a, b) AS (SELECT one.x, other.x FROM r one JOIN r other ON one.g = other.g "
    "UNION SELECT one.x, other.x FROM p JOIN r one ON one.g = p.a JOIN r other ON other.g = p.b) SELECT a, b FROM p",
    "texts": "WITH RECURSIVE p(a, b) AS (SELECT g, concat(CAST(g AS STRING), '.') FROM r WHERE id < 3 "
    "UNION SELECT l.x, concat(p.b, CAST(l.x AS STRING)) FROM p JOIN r l ON l.g = p.a WHERE length(p.b) < 5) SELECT a, b FROM p",
    "over another": "WITH RECURSIVE p(g) AS (SELECT g FROM r UNION SELECT x FROM r JOIN p ON p.g = r.g), "
    "q(g) AS (SELECT g FROM p WHERE g > 2 UNION SELECT p.g - 1 FROM q JOIN p ON p.g = q.g) SELECT g FROM q",
    "aggregate of another": "WITH RECURSIVE p(g) AS (SELECT g FROM r UNION SELECT x FROM r JOIN p ON p.g = r.g), "
    "q(g) AS (SELECT g FROM p WHERE g > 2 UNION SELECT q.g - 1 FROM q WHERE q.g > (SELECT min(g) FROM p)) SELECT g FROM q",
    "negation of another": "WITH RECURSIVE p(g) AS (SELECT g FROM r WHERE g < 2 UNION SELECT x FROM r JOIN p ON p.g = r.g WHERE x < 3), "
    "q(g) AS (SELECT 1 UNION SELECT q.g + 1 FROM q WHERE q.g < 9 AND NOT EXISTS (SELECT 1 FROM p WHERE p.g = q.g)) SELECT g FROM q",
    "distinct inside": "WITH RECURSIVE p(g) AS (SELECT g FROM r WHERE g = 1 "
    "UNION SELECT DISTINCT r.x FROM p JOIN r ON p.g = r.g) SELECT g FROM p",
    "union inside": "WITH RECURSIVE p(g) AS (SELECT g FROM r WHERE g = 1 "
    "UNION SELECT q.x FROM (SELECT r.x FROM p JOIN r ON p.g = r.g UNION SELECT 77) q) SELECT g FROM p",
    "windows in their order": REACH + "SELECT a, b, rank() OVER (PARTITION BY a ORDER BY b) AS k FROM p ORDER BY k, a, b",
    "scalar inside": "WITH RECURSIVE p(g) AS (SELECT g FROM r WHERE g = 1 "
    "UNION SELECT r.x FROM p JOIN r ON p.g = r.g WHERE r.x > (SELECT min(id) FROM r)) SELECT g FROM p",
    "from values": "WITH RECURSIVE p(a) AS (VALUES (1), (3) UNION SELECT l.x FROM p JOIN r l ON l.g = p.a "
    "JOIN (SELECT 4 AS m) w ON w.m >= l.x) SELECT a FROM p",
    "beside rows of no table": REACH + "SELECT p.a, w.t, q.k FROM p LEFT JOIN (VALUES (1, 'x'), (2, NULL)) AS w(k, t) ON w.k = p.b "
    "JOIN (SELECT 1 AS k UNION ALL SELECT 3) q ON q.k = p.a UNION ALL SELECT 7, 'y', NULL",
    "beside groups of them": REACH + "SELECT r.id, q.n FROM r JOIN (SELECT x, count(*) AS n FROM (SELECT x FROM r UNION ALL SELECT 2) "
    "GROUP BY x) q ON q.x = r.g WHERE EXISTS (SELECT 1 FROM p WHERE p.a = r.g)",
}
"""DuckDB computes these as well."""


def _changed(rows: list[Row], choice: random.Random) -> list[Row]:
    kept = [row for row in rows if choice.random() > 0.2]
    nodes = [None, 0, 1, 2, 3, 4]
    first = 1 + max((row[0] for row in rows if isinstance(row[0], int)), default=0)
    added: list[Row] = [(first + place, choice.choice(nodes), choice.choice(nodes), place) for place in range(choice.randrange(4))]
    # A row that is there twice stays when one of it is deleted.
    return [*kept, *added, *(choice.sample(kept, 1) if kept and choice.random() < 0.5 else [])]


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_of_another_engine_after_each_commit(name: str) -> None:
    world, choice = World(), random.Random(name)
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 1, 0), (4, 3, 4, 0), (5, None, 4, 0), (6, 4, None, 0)])
    for step in range(8):
        report = world.checked(QUERIES[name])
        assert report.served_by is ServedBy.STATE
        assert report.decision is (Decision.CAPTURED if step == 0 else report.decision)
        world.warehouse.commit("r", _changed(world.warehouse.rows("r"), choice))


NON_LINEAR = "WITH RECURSIVE p(a, b) AS (SELECT g, x FROM r UNION SELECT q.a, p.b FROM p q JOIN p ON q.b = p.a) SELECT a, b FROM p"
MUTUAL = (
    "WITH RECURSIVE odd(a, b) AS (SELECT g, x FROM r UNION SELECT e.a, r.x FROM even e JOIN r ON r.g = e.b), "
    "even(a, b) AS (SELECT o.a, r.x FROM odd o JOIN r ON r.g = o.b) SELECT a, b FROM even"
)
SEVERAL = (
    "WITH RECURSIVE p(a, b) AS (SELECT g, x FROM r WHERE id < 4 UNION SELECT k, y FROM s UNION SELECT l.g, p.b FROM r l "
    "JOIN p ON l.x = p.a UNION ALL SELECT p.a, t.y FROM p JOIN s t ON t.k = p.b UNION SELECT b, a FROM p WHERE a = b) SELECT a, b FROM p"
)

COUNTED = "WITH RECURSIVE p AS (SELECT g AS a, 1 AS h FROM r UNION SELECT l.x, p.h + 1 FROM p JOIN r l ON l.g = p.a) "


@pytest.mark.parametrize("text", [NON_LINEAR, MUTUAL, SEVERAL])
def test_what_no_other_engine_computes_is_what_rounds_from_nothing_give(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world, choice = World(), random.Random(text)
    plain = World()
    for _ in range(8):
        rows = _changed(world.warehouse.rows("r"), choice)
        for each in (world, plain):
            each.warehouse.commit("r", rows)
        found, _ = world.ask(text)
        with monkeypatch.context() as patch:
            patch.setattr(recursions, "_formed", _without_rules)
            patch.setattr(recursions, "_FORMS", {})
            expected, _ = plain.ask(text)
        assert Counter(found) == Counter(expected)


def _without_rules(plan: Fixpoint) -> tuple[Fixpoint, None, str]:
    return plan, None, ""


def test_rounds_are_what_is_left_where_a_step_has_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[str] = []

    def noted(plan: Fixpoint) -> None:
        refused.append(type(plan).__name__)
        raise NoRule

    monkeypatch.setattr(Forms, "of", noted)
    monkeypatch.setattr(recursions, "_FORMS", {})
    World().checked(QUERIES["outer inside"])
    assert refused


def test_a_cycle_ends_and_follows_its_deletion() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 1, 0), (3, 2, 3, 0)])
    assert Counter(world.ask(QUERIES["reach"])[0]) == Counter([(1, 2), (2, 1), (2, 3), (1, 1), (2, 2), (1, 3)])
    world.warehouse.commit("r", [(1, 1, 2, 0), (3, 2, 3, 0)])
    rows, report = world.ask(QUERIES["reach"])
    assert Counter(rows) == Counter([(1, 2), (2, 3), (1, 3)])
    assert report.decision is Decision.MAINTAINED


def test_values_of_markers_have_recursions_of_their_own() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 5, 6, 0)])
    text = "WITH RECURSIVE p(a) AS (SELECT x FROM r WHERE g = ? UNION SELECT l.x FROM p JOIN r l ON l.g = p.a) SELECT a FROM p"
    assert sorted(world.ask(text, (1,))[0]) == [(2,), (3,)]
    assert sorted(world.ask(text, (5,))[0]) == [(6,)]
    world.warehouse.commit("r", [(1, 1, 2, 0), (3, 5, 6, 0)])
    assert sorted(world.ask(text, (1,))[0]) == [(2,)]
    assert sorted(world.ask(text, (5,))[0]) == [(6,)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("WITH RECURSIVE p AS (SELECT g FROM r UNION SELECT max(g) FROM p) SELECT g FROM p", "inside an aggregate"),
        ("WITH RECURSIVE p(a) AS (SELECT a + 1 FROM p UNION SELECT a FROM p) SELECT a FROM p", "no branch that does not read it"),
        ("WITH RECURSIVE p(a) AS (SELECT CAST(g AS STRING) FROM r UNION SELECT sha2(a, 256) FROM p WHERE 1 = 0) SELECT a FROM p", "SHA2"),
        ("WITH RECURSIVE p AS (SELECT g FROM r UNION SELECT x FROM r WHERE x NOT IN (SELECT g FROM p)) SELECT g FROM p", "NOT"),
        (
            "WITH RECURSIVE p AS (SELECT g AS a, 1 AS h FROM r UNION SELECT l.x, p.h + 1 FROM p JOIN r l ON l.g = p.a) SELECT a FROM p",
            "rounds",
        ),
        ("WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT a + 1 FROM p) SELECT a FROM p", "2000 rounds"),
        (
            "WITH RECURSIVE p AS (SELECT g FROM r UNION SELECT CAST(g AS DOUBLE) FROM p) SELECT g FROM p",
            "g is INT where it begins and DOUBLE",
        ),
        (
            "WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT CAST(l.x AS BIGINT) FROM p LEFT JOIN r l ON l.g = p.a) SELECT a FROM p",
            "a is INT where it begins and BIGINT in another branch",
        ),
        (
            "WITH RECURSIVE p(h, a) AS (SELECT id, a + 1 FROM q UNION SELECT id, x FROM p JOIN r ON p.h = r.g), "
            "q(id, a) AS (SELECT id, g FROM r UNION SELECT id, CAST(a AS BIGINT) FROM q UNION SELECT h, a FROM p) SELECT a FROM q",
            "columns of different types: a is INT where it begins and BIGINT in another branch; CAST them there",
        ),
        ("WITH RECURSIVE p AS (SELECT g FROM r UNION SELECT l.x FROM r l LEFT JOIN p ON p.g = l.g) SELECT g FROM p", "outer join"),
    ],
)
def test_what_is_refused_says_why(text: str, told: str) -> None:
    world = World(recursion=RecursionPlace.PROCESS)
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 1, 0)])
    with pytest.raises(NotSupportedError, match=told):
        world.ask(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1", Reason.NO_AGGREGATION),
        ("SELECT g, sum(x) AS s FROM r JOIN (SELECT 1 AS k) q ON q.k = r.g GROUP BY g HAVING sum(x) > 1", Reason.NO_AGGREGATION),
        ("SELECT g, sum(x) AS s FROM r JOIN (VALUES (1), (2)) AS q(k) ON q.k = r.g GROUP BY g HAVING sum(x) > 1", Reason.TABLE_FUNCTION),
    ],
)
def test_rows_of_no_table_are_read_beside_recursions_alone(text: str, reason: Reason) -> None:
    report = World().checked(text)
    assert (report.served_by, report.reason) == (ServedBy.SPARK, reason)


def test_rows_of_no_table_beside_a_view() -> None:
    world = Viewed()
    world.view("v", QUERIES["reach"])
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0)])
    assert sorted(world.ask("SELECT v.b, q.t FROM v JOIN VALUES (1, 'x') AS q(k, t) ON q.k = v.a UNION ALL SELECT 9, 'y'")[0]) == [
        (2, "x"),
        (3, "x"),
        (9, "y"),
    ]


def test_without_a_table() -> None:
    rows, report = World().ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n ORDER BY i DESC")
    assert rows == [(5,), (4,), (3,), (2,), (1,)]
    assert report.served_by is ServedBy.STATE


def test_union_all_is_left_to_the_engine() -> None:
    rows, report = World().ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n")
    assert len(rows) == 5
    assert report.served_by is ServedBy.SPARK


def test_an_endless_recursion_is_none_for_the_next_commit() -> None:
    world = World()
    text = COUNTED + "SELECT a, h FROM p"
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 1, 0)])
    for _ in range(2):
        with pytest.raises(NotSupportedError):
            world.ask(text)
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0)])
    assert sorted(world.ask(text)[0]) == [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)]


PATHS = (
    "WITH RECURSIVE path(src, dst, vec, cost, hops) AS ("
    "SELECT g, x, concat(CAST(g AS STRING), '.', CAST(x AS STRING)), a, 1 FROM r "
    "UNION SELECT l.g, p.dst, concat(CAST(l.g AS STRING), '.', p.vec), l.a + p.cost, p.hops + 1 FROM r l, path p WHERE l.x = p.src), "
    "minCost AS (SELECT src, dst, min(cost) AS cost FROM path GROUP BY src, dst), "
    "minHops AS (SELECT src, dst, min(hops) AS hops FROM path GROUP BY src, dst), "
    "cheapest AS (SELECT p.src, p.dst, p.vec, p.cost FROM path p, minCost c WHERE p.src = c.src AND p.dst = c.dst AND p.cost = c.cost), "
    "fewest AS (SELECT p.src, p.dst, p.vec, p.hops FROM path p JOIN minHops h ON p.src = h.src AND p.dst = h.dst AND p.hops = h.hops), "
    "shortest AS (SELECT c.src, c.dst, c.vec AS one, c.cost, f.vec AS other, f.hops FROM cheapest c JOIN fewest f "
    "ON c.src = f.src AND c.dst = f.dst) "
)
OF_PATHS = {
    "least": "SELECT * FROM minCost",
    "two at once": "SELECT src, dst, min(cost) AS c, min(hops) AS h FROM path GROUP BY src, dst",
    "of fewer groups": "SELECT src, min(cost) AS c FROM path GROUP BY src",
    "of all": "SELECT min(hops) AS h FROM path WHERE dst = 3",
    "rows that have it": "SELECT * FROM cheapest",
    "rows of fewest hops": "SELECT * FROM fewest",
    "of both": "SELECT * FROM shortest",
    "joined": "SELECT r.id, min(p.cost) AS c FROM r JOIN path p ON p.src = r.g GROUP BY r.id",
    "first ones": "SELECT src, dst, cost, k "
    "FROM (SELECT src, dst, cost, dense_rank() OVER (PARTITION BY src, dst ORDER BY cost NULLS LAST) AS k FROM path) WHERE k <= 2",
}


def _all_paths(rows: list[Row], longest: int) -> list[tuple[int, int, str, int, int]]:
    """Every walk of so many links at most: more than any shortest one has."""
    links = [(g, x, a) for _, g, x, a in rows if g is not None and x is not None and a is not None]
    found = {(g, x, f"{g}.{x}", a, 1) for g, x, a in links}
    new = set(found)
    for _ in range(longest):
        new = {(g, dst, f"{g}.{vec}", a + cost, hops + 1) for g, x, a in links for src, dst, vec, cost, hops in new if x == src}
        found |= new
    return sorted(found)


@pytest.mark.parametrize("name", OF_PATHS)
def test_shortest_paths_of_a_graph_with_cycles(name: str) -> None:
    world, choice = World(), random.Random(name)
    links: list[Row] = [(1, 1, 2, 1), (2, 2, 1, 1), (3, 2, 3, 2), (4, 1, 3, 3), (5, 3, 1, 1)]
    for step in range(6):
        world.warehouse.commit("r", links)
        rows, report = world.ask(PATHS + OF_PATHS[name])
        assert report.served_by is ServedBy.STATE
        assert Counter(rows) == Counter(_over_all_paths(world, name, links)), (step, links)
        kept = [link for link in links if choice.random() > 0.25]
        links = [
            *kept,
            *((10 * step + place, choice.randint(1, 4), choice.randint(1, 4), choice.randint(1, 3)) for place in range(7 - len(kept))),
        ]


def _over_all_paths(world: World, name: str, links: list[Row]) -> list[tuple[object, ...]]:
    """Return what another engine makes of all walks that may be shortest ones."""
    values = ", ".join(map(str, _all_paths(links, 4))) or "(NULL, NULL, NULL, NULL, NULL)"
    path = f"path(src, dst, vec, cost, hops) AS (SELECT * FROM (VALUES {values}) WHERE col0 IS NOT NULL)"
    text = "WITH " + path + ", " + PATHS[PATHS.index("minCost AS") :] + OF_PATHS[name]
    return [tuple(row.values()) for row in world.warehouse.query(text).to_pylist()]


def test_all_paths_of_a_cycle_are_refused() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 1), (2, 2, 1, 1)])
    with pytest.raises(NotSupportedError, match="MIN or MAX"):
        world.ask(PATHS + "SELECT * FROM path")
    with pytest.raises(NotSupportedError, match="MIN or MAX"):
        world.ask(PATHS + "SELECT src, sum(cost) FROM path GROUP BY src")


def test_a_cycle_of_cost_zero_has_a_least_cost_and_endless_paths_of_it() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 1, 0), (3, 2, 3, 4)])
    assert sorted(world.ask(PATHS + "SELECT * FROM minCost WHERE dst = 3")[0]) == [(1, 3, 4), (2, 3, 4)]
    with pytest.raises(NotSupportedError):
        world.ask(PATHS + "SELECT * FROM cheapest")
    world.warehouse.commit("r", [(2, 2, 1, 0), (3, 2, 3, 4)])
    assert sorted(world.ask(PATHS + "SELECT * FROM minCost")[0]) == [(2, 1, 0), (2, 3, 4)]


def test_a_cast_of_a_cost_keeps_its_order() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 1), (2, 2, 1, 1), (3, 2, 3, 2)])
    text = (
        "WITH RECURSIVE p(s, d, c) AS (SELECT g, x, CAST(a AS DECIMAL(10, 2)) FROM r "
        "UNION SELECT l.g, p.d, CAST(l.a + p.c AS DECIMAL(10, 2)) FROM r l JOIN p ON l.x = p.s) "
        "SELECT s, d, min(c) AS c FROM p GROUP BY s, d"
    )
    assert sorted(map(repr, world.ask(text)[0])) == sorted(
        repr((s, d, Decimal(f"{c}.00"))) for s, d, c in [(1, 2, 1), (2, 1, 1), (2, 3, 2), (1, 3, 3), (1, 1, 2), (2, 2, 2)]
    )


def test_costs_below_zero_end_where_there_is_no_cycle_of_them() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 5), (2, 2, 3, -3), (3, 1, 3, 4)])
    assert sorted(world.ask(PATHS + "SELECT * FROM minCost")[0]) == [(1, 2, 5), (1, 3, 2), (2, 3, -3)]
    world.warehouse.commit("r", [(1, 1, 2, 5), (2, 2, 1, -6)])
    with pytest.raises(NotSupportedError, match="a better value follows from a worse one"):
        world.ask(PATHS + "SELECT * FROM minCost")


def test_the_widest_path_and_a_bound_of_the_cost() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 5), (2, 2, 3, 4), (3, 1, 3, 3), (4, 3, 1, 9)])
    widest = "WITH RECURSIVE p(s, d, w) AS (SELECT g, x, a FROM r UNION SELECT l.g, p.d, least(l.a, p.w) FROM r l JOIN p ON l.x = p.s) "
    assert (1, 3, 4) in world.ask(widest + "SELECT s, d, max(w) AS w FROM p GROUP BY s, d")[0]
    bounded = (
        "WITH RECURSIVE p(s, d, c) AS (SELECT g, x, a FROM r "
        "UNION SELECT l.g, p.d, l.a + p.c FROM r l JOIN p ON l.x = p.s WHERE l.a + p.c < 9) "
    )
    assert sorted(world.ask(bounded + "SELECT s, d, min(c) AS c FROM p GROUP BY s, d")[0]) == [(1, 2, 5), (1, 3, 3), (2, 3, 4), (3, 1, 9)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (QUERIES["reach"], ("recursion (a, b) by 2 rules, in levels", None)),
        (
            PATHS + "SELECT * FROM minCost",
            ("recursion (src, dst, vec, cost, hops) by 2 rules, in levels, rows of the least cost for each src, dst", None),
        ),
        (QUERIES["outer inside"], ("recursion (a), round by round", "a step has no rule: Join")),
    ],
)
def test_explained(text: str, told: tuple[str, str | None]) -> None:
    world = World()
    rows, _ = world.ask(f"EXPLAIN INCREMENTAL {text}")
    assert [(row[1], row[4]) for row in rows if str(row[1]).startswith("recursion")] == [told]
    lines = [row[0] for row in world.ask(f"EXPLAIN SKETCH {text}")[0]]
    assert "RECURSION" in "".join(map(str, lines))


def test_recursions_that_are_kept_are_bounded_by_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recursions, "MOST_TOGETHER", 20)
    world = World()
    world.warehouse.commit("r", [(place, place, place + 1, 0) for place in range(5)])
    kept = world.sketches.relations.recursions
    for bound in range(4):
        world.ask(REACH + f"SELECT a FROM p WHERE a > {bound}")
        world.ask(f"WITH RECURSIVE q(a) AS (SELECT g FROM r WHERE g > {bound} UNION SELECT r.x FROM r JOIN q ON q.a = r.g) SELECT a FROM q")
    # 15 rows, and five or fewer for each of the others.
    assert 1 <= len(kept) <= 3


WAYS = (
    "WITH RECURSIVE p(src, dst, cost, tag) AS (SELECT g, x, a, a FROM r "
    "UNION SELECT p.src, l.x, {}, p.tag FROM p JOIN r l ON p.dst = l.g{}) "
)
HAVE = (
    "SELECT p.* FROM p JOIN (SELECT src, dst, {}(cost) AS m FROM p GROUP BY src, dst) q ON p.src = q.src AND p.dst = q.dst AND p.cost = q.m"
)
RANKED = "SELECT src, dst, cost, tag FROM (SELECT *, {} OVER (PARTITION BY src, dst ORDER BY cost{}) AS k FROM p) WHERE k <= {}"
NOT_ENOUGH: dict[str, tuple[str, list[Row]]] = {
    "ties by greatest": (WAYS.format("greatest(p.cost, l.a)", "") + HAVE.format("min"), [(1, 2, 1), (1, 2, 2), (2, 3, 4)]),
    "ties by least": (WAYS.format("least(p.cost, l.a)", "") + HAVE.format("max"), [(1, 2, 10), (1, 2, 8), (2, 3, 4)]),
    "ties without the measure": (WAYS.format("l.a", "") + HAVE.format("min"), [(1, 2, 1), (1, 2, 2), (2, 3, 4)]),
    "ties of ranks": (
        WAYS.format("greatest(p.cost, l.a)", "") + RANKED.format("dense_rank()", " NULLS LAST", 2),
        [(1, 2, 1), (1, 2, 2), (1, 2, 3), (1, 2, 6), (2, 3, 4)],
    ),
    "ties by NULL": (WAYS.format("p.cost + l.a", "") + RANKED.format("rank()", " NULLS LAST", 1), [(1, 2, 1), (1, 2, 2), (2, 3, None)]),
    "NULL left away by greatest": (
        WAYS.format("greatest(p.cost, l.a)", "") + "SELECT src, dst, min(cost) FROM p GROUP BY src, dst",
        [(1, 2, 10), (1, 2, None), (2, 3, 5)],
    ),
    "NULL left away by least": (
        WAYS.format("least(p.cost, l.a)", "") + "SELECT src, dst, max(cost) FROM p GROUP BY src, dst",
        [(1, 2, 5), (1, 2, None), (2, 3, 7)],
    ),
    "NULL first": (
        WAYS.format("p.cost + l.a", " WHERE p.cost + l.a < 100") + RANKED.format("rank()", " NULLS FIRST", 1),
        [(1, 2, 10), (1, 2, None), (2, 3, 5)],
    ),
    "a bound over greatest": (
        WAYS.format("p.cost + l.a", " WHERE greatest(p.cost, l.a) < 8") + "SELECT src, dst, min(cost) FROM p GROUP BY src, dst",
        [(1, 2, 10), (1, 2, None), (2, 3, 5)],
    ),
    "other windows": (
        WAYS.format("p.cost + l.a", "")
        + "SELECT src, dst, cost, n FROM (SELECT *, rank() OVER (PARTITION BY src, dst ORDER BY cost) AS k, "
        "count(*) OVER (PARTITION BY src, dst) AS n FROM p) WHERE k = 1",
        [(1, 2, 1), (1, 2, 2), (1, 2, 6), (2, 3, 4)],
    ),
    "rounding": (
        "WITH RECURSIVE p(src, dst, cost, tag) AS (SELECT g, x, CAST(a AS DOUBLE), a FROM r "
        "UNION SELECT p.src, l.x, p.cost + l.a * CAST(1e17 AS DOUBLE), p.tag FROM p JOIN r l ON p.dst = l.g) " + HAVE.format("min"),
        [(1, 2, 1), (1, 2, 2), (2, 3, 1)],
    ),
    "a text": (
        "WITH RECURSIVE p(u, v, t) AS (SELECT g, x, CAST(a AS STRING) FROM r UNION SELECT p.u, l.x, p.t FROM p JOIN r l ON p.v = l.g) "
        "SELECT u, max(t) FROM p GROUP BY u",
        [(1, 2, 10), (1, 2, 9), (2, 3, 5)],
    ),
}


@pytest.mark.parametrize("name", NOT_ENOUGH)
def test_all_rows_are_followed_where_the_best_are_not_enough(name: str) -> None:
    text, links = NOT_ENOUGH[name]
    world = World(recursion=RecursionPlace.PROCESS)
    world.warehouse.commit("r", [(place, *link) for place, link in enumerate(links)])
    rows, report = world.ask(text)
    assert report.served_by is ServedBy.STATE
    assert Counter(rows) == Counter(tuple(row.values()) for row in world.warehouse.query(text).to_pylist())


def test_tables_of_which_no_column_is_read() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0)])
    for rest in ("SELECT p.a FROM p JOIN s ON true", "SELECT count(*) FROM p, s", "SELECT a FROM p WHERE EXISTS (SELECT 1 FROM s)"):
        assert world.checked(REACH + rest).served_by is ServedBy.STATE
    counted = "WITH RECURSIVE p(i) AS (SELECT 1 FROM r UNION SELECT i + 1 FROM p WHERE i < 3) SELECT i FROM p"
    assert sorted(world.ask(counted)[0]) == [(1,), (2,), (3,)]


def test_a_name_within_a_query_hides_a_recursion_there_alone() -> None:
    world = World()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 4, 0)])
    inner = "l.g IN (WITH p AS (SELECT 1 AS a) SELECT a FROM p)"
    hidden = (
        f"WITH RECURSIVE p(a) AS (SELECT g FROM r WHERE g = 1 UNION SELECT l.x FROM p JOIN r l ON l.g = p.a WHERE {inner}) SELECT a FROM p"
    )
    assert sorted(world.ask(hidden)[0]) == [(1,), (2,)]


@pytest.mark.parametrize("name", NOT_ENOUGH)
def test_the_engine_follows_all_rows_there_too(name: str) -> None:
    text, links = NOT_ENOUGH[name]
    world = Left()
    world.warehouse.commit("r", [(place, *link) for place, link in enumerate(links)])
    rows, report = world.ask(text)
    assert report.served_by is ServedBy.SPARK_BY_ROUNDS
    assert Counter(rows) == Counter(tuple(row.values()) for row in world.warehouse.query(text).to_pylist())
