"""Correlated nested aggregates: merged from finer groups, at each commit those of a plain query, whatever the tables hold."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from imp_driver.answer.nested import followed
from imp_driver.answer.nested.described import Described, Describer
from imp_driver.answer.nested.merged import merged
from imp_driver.answer.nested.partial import Partials
from imp_driver.plan.nodes import Merge
from imp_driver.reasons import ServedBy
from imp_driver.values.option_kinds import Policy
from tests.soundness.engine import Row
from tests.unit.answer.test_answers import World

TOTAL = "(SELECT sum(a) FROM r)"
ABOVE = "(SELECT sum(q.a) FROM r q WHERE q.x <= r.x)"
BELOW_EACH = "(SELECT p.x, p.a, (SELECT sum(u.a) FROM r u WHERE u.x <= p.x) AS below FROM r p)"
FORMS = {
    "VWAP": f"SELECT sum(r.x * r.a) AS v FROM r WHERE 0.75 * {TOTAL} < {ABOVE}",
    "VWAP, other side": f"SELECT sum(r.x * r.a) AS v FROM r WHERE 0.25 * {TOTAL} >= (SELECT sum(q.a) FROM r q WHERE r.x < q.x)",
    "equality": f"SELECT sum(r.x * r.a) AS v FROM r WHERE 0.2 * {TOTAL} <= (SELECT sum(q.a) FROM r q WHERE q.x = r.x)",
    "both sides": f"SELECT sum(r.a) AS v FROM r WHERE 0.75 * (SELECT sum(q.a) FROM r q WHERE q.x > r.x) < {ABOVE}",
    "both ways": f"SELECT count(*) AS n FROM r WHERE (SELECT sum(q.a) FROM r q WHERE q.g = r.g) < {ABOVE}",
    "expressions": f"SELECT sum(r.x) AS v FROM r WHERE 0.5 * {TOTAL} < (SELECT sum(q.a) FROM r q WHERE 2 * q.x <= r.x + 3)",
    "two levels": f"SELECT sum(r.a) AS v FROM r WHERE 0.5 * {TOTAL} < (SELECT sum(q.a) FROM r q WHERE q.x <= r.x "
    "AND 0.2 * (SELECT sum(b) FROM s) < (SELECT sum(t.b) FROM s t WHERE t.y <= q.x))",
    "across two levels": f"SELECT sum(o.x * o.a) AS v FROM {BELOW_EACH} o WHERE 0.75 * {TOTAL} < (SELECT sum(i.a) FROM {BELOW_EACH} i "
    "WHERE i.x <= o.x AND 0.25 * o.below < i.below)",
    "unequal": f"SELECT sum(r.x * r.a) AS v FROM r WHERE 0.5 * {TOTAL} <> {ABOVE}",
    "unequal by key": f"SELECT sum(r.a) AS v FROM r WHERE 0.5 * {TOTAL} <> (SELECT sum(q.a) FROM r q WHERE q.x = r.x)",
    "by key": "SELECT g, sum(a) AS v, min(x) AS m FROM r WHERE a >= (SELECT avg(q.a) FROM r q WHERE q.g = r.g AND q.x < r.x) GROUP BY g",
    "extremes": "SELECT g, count(*) AS n FROM r WHERE a > (SELECT max(q.a) FROM r q WHERE q.x < r.x) "
    "OR a < (SELECT min(q.a) FROM r q WHERE q.x > r.x) GROUP BY g",
    "between": "SELECT avg(a) AS v, count(a) AS n FROM r WHERE a > (SELECT avg(q.a) FROM r q WHERE q.x BETWEEN r.x - 1 AND r.x + 1)",
    "extreme between": "SELECT count(*) AS n FROM r WHERE a = (SELECT max(q.a) FROM r q WHERE q.x >= r.x - 1 AND q.x <= r.x + 1)",
    "other than": "SELECT g, sum(a) AS v FROM r WHERE 9 * a > (SELECT sum(q.a) FROM r q WHERE q.g <> r.g AND q.x = r.x) GROUP BY g",
    "two upper bounds": "SELECT count(*) AS n FROM r WHERE 2 < (SELECT count(*) FROM r q WHERE q.x <= r.x AND q.x < r.x + 3)",
    "two lower bounds": "SELECT count(*) AS n FROM r WHERE 2 < (SELECT count(*) FROM r q WHERE q.x >= r.x AND q.x > r.x - 3)",
    "two inequalities": "SELECT count(*) AS n, sum(x) AS v FROM r WHERE 3 < (SELECT count(*) FROM r q WHERE q.x < r.x AND q.a > r.a)",
    "counts": "SELECT g, count(DISTINCT x) AS n FROM r WHERE 2 <= (SELECT count(q.a) FROM r q WHERE q.x < r.x) GROUP BY g",
    "distinct inside": "SELECT count(*) AS n FROM r WHERE 2 < (SELECT count(DISTINCT q.a) FROM r q WHERE q.x < r.x)",
    "case": f"SELECT sum(CASE WHEN 0.5 * {TOTAL} < {ABOVE} THEN a END) AS v, count(*) AS n, avg(x) AS m FROM r",
    "case of both": f"SELECT sum(CASE WHEN {ABOVE} > 9 THEN a ELSE x END) AS v FROM r",
    "argument": f"SELECT g, sum(a * {ABOVE}) AS v FROM r GROUP BY g",
    "filter": f"SELECT g, sum(a) FILTER (WHERE {ABOVE} > 9) AS v, count(*) AS n FROM r GROUP BY g",
    "having": "SELECT r.x, sum(a) AS v FROM r GROUP BY r.x HAVING sum(a) > (SELECT avg(q.a) FROM r q WHERE q.x < r.x)",
    "in the list": f"SELECT r.x, {ABOVE} AS v FROM r",
    "distinct": f"SELECT DISTINCT r.x, {ABOVE} AS v FROM r",
    "distinct of some": "SELECT DISTINCT g FROM r WHERE a > (SELECT avg(q.a) FROM r q WHERE q.x < r.x)",
    "in the list of groups": "SELECT x, count(*) AS n, (SELECT sum(b) FROM s WHERE s.y <= r.x) AS v FROM r GROUP BY x",
    "or": f"SELECT sum(a) AS v FROM r WHERE {ABOVE} < 9 OR (SELECT count(*) FROM s WHERE s.y > r.x) = 2 OR g = 1",
    "arithmetic": "SELECT count(*) AS n FROM r WHERE a * 2 > (SELECT sum(q.a) / count(*) - min(q.a) + 1 FROM r q WHERE q.x >= r.x)",
    "having inside": "SELECT count(*) AS n FROM r WHERE a >= (SELECT sum(q.a) FROM r q WHERE q.x < r.x HAVING count(*) > 2)",
    "exists as a count": "SELECT sum(a) AS v FROM r WHERE (SELECT count(*) FROM s WHERE s.y < r.x) > 0",
    "exists": "SELECT g, sum(a) AS v FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.y > r.x AND s.b <> r.a) GROUP BY g",
    "not exists": "SELECT count(*) AS n FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.y > r.x) AND r.a > 0",
    "over a join": "SELECT t.b, sum(r.a) AS v FROM r JOIN s t ON r.g = t.k WHERE r.a > (SELECT avg(q.b) FROM s q WHERE q.y < t.y) "
    "GROUP BY t.b",
    "over a subselect": "SELECT sum(d) AS v FROM (SELECT 2 * x AS d, a FROM r) p WHERE p.a > (SELECT avg(q.a) FROM r q WHERE q.x < p.d)",
    "inner subselect": "SELECT sum(x) AS v FROM r WHERE r.a > (SELECT avg(e) FROM (SELECT a + 1 AS e, 2 * x AS d FROM r) p "
    "WHERE p.d < r.x)",
    "over groups": "SELECT sum(t.x * t.v) AS v FROM (SELECT x, sum(a) AS v FROM r GROUP BY x) t WHERE 0.75 * (SELECT sum(a) FROM r) < "
    "(SELECT sum(u.v) FROM (SELECT x, sum(a) AS v FROM r GROUP BY x) u WHERE u.x <= t.x)",
    "product": f"SELECT sum(r.x - s.y) AS v, count(*) AS n FROM r, s WHERE r.a > 0.01 * {TOTAL} AND s.b > 0.01 * (SELECT sum(b) FROM s)",
    "product by key": f"SELECT r.g, sum(s.y * 2 - r.x) AS v, max(s.b) AS m FROM s, r WHERE 0.25 * {TOTAL} > (SELECT sum(q.a) FROM r q "
    "WHERE q.x > r.x) AND 0.3 * (SELECT sum(b) FROM s) > (SELECT sum(t.b) FROM s t WHERE t.y > s.y) GROUP BY r.g",
}
NUMBERS = (None, 0, 0, 1, 1, 2, 3, 4, 6)


def _world(chance: random.Random, *, negative: bool) -> World:
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", [_row(chance, place, negative=negative) for place in range(24)])
    world.warehouse.commit("s", [_row(chance, place, negative=negative) for place in range(12)])
    return world


def _row(chance: random.Random, number: int, *, negative: bool) -> Row:
    value = chance.choice((*NUMBERS, -1, -3) if negative else NUMBERS)
    return (number, chance.choice((None, 0, 1, 2)), chance.choice(NUMBERS), value)


def _changed(chance: random.Random, world: World, table: str, step: int, *, negative: bool) -> None:
    rows = list(world.warehouse.rows(table))
    chance.shuffle(rows)
    kept = rows[chance.randint(0, 4) :]
    # The last but one is empty, so that groups go and come.
    added = [_row(chance, 100 * step + place, negative=negative) for place in range(chance.randint(0, 5))]
    world.warehouse.commit(table, [] if step == 4 else [*kept, *added])


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_answers_from_finer_groups_at_each_commit(form: str, negative: bool) -> None:
    chance = random.Random(f"{form} {negative}")
    world = _world(chance, negative=negative)
    served = []
    for step in range(6):
        report = world.checked(FORMS[form])
        assert world.sketches.relations.background.settle(30)
        served.append(report.served_by)
        assert world.checked(FORMS[form]).served_by is ServedBy.STATE or step < 2, (step, report.reason, report.not_answered)
        _changed(chance, world, chance.choice(("r", "s")) if step != 4 else "r", step, negative=negative)
    assert served.count(ServedBy.STATE) >= 4


def test_other_constants_are_answered_from_the_same_groups() -> None:
    world = _world(random.Random(3), negative=False)
    text = FORMS["VWAP"]
    world.checked(text)
    captured = len(world.sketches.relations.registry.relations())
    for share in ("0.9", "0.1", "0.5", "0.0", "1.0"):
        assert world.checked(text.replace("0.75", share)).served_by is ServedBy.STATE
    assert len(world.sketches.relations.registry.relations()) == captured


def test_a_threshold_that_is_a_prefix_tells_strict_from_inclusive() -> None:
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", [(place, 0, place, 1) for place in range(1, 5)])
    for comparison, expected in (("<", 7), ("<=", 9), (">", 1), (">=", 3), ("=", 2)):
        text = f"SELECT sum(r.x * r.a) AS v FROM r WHERE 0.5 * {TOTAL} {comparison} {ABOVE}"
        assert world.ask(text)[0] == [(expected,)]
        world.checked(text)


def test_levels_of_no_volume_share_a_sum_and_stay_apart() -> None:
    # An index by sums alone would move the level of 3 together with that of 2.
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", [(1, 0, 1, 5), (2, 0, 2, 5), (3, 0, 3, 0), (4, 0, 4, 2)])
    text = f"SELECT sum(r.x) AS v FROM r WHERE 10 <= {ABOVE}"
    assert world.ask(text)[0] == [(9,)]
    world.warehouse.commit("r", [(1, 0, 1, 5), (2, 0, 2, 4), (3, 0, 3, 1), (4, 0, 4, 2)])
    assert world.ask(text)[0] == [(7,)]
    assert world.checked(text).served_by is ServedBy.STATE


FOLLOWED = [
    *("VWAP", "VWAP, other side", "equality", "both sides", "both ways", "two levels"),
    *("across two levels", "unequal", "unequal by key"),
    *("in three ways", "by symbol", "counted", "coalesced", "several conditions", "product of longs"),
]
MORE_FORMS = {
    "product of longs": FORMS["product by key"]
    .replace("s.y * 2 - r.x", "CAST(s.y AS BIGINT) * 2 - CAST(r.x AS BIGINT)")
    .replace(", max(s.b) AS m", ""),
    "in three ways": f"SELECT sum(a) AS v, count(*) AS n, count(x) AS m FROM r WHERE 0.5 * {TOTAL} > {ABOVE}",
    "by symbol": "SELECT g, sum(a) AS v FROM r WHERE 0.25 * (SELECT sum(q.a) FROM r q WHERE q.g = r.g) <= "
    "(SELECT sum(q.a) FROM r q WHERE q.g = r.g AND q.x <= r.x) GROUP BY g",
    "counted": "SELECT sum(a) AS v FROM r WHERE (SELECT count(*) FROM r q WHERE q.x < r.x) <= 2",
    "coalesced": f"SELECT sum(a) AS v FROM r WHERE 0.25 * {TOTAL} > (SELECT coalesce(sum(q.a), 0) FROM r q WHERE q.x > r.x)",
    "several conditions": f"SELECT sum(a) AS v FROM r WHERE 0.1 * {TOTAL} < {ABOVE} AND 0.8 * {TOTAL} >= {ABOVE}",
}


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("form", FOLLOWED)
def test_merges_that_are_followed_from_one_reading_to_the_next(form: str, negative: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "LEAST_GROUPS", 0)
    chance = random.Random(f"followed {form} {negative}")
    world = _world(chance, negative=negative)
    text = {**FORMS, **MORE_FORMS}[form]
    for step in range(12):
        world.checked(text)
        assert world.sketches.relations.background.settle(30)
        _changed(chance, world, chance.choice(("r", "s")) if step != 4 else "r", step, negative=negative)
    merges = world.sketches.relations.merges
    assert any(isinstance(each, followed.FollowedMerge) and each.is_followed for each in merges.values()), form


def test_what_is_not_exact_in_whole_numbers_is_evaluated_at_each_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "LEAST_GROUPS", 0)
    chance = random.Random(7)
    world = _world(chance, negative=False)
    for form in ("expressions", "by key", "extremes", "between", "two inequalities", "case", "arithmetic", "over a join"):
        for step in range(3):
            world.checked(FORMS[form])
            _changed(chance, world, "r", step, negative=False)


def test_groups_that_are_as_they_were_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "LEAST_GROUPS", 0)
    described, plainly = list[str](), Describer.described

    def noted(self: Describer, merge: Merge) -> Described:
        described.append(merge.output[0].identifier)
        return plainly(self, merge)

    monkeypatch.setattr(Describer, "described", noted)
    chance = random.Random(5)
    world, text = _world(chance, negative=False), MORE_FORMS["product of longs"]
    for step in range(4):
        world.checked(text)
        _changed(chance, world, "rs"[step % 2], step, negative=False)
    world.checked(text)
    assert len(set(described)) == 2
    for table in "rs":
        described.clear()
        _changed(chance, world, table, 9, negative=False)
        world.checked(text)
        assert len(described) == 1


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that the merges come into, by their first columns, whenever one is computed from all finer groups."""
    found = list[str]()

    def noted(plan: Merge, rows: pa.Table, partials: Partials) -> pa.Table:
        found.append(plan.output[0].identifier)
        return merged(plan, rows, partials)

    monkeypatch.setattr("imp_driver.answer.finish.merged", noted)
    return found


def test_few_groups_are_merged_anew_only_after_changes_of_theirs(evaluated: list[str]) -> None:
    chance = random.Random(5)
    world, text = _world(chance, negative=False), MORE_FORMS["product of longs"]
    world.checked(text)
    assert len(set(evaluated)) == len(evaluated) == 2
    for step, table in enumerate("rsrs"):
        evaluated.clear()
        _changed(chance, world, table, step, negative=False)
        world.checked(text)
        assert len(evaluated) == 1


def test_groups_that_were_merged_for_one_text_have_the_names_of_another(evaluated: list[str]) -> None:
    world = _world(random.Random(6), negative=False)
    few = "SELECT g, sum(a) AS v FROM r WHERE 3 > (SELECT count(*) FROM r q WHERE q.x > r.x) GROUP BY g"
    world.checked(few)
    assert world.checked(f"SELECT k, count(*) AS n FROM s GROUP BY k UNION ALL {few}").served_by is ServedBy.STATE
    assert len(evaluated) == 1


def test_partitions_of_the_rows_of_a_subquery_are_not_those_of_the_row_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of the subquery are of all values of g, though another one is asked about those of one value alone."""
    monkeypatch.setattr(followed, "LEAST_GROUPS", 0)
    text = (
        "SELECT sum(r.a) AS v FROM r WHERE 0.5 * (SELECT sum(q.a) FROM r q WHERE q.g = r.g) < (SELECT sum(c.a) FROM r c WHERE c.x <= r.x "
        "AND 2.0 * (SELECT sum(d.a) FROM r d WHERE d.g = c.g) < (SELECT sum(e.a) FROM r e WHERE e.x <= c.x))"
    )
    for seed in range(4):
        chance = random.Random(seed)
        world = _world(chance, negative=False)
        for step in range(4):
            world.checked(text)
            _changed(chance, world, "r", step, negative=False)


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("VWAP", "subquery by `x` <= `x`: prefix descent over the groups in order, O(log n)"),
        ("equality", "subquery by `x` = `x`: equality map, one group looked up for each row, O(1)"),
        ("by key", "subquery by `g` = `g` and `x` < `x`: running sums over the groups in order within the groups that are equal, O(n)"),
        ("by symbol", "subquery by `g` = `g` and `x` <= `x`: prefix descent over the groups in order within the groups that are equal"),
        ("unequal", "subquery by `x` <= `x`: prefix descent over the groups in order, O(log n)"),
        (
            "two inequalities",
            "subquery by `x` < `x` and `a` > `a`: running sums over the groups where all of these rise together, O(n), else general",
        ),
        ("other than", "subquery by `g` <> `g` and `x` = `x`: general, pairs of groups, O(n * m)"),
        ("between", "subquery by `x` >= `x` - 1 and `x` <= `x` + 1: running sums over the groups in order, O(n)"),
    ],
)
def test_explain_names_the_way_of_each_subquery(form: str, told: str) -> None:
    world = World()
    rows, _ = world.ask(f"EXPLAIN SKETCH {({**FORMS, **MORE_FORMS})[form]}")
    lines = [str(row[0]) for row in rows]
    assert [line for line in lines if line.strip().startswith(told)], lines


@pytest.mark.parametrize(("form", "states"), [("VWAP", 1), ("both sides", 1), ("two levels", 2), ("product by key", 2)])
def test_groups_of_one_table_are_held_once(form: str, states: int) -> None:
    world = _world(random.Random(form), negative=False)
    world.checked(FORMS[form])
    assert len(world.sketches.relations.registry.relations()) == states


@pytest.mark.parametrize("least", [-1, 0])
def test_pairs_that_leave_their_type_are_the_engines(least: int) -> None:
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", [(1, 0, 2**31 - 8, 1)])
    world.warehouse.commit("s", [(1, 0, 8 * least, 1)])
    text = "SELECT sum(r.x - s.y) AS v FROM r, s"
    if least == 0:
        assert world.ask(text)[0] == [(2**31 - 8,)]
        assert world.checked(text).served_by is ServedBy.STATE
    else:
        with pytest.raises(Exception, match=r"(?i)overflow|out of range"):
            world.ask(text)


def test_terms_of_one_table_that_stand_apart_are_not_added_in_a_type_of_their_own() -> None:
    world = World(policy=Policy.INCREMENTAL)
    world.warehouse.commit("r", [(1, 0, 2**31 - 3, 1)])
    world.warehouse.commit("s", [(1, 0, 2**31 - 9, 1)])
    world.checked("SELECT sum(r.x - s.y + r.a) AS v, sum(CAST(r.x AS DOUBLE) - s.y + r.x) AS w FROM r, s")
