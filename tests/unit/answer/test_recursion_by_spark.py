"""Recursions that are left to the engine, without a JVM: rows as in process, the SQL of the rounds, and that nothing is left behind."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

import pytest

from imp_driver.answer.recursion import by_spark, followed, in_rows, in_vectors
from imp_driver.answer.recursion.round_texts import RelationForm
from imp_driver.dataflow.recursion.levels import Levels
from imp_driver.dataflow.recursion.vectors import VectorLevels
from imp_driver.errors import DataError, InterfaceError, NotSupportedError, OperationalError
from imp_driver.plan.best_rows import Best
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import RecursionPlace
from imp_driver.values.options import Options
from tests.soundness.engine import Row, drained
from tests.unit.answer.keeping import Left
from tests.unit.answer.test_answers import World
from tests.unit.answer.test_recursion import COUNTED, MUTUAL, NON_LINEAR, OF_PATHS, PATHS, QUERIES, SEVERAL, _changed

REACH = QUERIES["reach"]


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_of_another_engine_after_each_commit(name: str) -> None:
    world, choice = Left(), random.Random(name)
    for step in range(4):
        world.warehouse.commit("r", _changed(world.warehouse.rows("r"), choice))
        report = world.checked(QUERIES[name])
        assert (report.served_by, report.decision, report.reason) == (
            ServedBy.SPARK_BY_ROUNDS,
            Decision.NOT_USED,
            Reason.RECURSION_BY_SPARK,
        )
        assert report.tables["r"] == step + 1
        assert world.is_clean()


@pytest.mark.parametrize("text", [NON_LINEAR, MUTUAL, SEVERAL, *(PATHS + each for each in OF_PATHS.values())])
def test_rows_are_those_that_are_computed_in_process(text: str) -> None:
    world, other, choice = Left(), World(recursion=RecursionPlace.PROCESS), random.Random(text)
    for _ in range(3):
        # Costs are above zero, so that shortest paths are finitely many.
        rows = [(*row[:3], choice.randint(1, 3)) for row in _changed(world.warehouse.rows("r"), choice)]
        for each in (world, other):
            each.warehouse.commit("r", rows)
        assert Counter(world.ask(text)[0]) == Counter(other.ask(text)[0]), rows
        assert world.is_clean()


ABOVE = (
    "SELECT a, count(*) AS n FROM p GROUP BY ROLLUP(a)",
    "SELECT (SELECT count(*) FROM p) AS n, (SELECT max(b) FROM p WHERE a = 1) AS m",
    "SELECT a, b, row_number() OVER (PARTITION BY a ORDER BY b NULLS LAST) AS k FROM p ORDER BY a NULLS LAST, k",
    "SELECT a FROM p UNION SELECT id FROM r",
    "SELECT a FROM p EXCEPT SELECT g FROM r WHERE id > 2",
    "SELECT r.id, (SELECT count(*) FROM p WHERE p.a = r.g) AS n FROM r",
    "SELECT a, b FROM p WHERE a IN (SELECT g FROM r WHERE a > 2) ORDER BY a, b NULLS LAST LIMIT 3",
    "SELECT DISTINCT a FROM p WHERE b > (SELECT avg(x) FROM r)",
    "SELECT count(DISTINCT a) AS n, sum(b) AS s FROM p WHERE EXISTS (SELECT 1 FROM s WHERE s.k < p.a)",
    "SELECT p.*, r.* FROM p FULL OUTER JOIN r ON r.g = p.a AND r.x = p.b",
    "SELECT 1 AS one FROM p",
)


@pytest.mark.parametrize("text", ABOVE)
def test_the_rest_of_a_query_is_the_engines_too(text: str) -> None:
    world = Left()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 1), (3, 3, 1, 2), (4, 3, 4, 3), (5, None, 4, 4), (6, 4, None, 5), (7, 4, 5, 6)])
    assert world.checked(REACH.removesuffix("SELECT a, b FROM p") + text).served_by is ServedBy.SPARK_BY_ROUNDS
    assert world.is_clean()


@pytest.mark.parametrize("most", [0, 100])
def test_few_rows_of_a_round_are_looked_for_among_many(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_spark, "MANY_ROWS", 4)
    world = Left()
    world.keeping.most = most
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 1, 0), (4, None, 1, 0), (5, 3, None, 0), (6, 3, 4, 0), (7, 4, 5, 0)])
    world.checked(REACH)
    (kept,) = world.keeping.kept
    assert any("LEFT SEMI JOIN" in query for query in kept.queries) is (most > 0)
    assert world.is_clean()


def test_empty_tables_and_null() -> None:
    world = Left()
    world.warehouse.commit("r", [])
    assert world.ask(REACH)[0] == []
    world.warehouse.commit("r", [(1, None, 1, 0), (2, 1, None, 0), (3, None, None, 0), (4, None, None, 0)])
    assert Counter(world.ask(REACH)[0]) == Counter([(None, 1), (None, None), (1, None)])


def test_a_long_chain_has_its_rounds_together_in_few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_spark, "MOST_PARTS", 3)
    world = Left()
    world.warehouse.commit("r", [(number, number, number + 1, 0) for number in range(30)])
    rows, report = world.ask("WITH RECURSIVE p AS (SELECT 0 AS a UNION SELECT l.x FROM p JOIN r l ON l.g = p.a) SELECT a FROM p ORDER BY a")
    assert rows == [(number,) for number in range(31)]
    assert report.detail.startswith("rounds: 31, rows: 31 = 1 + 1 + ")
    assert max(query.count("UNION ALL SELECT c0 FROM") for query in world.keeping.kept[0].queries) == 2
    assert world.is_clean()


def test_the_level_of_a_row_is_the_round_in_which_it_is_found_first() -> None:
    world, choice = Left(), random.Random(7)
    links = [(number, choice.randrange(9), choice.randrange(9), 0) for number in range(14)]
    world.warehouse.commit("r", links)
    world.ask(REACH)
    shortest = {(g, x): 0 for _, g, x, _ in links}
    for _ in range(9):
        for (a, b), level in list(shortest.items()):
            for _, g, x, _ in links:
                if x == a:
                    shortest[g, b] = min(level + 1, shortest.get((g, b), 99))
    assert world.keeping.kept[0].levels == shortest


def test_what_a_round_asks_for() -> None:
    form = RelationForm(("int", "string"))
    text = form.found(["SELECT 1 AS c0, 'a' AS c1"], [], 0)
    assert text == "SELECT c0, c1, 0 AS imp_level FROM (SELECT DISTINCT c0, c1 FROM (SELECT 1 AS c0, 'a' AS c1))"
    text = form.found(["STEP", "OTHER"], ["v0", "v1"], 2)
    assert text == (
        "SELECT c0, c1, 2 AS imp_level FROM (SELECT c0, c1 FROM (SELECT DISTINCT c0, c1 FROM (STEP UNION ALL OTHER)) "
        "LEFT ANTI JOIN (SELECT c0 AS k0, c1 AS k1 FROM (SELECT c0, c1 FROM v0 UNION ALL SELECT c0, c1 FROM v1)) "
        "ON c0 <=> k0 AND c1 <=> k1)"
    )
    text = form.unknown("v2", ["v0", "v1"], 2)
    assert text == (
        "SELECT c0, c1, 2 AS imp_level FROM (SELECT c0, c1 FROM (SELECT c0, c1 FROM v2) "
        "LEFT ANTI JOIN (SELECT c0 AS k0, c1 AS k1 FROM (SELECT c0, c1 FROM (SELECT c0, c1 FROM v0 UNION ALL SELECT c0, c1 FROM v1) "
        "LEFT SEMI JOIN (SELECT c0 AS k0, c1 AS k1 FROM (SELECT c0, c1 FROM v2)) ON c0 <=> k0 AND c1 <=> k1)) "
        "ON c0 <=> k0 AND c1 <=> k1)"
    )
    best = RelationForm(("int", "string", "int"), Best((0,), 2, greatest=True, kept=(0, 2)))
    assert best.found(["STEP"], ["v0"], 3) == (
        "SELECT c0, c2, 3 AS imp_level FROM (SELECT *, dense_rank() OVER (PARTITION BY c0 ORDER BY c2 DESC NULLS LAST) AS imp_rank FROM ("
        "SELECT c0, c2, min(imp_new) AS imp_new FROM (SELECT c0, c2, 1 AS imp_new FROM (STEP) "
        "UNION ALL SELECT c0, c2, 0 AS imp_new FROM (SELECT c0, c2 FROM v0)) GROUP BY c0, c2)) WHERE imp_new = 1 AND imp_rank <= 1"
    )


def test_all_rounds_read_the_tables_at_one_vector_of_versions() -> None:
    world = Left()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 4, 0)])
    world.keeping.before = lambda: world.warehouse.commit("r", [(9, 9, 9, 9)])
    rows, report = world.ask(REACH + " ORDER BY a, b")
    assert rows == [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
    assert report.tables == {"r": 1}
    (kept,) = world.keeping.kept
    # It is found once.
    assert kept.shown == ["SELECT * FROM `r` VERSION AS OF 1"]
    assert not any("VERSION AS OF" in query for query in kept.queries)
    assert all("imp_level" in each.column_names for each in kept.tables.values())
    world.keeping.before = lambda: None
    assert world.ask(REACH)[0] == [(9, 9)]


def test_groups_and_first_rows_that_a_step_reads_are_computed_once() -> None:
    world = Left()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 1, 3, 0), (3, 3, 4, 0), (4, 4, 5, 0)])
    text = (
        "WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT q.m FROM p JOIN (SELECT g, max(x) AS m FROM r GROUP BY g) q ON q.g = p.a "
        "WHERE p.a IN (SELECT g FROM r ORDER BY id LIMIT 3)) SELECT a FROM p ORDER BY a"
    )
    rows, report = world.ask(text)
    assert rows == [(1,), (3,), (4,)]
    assert report.detail.startswith("rounds: 3,")
    (kept,) = world.keeping.kept
    assert [sum(word in query for query in kept.queries) for word in ("GROUP BY", "LIMIT 3")] == [1, 1]


def test_a_recursion_over_another_one() -> None:
    world = Left()
    text = (
        "WITH RECURSIVE p(a, b) AS (SELECT g, x FROM r UNION SELECT l.g, p.b FROM r l JOIN p ON l.x = p.a), "
        "q(a) AS (SELECT CAST(count(*) AS INT) FROM p UNION SELECT q.a - 1 FROM q WHERE q.a > 4) SELECT q.a, p.b FROM q JOIN p ON p.b = q.a"
    )
    report = world.checked(text)
    # What is read at two places is computed once.
    assert report.detail.count("rounds:") == 2
    assert world.is_clean()


def test_an_error_inside_a_round_is_the_one_of_the_query_and_leaves_nothing() -> None:
    world = Left()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0)])

    def fail() -> None:
        if len(world.keeping.kept[0].queries) == 2:
            raise DataError("Division by zero.")

    world.keeping.before = fail
    with pytest.raises(DataError, match=r"Division by zero\."):
        world.ask(REACH)
    assert len(world.keeping.kept[0].queries) == 2
    assert world.is_clean()


def test_a_run_is_cancelled_between_two_rounds() -> None:
    world = Left()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 4, 0)])
    execution = Execution(REACH)
    world.keeping.before = execution.token.cancel
    with pytest.raises(OperationalError, match="cancelled"):
        world.path.run(execution)
    assert len(world.keeping.kept[0].queries) == 1
    assert world.is_clean()


def test_rows_are_kept_until_the_last_one_is_read_or_nobody_reads_on() -> None:
    world = Left()
    for is_read in (True, False):
        outcome = world.path.run(Execution(REACH))
        assert not world.is_clean()
        assert outcome.stream is not None
        if is_read:
            assert drained(outcome.stream)
        else:
            outcome.stream.close()
        assert world.is_clean()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (COUNTED + "SELECT a FROM p", "it has not ended after 20 rounds and 42 rows; what counts"),
        ("WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT a + 1 FROM p) SELECT a FROM p", "20 rounds and 21 rows"),
        (
            "WITH RECURSIVE p AS (SELECT g FROM r UNION SELECT CAST(g AS DOUBLE) FROM p) SELECT g FROM p",
            "g is INT where it begins and DOUBLE",
        ),
        (
            "WITH RECURSIVE p(h, a) AS (SELECT id, a + 1 FROM q UNION SELECT id, x FROM p JOIN r ON p.h = r.g), "
            "q(id, a) AS (SELECT id, g FROM r UNION SELECT id, CAST(a AS BIGINT) FROM q UNION SELECT h, a FROM p) SELECT a FROM q",
            "columns of different types: a is INT where it begins and BIGINT in another branch; CAST them there",
        ),
        ("WITH RECURSIVE p AS (SELECT g FROM r UNION SELECT max(g) FROM p) SELECT g FROM p", "inside an aggregate"),
    ],
)
def test_what_is_refused_says_why(text: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_spark, "MOST_LEVELS", 20)
    world = Left()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 1, 0)])
    with pytest.raises(NotSupportedError, match=told):
        world.ask(text)
    assert not any(each.tables for each in world.keeping.kept)


def test_more_rows_than_an_engine_keeps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_spark, "MOST_ROWS", 5)
    with pytest.raises(NotSupportedError, match="6 rows"):
        Left().ask("WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT a + 1 FROM p) SELECT a FROM p")


def test_what_is_too_large_for_the_process_is_left_to_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Left(recursion=RecursionPlace.AUTO)
    links: list[Row] = [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 1, 0)]
    world.warehouse.commit("r", links)
    monkeypatch.setattr(in_vectors, "VectorLevels", partial(VectorLevels, most_rows=8))
    report = world.checked(REACH)
    assert report.served_by is ServedBy.SPARK_BY_ROUNDS
    assert report.not_answered is not None
    assert "more than 8 rows" in report.not_answered.detail
    # It is not tried in process each time, but it is again.
    monkeypatch.setattr(in_vectors, "VectorLevels", VectorLevels)
    assert [world.checked(REACH).served_by for _ in range(2)] == [ServedBy.SPARK_BY_ROUNDS] * 2
    # At the versions at which it was too large it still is.
    world.warehouse.commit("r", links[:2])
    assert world.checked(REACH).served_by is ServedBy.STATE


def test_new_values_of_few_rows_beyond_what_is_kept_are_taken_for_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Left(recursion=RecursionPlace.AUTO)
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 1, 0)])
    monkeypatch.setattr(in_vectors, "VectorLevels", partial(VectorLevels, most_rows=8))
    monkeypatch.setattr(in_rows, "Levels", partial(Levels, most_rows=8))
    ways = (
        "WITH RECURSIVE p(a, b, n) AS (SELECT g, x, 1 FROM r UNION SELECT p.a, r.x, p.n + 1 FROM p JOIN r ON r.g = p.b WHERE p.n < 9) "
        "SELECT a, b, n FROM p"
    )
    with pytest.raises(NotSupportedError, match=r"more than 8 rows.*option recursion=spark"):
        world.ask(ways)
    assert world.keeping.kept == []
    # Of many rows they are not.
    monkeypatch.setattr(followed, "FEW_GIVEN", 3)
    world = Left(recursion=RecursionPlace.AUTO)
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 1, 0)])
    assert world.checked(ways).served_by is ServedBy.SPARK_BY_ROUNDS


def test_tables_beyond_the_memory_are_left_to_the_engine() -> None:
    world = Left(recursion=RecursionPlace.AUTO)
    world.sketches.relations.registry.memory_budget = 10
    report = world.checked(REACH)
    assert report.served_by is ServedBy.SPARK_BY_ROUNDS
    assert report.not_answered is not None
    assert report.not_answered.detail.startswith("STATE_TOO_LARGE")


def test_what_the_process_knows_stays_there() -> None:
    world = Left(recursion=RecursionPlace.AUTO)
    assert world.checked(REACH).served_by is ServedBy.STATE
    with pytest.raises(NotSupportedError, match="2000 rounds"):
        world.ask("WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT a + 1 FROM p) SELECT a FROM p")
    assert world.keeping.kept == []


def test_functions_that_the_engine_alone_knows() -> None:
    text = "WITH RECURSIVE p AS (SELECT CAST(g AS STRING) AS a FROM r UNION SELECT md5(p.a) FROM p WHERE length(p.a) < 9) SELECT a FROM p"
    with pytest.raises(NotSupportedError):
        Left(recursion=RecursionPlace.PROCESS).ask(text)
    assert Left(recursion=RecursionPlace.AUTO).checked(text).served_by is ServedBy.SPARK_BY_ROUNDS


def test_an_engine_with_rules_of_its_own_computes_what_it_shows() -> None:
    world = Left(recursion=RecursionPlace.AUTO)
    world.keeping.rules = True
    assert world.checked(REACH).served_by is ServedBy.SPARK_BY_ROUNDS
    world.keeping.hidden = {"r"}
    with pytest.raises(NotSupportedError, match="NOT_PERMITTED"):
        world.ask(REACH)


def test_values_of_markers() -> None:
    world = Left()
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 5, 6, 0)])
    text = "WITH RECURSIVE p(a) AS (SELECT x FROM r WHERE g = ? UNION SELECT l.x FROM p JOIN r l ON l.g = p.a) SELECT a FROM p"
    assert sorted(world.ask(text, (1,))[0]) == [(2,), (3,)]
    assert sorted(world.ask(text, (5,))[0]) == [(6,)]


def test_explain_says_that_the_engine_computes_it() -> None:
    assert "round by round" in str(Left().ask(f"EXPLAIN SKETCH {REACH}")[0][0])


def test_the_option_is_read_from_text() -> None:
    assert Options().with_values({"recursion": "Spark"}).recursion is RecursionPlace.SPARK
    with pytest.raises(InterfaceError, match="auto or process or spark"):
        Options().with_values({"recursion": "cluster"})
