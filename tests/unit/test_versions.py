"""Readers of old versions without a JVM: clauses in the text, transactions, the option, and that each gets the rows of its version."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from imp_driver.errors import CANCELLED, CONNECTION_LOST, Error, InterfaceError, NotSupportedError, OperationalError, ProgrammingError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.parse.statement import parse
from imp_driver.parse.time_travel import Asked, time_travel
from imp_driver.ports import Outcome, Relation, RelationKind, ResultStream
from imp_driver.reasons import Decision, Reason
from imp_driver.snapshot.versions import Newest, TextVersions
from imp_driver.url import options_from_url
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.refusal import Refused
from tests.soundness.engine import DuckSession, TableStream, Warehouse

SUMS = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 3"
PLAIN = "SELECT count(*) AS n FROM r"


class Session(DuckSession):
    """A session that can insert one row and look at settings; its engine outlives it."""

    def execute(self, execution: Execution) -> ResultStream:
        if execution.text.startswith("INSERT"):
            table = execution.text.split()[2]
            self.warehouse.commit(table, [*self.warehouse.rows(table), (60, 3, 0, 100)])
            self.committed = self.warehouse.newest(table)
            return TableStream(pa.schema([]), [])
        if execution.text.startswith(("SET", "CREATE")):
            return TableStream(pa.schema([]), [])
        return super().execute(execution)

    committed: int | None = None

    def last_commit_version(self) -> int | None:
        return self.committed

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        if name == ("csv",):
            return Relation(RelationKind.OTHER_TABLE, name, "/csv")
        return super().resolve(name) if name[-1] in self.warehouse.history else None

    def close(self) -> None:
        return None


class World:
    """A warehouse with two tables of three versions each, at times 10, 20 and 30."""

    def __init__(self) -> None:
        self.warehouse = Warehouse()
        rows = [(number, number % 10, number % 3, number % 5) for number in range(60)]
        for time, end in ((10.0, 40), (20.0, 50), (30.0, 60)):
            self.warehouse.now = time
            self.warehouse.commit("r", rows[:end])
            self.warehouse.commit("s", [(number, number % 10, 0, 1) for number in range(end)])
        self.warehouse.now = 40.0
        self.sketches = Sketches(Relations(self.warehouse, 1 << 30))
        self.path = self.connect()

    def connect(self, snapshot: float | None = None, mode: SketchMode = SketchMode.SHADOW) -> Middleware:
        session = Session(self.warehouse)
        path = Middleware(session, self.warehouse, self.sketches, replace(Options(answers=False, sketch=mode), snapshot=snapshot))
        path._transaction._clock = lambda: self.warehouse.now
        return path

    def ask(self, text: str = SUMS, path: Middleware | None = None) -> tuple[Outcome, list[dict[str, Any]]]:
        outcome = (path or self.path).run(Execution(text))
        assert outcome.stream is not None
        batches = []
        while (batch := outcome.stream.next_batch()) is not None:
            batches.append(batch)
        return outcome, sorted(pa.Table.from_batches(batches, outcome.stream.schema).to_pylist(), key=repr)

    def plain(self, text: str) -> list[dict[str, Any]]:
        return sorted(self.warehouse.query(text).to_pylist(), key=repr)

    def count(self, path: Middleware | None = None) -> int:
        return int(self.ask(PLAIN, path)[1][0]["n"])


@pytest.fixture
def world() -> Iterator[World]:
    found = World()
    yield found
    found.path.close()


def _at(version: int, text: str = SUMS) -> str:
    return text.replace("FROM r", f"FROM r VERSION AS OF {version}")


def test_an_old_version_has_the_sketch_that_was_made_for_it(world: World) -> None:
    assert world.ask()[0].report.decision is Decision.CAPTURED
    world.warehouse.commit("r", world.warehouse.rows("r")[5:])
    assert world.ask()[0].report.decision is Decision.MAINTAINED
    outcome, rows = world.ask(_at(2))
    assert (outcome.report.decision, outcome.report.version) == (Decision.FRESH, 2)
    assert rows == world.plain(_at(2)) != world.plain(SUMS)
    assert outcome.report.executed_sql is not None
    assert "VERSION AS OF 2 WHERE" in outcome.report.executed_sql


def test_an_old_version_without_a_sketch_runs_unchanged(world: World) -> None:
    for _ in range(2):
        world.ask()
        outcome, rows = world.ask(_at(1))
        assert (outcome.report.reason, outcome.report.executed_sql) == (Reason.OLD_VERSION, _at(1))
        assert rows == world.plain(_at(1))
    assert world.ask()[0].report.decision is Decision.FRESH


def test_nothing_is_captured_for_an_old_version(world: World) -> None:
    assert world.ask(_at(0))[0].report.reason is Reason.OLD_VERSION
    assert world.ask()[0].report.decision is Decision.CAPTURED


def test_the_newest_version_by_its_number_shares_the_state(world: World) -> None:
    world.ask()
    outcome, rows = world.ask(_at(2))
    assert outcome.report.decision is Decision.FRESH
    assert rows == world.plain(SUMS)


def test_an_old_version_beyond_the_state_is_maintained_for(world: World) -> None:
    world.ask()
    world.warehouse.commit("r", world.warehouse.rows("r")[5:])
    world.warehouse.commit("r", world.warehouse.rows("r")[5:])
    outcome, rows = world.ask(_at(3))
    assert (outcome.report.decision, outcome.report.version) == (Decision.MAINTAINED, 3)
    assert rows == world.plain(_at(3))
    assert world.ask()[0].report.decision is Decision.MAINTAINED


def test_several_old_versions_are_kept_and_each_has_its_own_rows(world: World) -> None:
    world.ask()
    for number in range(4):
        world.warehouse.commit("r", [*world.warehouse.rows("r")[3:], (70 + number, number, 1, 40)])
        world.ask()
    decisions = []
    for version in range(2, 7):
        outcome, rows = world.ask(_at(version))
        assert rows == world.plain(_at(version))
        decisions.append(outcome.report.decision)
    assert decisions == [Decision.FRESH] * 5


def test_one_table_at_two_versions_is_left_to_spark(world: World) -> None:
    world.ask()
    text = "SELECT g, sum(a) AS f FROM r VERSION AS OF 1 WHERE g IN (SELECT g FROM r) GROUP BY g HAVING sum(a) > 3"
    outcome, rows = world.ask(text)
    assert outcome.report.reason is Reason.TIME_TRAVEL
    assert outcome.report.executed_sql == text
    assert rows == world.plain(text)


def test_a_version_that_is_not_there_is_for_spark_to_refuse(world: World) -> None:
    with pytest.raises(Exception, match=r"r__9|version 9"):
        world.ask(_at(9))


@pytest.mark.parametrize(
    ("text", "asked", "rest"),
    [
        ("SELECT * FROM t VERSION AS OF 3", {("t",): Asked(version=3)}, "SELECT * FROM t"),
        ("SELECT * FROM T  for version  as of 3 x WHERE a = ?", {("t",): Asked(version=3)}, "SELECT * FROM T x WHERE a = ?"),
        ("SELECT ? FROM s.t VERSION AS OF 12 AS t", {("s", "t"): Asked(version=12)}, "SELECT ? FROM s.t AS t"),
        ("SELECT * FROM t TIMESTAMP AS OF '2026-01-02'", {("t",): Asked(time="'2026-01-02'")}, "SELECT * FROM t"),
        (
            "SELECT * FROM t VERSION AS OF 3 JOIN u TIMESTAMP AS OF '2026-01-02T03:04:05Z' ON t.a = u.a",
            {("t",): Asked(version=3), ("u",): Asked(time="'2026-01-02T03:04:05Z'")},
            "SELECT * FROM t JOIN u ON t.a = u.a",
        ),
    ],
)
def test_clauses_are_taken_out(text: str, asked: Mapping[tuple[str, ...], Asked], rest: str) -> None:
    found = time_travel(parse(text))
    assert found is not None
    assert found.asked == asked
    assert found.statement.text == rest


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t VERSION AS OF '3'",
        "SELECT * FROM t VERSION AS OF 3.5",
        "SELECT * FROM t VERSION /* */ AS OF 3",
        "SELECT * FROM t TIMESTAMP AS OF current_timestamp()",
        "SELECT * FROM t TIMESTAMP AS OF '2026' || '-01-01'",
        "SELECT * FROM t TIMESTAMP AS OF 'yesterday'",
        "SELECT * FROM t VERSION AS OF 3 JOIN t AS u ON t.a = u.a",
        "SELECT * FROM t VERSION AS OF 3 JOIN T VERSION AS OF 4 u ON t.a = u.a",
    ],
)
def test_other_forms_are_left_to_spark(text: str) -> None:
    statement = parse(text)
    if statement.tree is not None:
        found = None
        with pytest.raises(Refused, match="TIME_TRAVEL"):
            found = time_travel(statement)
        assert found is None


def _of_time(answer: int | Error | None) -> int | None:
    def version_at(name: tuple[str, ...], time: str) -> int | None:
        assert (name, time) == (("T",), "'x'")
        if isinstance(answer, Error):
            raise answer
        return answer

    versions = TextVersions({("t",): Asked(time="'x'")}, Newest(), version_at)
    assert versions.of(("u",), "/u") is None
    return versions.of(("T",), "/t")


def test_a_time_means_the_version_that_the_engine_takes_it_for() -> None:
    assert _of_time(3) == 3


@pytest.mark.parametrize("answer", [None, ProgrammingError("too late", error_class="DELTA_TIMESTAMP_GREATER_THAN_COMMIT")])
def test_a_time_of_which_the_engine_names_no_version_is_left_to_spark(answer: Error | None) -> None:
    with pytest.raises(Refused, match="TIME_TRAVEL"):
        _of_time(answer)


@pytest.mark.parametrize("kind", [CANCELLED, CONNECTION_LOST])
def test_a_query_that_is_cancelled_while_its_time_is_looked_up_ends(kind: str) -> None:
    with pytest.raises(OperationalError):
        _of_time(OperationalError("ended", error_class=kind))


def test_a_transaction_reads_one_moment_with_and_without_sketches(world: World) -> None:
    other = world.connect()
    world.ask()
    world.path.run(Execution("BEGIN"))
    before, total = world.ask()[1], world.count()
    world.warehouse.now = 50.0
    world.warehouse.commit("r", world.warehouse.rows("r")[7:])
    world.warehouse.commit("s", [])
    assert world.ask(path=other)[0].report.decision is Decision.MAINTAINED
    outcome, rows = world.ask()
    assert (rows, outcome.report.decision, outcome.report.version) == (before, Decision.FRESH, 2)
    assert world.count() == total
    # A table that is read for the first time is read as it was when the transaction began.
    assert world.ask("SELECT count(*) AS n FROM s")[1] == [{"n": 60}]
    world.path.run(Execution("COMMIT"))
    assert world.ask("SELECT count(*) AS n FROM s")[1] == [{"n": 0}]
    assert world.ask()[1] == world.plain(SUMS) != before
    other.close()


def test_joins_and_subqueries_of_a_transaction_are_of_one_moment(world: World) -> None:
    world.path.run(Execution("START TRANSACTION READ ONLY;"))
    world.warehouse.now = 50.0
    world.warehouse.commit("s", [])
    text = "SELECT count(*) AS n FROM r JOIN s ON r.g = s.k WHERE r.g IN (SELECT k FROM s) OR EXISTS (SELECT 1 FROM s AS z WHERE z.k = r.g)"
    assert world.ask(text)[1] == world.plain(text.replace("FROM s", "FROM s VERSION AS OF 2").replace("JOIN s", "JOIN s VERSION AS OF 2"))
    with_query = "WITH w AS (SELECT * FROM s) SELECT count(*) AS n FROM w"
    assert world.ask(with_query)[1] == [{"n": 60}]


def test_own_writes_are_seen_in_a_transaction_and_those_of_others_are_not(world: World) -> None:
    other = world.connect()
    world.path.run(Execution("BEGIN"))
    assert world.count() == 60
    world.warehouse.now = 50.0
    other.run(Execution("INSERT INTO s VALUES (1)"))
    world.path.run(Execution("INSERT INTO r VALUES (1)"))
    assert world.count() == 61
    assert world.ask("SELECT count(*) AS n FROM s")[1] == [{"n": 60}]
    with pytest.raises(NotSupportedError, match="what it wrote stays"):
        world.path.run(Execution("ROLLBACK"))
    assert world.ask("SELECT count(*) AS n FROM s")[1] == [{"n": 61}]
    other.close()


def test_a_rollback_of_a_reader_ends_its_transaction(world: World) -> None:
    world.path.run(Execution("BEGIN"))
    world.path.run(Execution("ROLLBACK"))
    with pytest.raises(NotSupportedError, match="no transaction to end"):
        world.path.run(Execution("COMMIT"))


def test_the_end_of_a_transaction_by_the_connection(world: World) -> None:
    world.path.run(Execution("BEGIN"))
    world.warehouse.now = 50.0
    world.warehouse.commit("r", [])
    assert world.count() == 60
    world.path.end_transaction()
    assert world.count() == 0
    past = world.connect(snapshot=25.0)
    past.end_transaction()
    assert world.count(past) == 50
    past.close()


def test_transactions_do_not_nest(world: World) -> None:
    world.path.run(Execution("begin transaction"))
    with pytest.raises(NotSupportedError, match="cannot be nested"):
        world.path.run(Execution("BEGIN"))


@pytest.mark.parametrize("text", ["CREATE TABLE x AS SELECT 1", "TRUNCATE TABLE r", "RESTORE TABLE r TO VERSION AS OF 0", "DROP TABLE r"])
def test_definitions_do_not_run_in_a_transaction(world: World, text: str) -> None:
    world.path.run(Execution("BEGIN"))
    with pytest.raises(NotSupportedError, match=f"{text.split()[0]} cannot run in a transaction"):
        world.path.run(Execution(text))
    world.path.run(Execution("SET spark.sql.shuffle.partitions = 2"))
    world.path.run(Execution("COMMIT"))


@pytest.mark.parametrize("text", ["SELECT count(*) AS n FROM csv", "SELECT * FROM nowhere", "SELECT ** FROM r", "TABLE r"])
def test_what_has_no_version_is_refused_in_a_transaction(world: World, text: str) -> None:
    world.path.run(Execution("BEGIN"))
    with pytest.raises(NotSupportedError, match="transaction"):
        world.path.run(Execution(text))


def test_a_name_of_a_with_query_and_of_a_table_is_refused_in_a_transaction(world: World) -> None:
    world.path.run(Execution("BEGIN"))
    with pytest.raises(NotSupportedError, match="cannot tell them apart"):
        world.path.run(Execution("SELECT (SELECT max(k) FROM s) AS m, (WITH s AS (SELECT 1 AS k) SELECT max(k) FROM s) AS n"))


def test_a_table_that_was_not_there_when_the_transaction_began_is_an_error(world: World) -> None:
    world.warehouse.now = 5.0
    world.path.run(Execution("BEGIN"))
    with pytest.raises(OperationalError, match="no version of"):
        world.path.run(Execution(PLAIN))


def test_the_option_reads_the_past_and_cannot_write(world: World) -> None:
    past = world.connect(snapshot=25.0)
    assert world.count(past) == 50
    assert world.ask(SUMS, past)[1] == world.plain(_at(1))
    with pytest.raises(NotSupportedError, match="cannot write"):
        past.run(Execution("INSERT INTO r VALUES (1)"))
    with pytest.raises(NotSupportedError, match="cannot be nested"):
        past.run(Execution("BEGIN"))
    past.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-22", "2026-11-22T00:00:00+00:00"),
        ("2026-11-22T08:30:00", "2026-11-22T08:30:00+00:00"),
        ("2026-11-22 08:30:00", "2026-11-22T08:30:00+00:00"),
        ("2026-11-22T08:30:00.5%2B02:00", "2026-11-22T08:30:00.5+02:00"),
        ("2026-11-22T08:30:00+02:00", "2026-11-22T08:30:00+02:00"),
        ("2026-11-22T08:30:00Z", "2026-11-22T08:30:00+00:00"),
    ],
)
def test_the_option_in_a_url(text: str, expected: str) -> None:
    found = options_from_url(f"imp:///w?snapshot={text}").snapshot
    assert found == datetime.datetime.fromisoformat(expected).timestamp()


@pytest.mark.parametrize("text", ["", "yesterday", "25", "2026-13-01"])
def test_a_bad_time_is_an_interface_error(text: str) -> None:
    with pytest.raises(InterfaceError, match="snapshot"):
        options_from_url(f"imp:///w?snapshot={text}")


@pytest.mark.parametrize("text", ["BEGIN; SELECT 1; END", "BEGIN SELECT 1; END", "COMMITTED", "BEGINNING"])
def test_other_texts_are_no_transactions(text: str) -> None:
    assert parse(text).command is None
