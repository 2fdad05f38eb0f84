"""Recursions of which an engine keeps the rows, without a JVM: after a commit the rows and levels that it would compute anew."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pyarrow as pa
import pytest

from imp_driver.answer.recursion import by_spark, engine_rows, following, kept_state, sorting
from imp_driver.answer.recursion.round_texts import LEVEL
from imp_driver.errors import DataError, NotSupportedError, OperationalError
from imp_driver.reasons import ServedBy
from imp_driver.values.execution import Execution
from tests.soundness.engine import Row, drained
from tests.unit.answer.keeping import Left, Watched
from tests.unit.answer.test_recursion import MUTUAL, NON_LINEAR, QUERIES, SEVERAL, _changed

REACH = QUERIES["reach"]
LINKS: list[Row] = [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 4, 0), (4, 4, 2, 0), (5, 1, 5, 0), (6, 5, 6, 0)]
FROM_ONE = "WITH RECURSIVE p(a) AS (SELECT 1 UNION SELECT l.x FROM p JOIN r l ON l.g = p.a) SELECT a FROM p"
COMPUTED = (
    "WITH RECURSIVE p(a, b) AS (SELECT g, x + 1 FROM r UNION SELECT l.g, p.b - 1 FROM r l JOIN p ON l.x + 1 = p.b WHERE p.b > l.id) "
    "SELECT a, b FROM p"
)
OF_TWO_TABLES = (
    "WITH RECURSIVE p(a, b) AS (SELECT g, x FROM r UNION SELECT p.a, l.x FROM p JOIN r l ON l.g = p.b "
    "WHERE EXISTS (SELECT 1 FROM s WHERE s.k >= l.g)) SELECT a, b FROM p"
)


def _levels(world: Left) -> list[Mapping[tuple[object, ...], int]]:
    """Return the levels of the rows of each relation that is kept."""
    found: list[Mapping[tuple[object, ...], int]] = []
    for run in world.path.kept_runs._runs.values():
        run.kept.for_run(Execution(""))
        for state in run.states.values():
            for relation in state.relations:
                table: pa.Table = world.warehouse.query(f"SELECT * FROM ({relation.form.leveled(relation.names)})")
                rows = table.to_pylist()
                found.append({tuple(value for name, value in row.items() if name != LEVEL): row[LEVEL] for row in rows})
                assert len(found[-1]) == len(rows) == relation.rows
        run.kept.rest()
    return found


@pytest.fixture
def copied_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have copies of tables made after the first changes."""
    monkeypatch.setattr(sorting, "LEAST_ROWS", 0)
    monkeypatch.setattr(sorting, "SECONDS_PER_ROW", 0.0)


@pytest.fixture(params=[False, True], ids=["as tables are", "copied"])
def copies(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Have copies of tables made after the first changes, or none."""
    is_copied: bool = request.param
    monkeypatch.setattr(sorting, "LEAST_ROWS", 0 if is_copied else 1 << 40)
    monkeypatch.setattr(sorting, "SECONDS_PER_ROW", 0.0)
    return is_copied


@pytest.mark.parametrize("text", [REACH, QUERIES["right"], NON_LINEAR, MUTUAL, SEVERAL, FROM_ONE, COMPUTED, OF_TWO_TABLES])
def test_rows_and_levels_are_those_that_are_computed_anew(text: str, copies: bool) -> None:
    world, anew, choice = Left(), Left(), random.Random(text)
    followed = 0
    for step in range(6):
        rows = _changed(world.warehouse.rows("r"), choice)
        partners = [(choice.randrange(4), 0, 1, 1) for _ in range(choice.randrange(2))]
        passing = _changed(rows, choice)
        for each in (world, anew):
            if step % 2:
                # Rows that come and go between two readings.
                each.warehouse.commit("r", passing)
            each.warehouse.commit("r", rows)
            if step % 3 == 2:
                each.warehouse.commit("s", partners)
        report = world.checked(text) if text not in (NON_LINEAR, MUTUAL, SEVERAL) else world.ask(text)[1]
        assert report.served_by is ServedBy.SPARK_BY_ROUNDS
        followed += report.detail.startswith("followed: ")
        assert copies or "copied: " not in report.detail
        anew.path.kept_runs.close()
        anew.path.kept_runs._is_open = True
        anew.ask(text)
        assert _levels(world) == _levels(anew)
        assert world.is_clean()
    assert followed >= 4


def test_rows_that_come_and_go_between_two_readings_were_never_there() -> None:
    world = Left()
    world.warehouse.commit("r", LINKS)
    world.checked(REACH)
    world.warehouse.commit("r", [*LINKS, (7, 6, 7, 0)])
    world.warehouse.commit("r", LINKS)
    assert world.checked(REACH).detail == "followed: 0 rows gone, 0 new, 0 at another level, questions: 0"
    world.warehouse.commit("r", LINKS[1:])
    world.warehouse.commit("r", LINKS)
    assert world.checked(REACH).detail == "followed: 0 rows gone, 0 new, 0 at another level, questions: 0"


def test_what_is_told() -> None:
    world = Left()
    world.warehouse.commit("r", LINKS)
    assert world.ask(REACH)[1].detail.startswith("rounds: ")
    assert world.checked(REACH).detail == "followed: 0 rows gone, 0 new, 0 at another level, questions: 0"
    world.warehouse.commit("r", [*LINKS[:5], (7, 6, 7, 0)])
    detail = world.checked(REACH).detail
    # 5 to 6 goes and with it 1 to 6; 6 to 7 comes alone.
    assert detail.startswith("followed: 2 rows gone, 1 new, 0 at another level, questions: ")
    assert "bytes handed over: " in detail
    assert "rows fetched: " in detail


def test_another_query_over_the_same_recursion_follows_the_same_rows() -> None:
    world = Left()
    world.ask(REACH)
    world.commit((7, 6, 7, 0))
    assert world.checked(REACH.removesuffix("SELECT a, b FROM p") + "SELECT count(*) AS n FROM p").detail.startswith("followed: ")
    assert len(world.keeping.kept) == 1


def test_a_query_that_is_still_read_keeps_its_rows_to_itself() -> None:
    world = Left()
    first = world.path.run(Execution(REACH))
    world.commit((7, 6, 7, 0))
    assert world.checked(REACH).detail.startswith("rounds: ")
    assert first.stream is not None
    assert drained(first.stream)
    assert world.is_clean()
    assert world.checked(REACH).detail.startswith("followed: ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT q.m FROM p JOIN (SELECT g, max(x) AS m FROM r GROUP BY g) q ON q.g = p.a) "
            "SELECT a FROM p",
            "anew: a step reads more than tables: ",
        ),
        (
            "WITH RECURSIVE p AS (SELECT g AS a, x AS b FROM r UNION SELECT p.a, p.b + r.x FROM p JOIN r ON r.g = p.a AND r.x > 0) "
            "SELECT a, min(b) AS m FROM p GROUP BY a",
            "anew: its best rows alone are kept",
        ),
        (
            "WITH RECURSIVE p AS (SELECT g AS a FROM r UNION SELECT r.x FROM p JOIN r ON r.g = p.a "
            "WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.x)) SELECT a FROM p",
            "anew: a step has no rule: ",
        ),
    ],
)
def test_what_cannot_be_followed_says_why(text: str, why: str) -> None:
    world = Left()
    for _ in range(2):
        world.commit((7, 6, 7, 0))
        assert why in world.ask(text)[1].detail
        assert world.path.kept_runs.names == frozenset()
        assert world.is_clean()


def test_types_that_are_told_apart_by_the_engine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_KNOWN", (pa.types.is_string,))
    assert "anew: a column of type int32" in Left().checked(REACH).detail


def test_an_engine_with_rules_of_its_own_computes_anew() -> None:
    world = Left()
    world.checked(REACH)
    world.keeping.rules = True
    assert "anew: the engine may have rules of its own" in world.checked(REACH).detail
    assert world.is_clean()


def test_a_change_that_takes_more_questions_than_the_rounds_is_computed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Left()
    world.warehouse.commit("r", LINKS)
    world.checked(REACH)
    monkeypatch.setattr(following, "_QUESTIONS", 1)
    monkeypatch.setattr(following, "_QUESTIONS_PER_ROUND", 0)
    world.warehouse.commit("r", LINKS[1:])
    assert "anew: it takes more than 1 questions" in world.checked(REACH).detail
    assert world.is_clean()


def test_an_answer_that_is_too_large_is_computed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Left()
    world.checked(REACH)
    monkeypatch.setattr(engine_rows, "MOST_BYTES", 1)
    world.commit((7, 1, 7, 0))
    assert "anew: what a change touches is more than" in world.checked(REACH).detail


def test_many_changes_are_written_among_the_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MOST_CHANGED", 2)
    world, choice = Left(), random.Random(3)
    merged = 0
    for _ in range(5):
        world.warehouse.commit("r", _changed(world.warehouse.rows("r"), choice))
        world.checked(REACH)
        assert world.is_clean()
        merged += not any(
            each.changes for run in world.path.kept_runs._runs.values() for state in run.states.values() for each in state.relations
        )
    assert merged >= 2


def test_rows_that_the_engine_has_lost_are_computed_anew() -> None:
    world = Left()
    world.checked(REACH)
    (kept,) = world.keeping.kept
    for name in list(kept.tables):
        kept.drop(name)
    world.commit((7, 1, 7, 0))

    def fail(text: str, *_: object) -> pa.Table:
        raise OperationalError("a block of a checkpoint was not found")

    world.keeping.reading = fail
    report = world.checked(REACH)
    assert "anew: the engine could not follow it (OperationalError)" in report.detail
    assert world.is_clean()


def test_a_recursion_that_has_no_end_any_more_is_refused_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_spark, "MOST_LEVELS", 20)
    world = Left()
    text = (
        "WITH RECURSIVE p(a, n) AS (SELECT g, 0 FROM r WHERE id = 1 UNION SELECT l.x, p.n + 1 FROM p JOIN r l ON l.g = p.a) "
        "SELECT a, n FROM p"
    )
    world.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0)])
    world.checked(text)
    world.commit((3, 3, 1, 0))
    with pytest.raises(NotSupportedError, match="it has not ended after"):
        world.ask(text)
    assert world.is_clean()
    world.warehouse.commit("r", [(1, 1, 2, 0)])
    assert sorted(world.ask(text)[0]) == [(1, 0), (2, 1)]


def test_an_error_of_the_query_is_its_own_and_leaves_nothing() -> None:
    world = Left()
    world.checked(REACH)
    world.commit((7, 1, 7, 0))

    def fail() -> None:
        raise DataError("Division by zero.")

    world.keeping.executing = fail
    with pytest.raises(DataError):
        world.ask(REACH)
    assert world.path.kept_runs.names == frozenset()
    assert world.is_clean()


def test_no_more_is_kept_than_may_be_and_nothing_of_a_closed_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_state, "MOST_RUNS", 2)
    world = Left()
    for name in ("reach", "right", "texts"):
        world.ask(QUERIES[name])
        assert world.is_clean()
    assert len(world.path.kept_runs._runs) == 2
    outcome = world.path.run(Execution(REACH))
    world.path.kept_runs.close()
    assert outcome.stream is not None
    outcome.stream.close()
    assert not any(each.tables for each in world.keeping.kept)


@pytest.mark.usefixtures("copied_at_once")
def test_copies_are_asked_in_the_place_of_tables() -> None:
    world = Left()
    world.warehouse.commit("r", LINKS)
    world.ask(FROM_ONE)
    world.warehouse.commit("r", [*LINKS, (7, 6, 7, 0)])
    assert world.checked(FROM_ONE).detail.endswith("; copied: r by x, g")
    (kept,) = world.keeping.kept
    shown = len(kept.shown)
    for rows in ([*LINKS, (7, 6, 8, 0), (8, 6, 8, 0)], [*LINKS[:3], *LINKS[4:], (8, 6, 8, 0)], [*LINKS, (8, 8, 1, 0)], LINKS):
        world.warehouse.commit("r", rows)
        report = world.checked(FROM_ONE)
        assert report.detail.startswith("followed: ")
        assert "copied" not in report.detail
        assert world.is_clean()
    assert len(kept.shown) == shown


def test_the_time_of_questions_is_added_up_until_copies_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "LEAST_ROWS", 0)
    monkeypatch.setattr(sorting, "SECONDS_PER_ROW", 1e6)
    world = Left()
    world.warehouse.commit("r", LINKS)
    world.ask(FROM_ONE)
    asked = [0.0]
    for node in (7, 8, 9):
        world.commit((node, node - 1, node, 0))
        if node == 9:
            # As much as was asked in all is now what the copies cost.
            monkeypatch.setattr(sorting, "SECONDS_PER_ROW", asked[-1] / 1e3)
        assert ("copied" in world.checked(FROM_ONE).detail) == (node == 9)
        (run,) = world.path.kept_runs._runs.values()
        asked += [state.asked for state in run.states.values()]
    assert asked[0] < asked[1] < asked[2]
    assert asked[3] == 0.0


@pytest.mark.usefixtures("copied_at_once")
def test_copies_with_many_changes_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MOST_CHANGED", 1)
    world = Left()
    world.warehouse.commit("r", LINKS)
    world.ask(FROM_ONE)
    copied = []
    for node in range(7, 12):
        world.commit((node, node - 1, node, 0))
        copied.append("; copied: " in world.checked(FROM_ONE).detail)
        assert world.is_clean()
    assert copied == [True, False, True, False, True]


@pytest.mark.usefixtures("copied_at_once")
def test_a_copy_that_cannot_be_made_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:

    def fails(self: Watched, name: str, query: str, by: str) -> None:
        raise OperationalError("no room")

    monkeypatch.setattr(Watched, "sort", fails)
    world = Left()
    world.warehouse.commit("r", LINKS)
    world.ask(FROM_ONE)
    for node in (7, 8):
        world.commit((node, node - 1, node, 0))
        assert world.checked(FROM_ONE).detail.startswith("followed: ")
        assert world.is_clean()
