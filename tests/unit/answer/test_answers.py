"""Answers through the whole driver, without a JVM: what they cost, who gets them, and what is done where there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from imp_driver.maintain import relations
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.parse.literals import bind_text
from imp_driver.ports import ResultShape, ResultStream
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.state.returning import FEWEST
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.option_kinds import Policy, RowRules, SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.soundness.engine import DuckSession, Files, Row, Warehouse, drained

ROWS: list[Row] = [(1, 0, 5, 1), (2, 0, 6, 2), (3, 1, 5, 3), (4, 1, None, None), (5, None, 7, 4)]
QUERY = "SELECT g, sum(a) AS s, count(*) AS n FROM r GROUP BY g"


def _bound(execution: Execution) -> Execution:
    return execution.of(bind_text(execution.text, execution.parameters)) if execution.parameters else execution


@dataclass(slots=True)
class Asked(DuckSession):
    """Counts what Spark would be asked for."""

    executed: list[str] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    rules: bool = False

    def execute(self, execution: Execution) -> ResultStream:
        self.executed.append(execution.text)
        return DuckSession.execute(self, _bound(execution))

    def describe(self, execution: Execution) -> ResultShape:
        self.described.append(execution.text)
        return DuckSession.describe(self, _bound(execution))

    def may_read(self, name: tuple[str, ...]) -> bool:
        return name[-1] not in self.hidden

    def has_row_rules(self) -> bool:
        return self.rules


class World:
    """A warehouse with one connection."""

    def __init__(self, **options: Any) -> None:
        self.warehouse = Warehouse()
        self.warehouse.commit("r", ROWS)
        self.warehouse.commit("s", [(1, 0, 1, 1)])
        self.session = Asked(self.warehouse)
        self.sketches = Sketches(Relations(self.warehouse, 1 << 30))
        # What is asked once is captured all the same.
        given = {"answers": True, "policy": Policy.INCREMENTAL, **options}
        self.path = Middleware(self.session, self.warehouse, self.sketches, Options(**given))

    def ask(self, text: str, parameters: Parameters = None) -> tuple[list[tuple[object, ...]], SketchReport]:
        outcome = self.path.run(Execution(text, parameters))
        return [tuple(row.values()) for row in drained(outcome.stream)], outcome.report

    def checked(self, text: str) -> SketchReport:
        """Run a query; its rows must be those of the plain one, in its order where it has one."""
        rows, report = self.ask(text)
        expected = [tuple(row.values()) for row in self.warehouse.query(text).to_pylist()]
        assert (rows == expected) if "ORDER BY" in text else Counter(rows) == Counter(expected), text
        return report

    def commit(self, *rows: Row) -> None:
        self.warehouse.commit("r", [*self.warehouse.rows("r"), *rows])


@contextmanager
def few_bytes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(relations, "FIRST_BYTES", 1)
        patch.setattr(relations, "FIRST_SHARE", 0.0)
        yield


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a AS g, g AS x, count(*) AS n FROM r GROUP BY a, g ORDER BY 2 DESC NULLS LAST, 1 LIMIT 2",
        "SELECT max(a) AS g, g AS x FROM r GROUP BY r.g ORDER BY 2 NULLS FIRST LIMIT 2",
        "SELECT sum(a) AS g, g AS x, count(*) AS a FROM r GROUP BY 2 ORDER BY 2 DESC NULLS LAST",
        "SELECT sum(a) AS s, g FROM r GROUP BY g ORDER BY (1) DESC, ((2)) NULLS LAST LIMIT 2",
        "SELECT * FROM (SELECT g, sum(a) AS s, count(*) AS n FROM r GROUP BY g) ORDER BY 3 DESC, 2 NULLS LAST, 1 NULLS LAST LIMIT 2",
        "SELECT s AS n, q.*, n AS s FROM (SELECT g, sum(a) AS s, count(*) AS n FROM r GROUP BY g) q ORDER BY 5, 4, 2 NULLS LAST LIMIT 2",
    ],
)
def test_a_position_is_the_item_of_the_select_list_whatever_others_are_called(query: str) -> None:
    world = World()
    assert world.checked(query).served_by is ServedBy.STATE


def test_rows_come_from_the_capture_then_from_memory_then_from_the_change() -> None:
    world = World()
    rows, report = world.ask(f"{QUERY} ORDER BY g")
    assert rows == [(None, 4, 1), (0, 3, 2), (1, 3, 2)]
    assert (report.decision, report.reason, report.served_by) == (Decision.CAPTURED, Reason.ANSWERED, ServedBy.STATE)
    rows, report = world.ask(f"{QUERY} HAVING sum(a) > 3")
    assert rows == [(None, 4, 1)]
    assert report.decision is Decision.FRESH
    world.commit((6, 1, 0, 10))
    rows, report = world.ask(f"{QUERY} ORDER BY s DESC LIMIT 1")
    assert rows == [(1, 13, 3)]
    assert (report.decision, report.delta_rows, report.version, report.executed_sql) == (Decision.MAINTAINED, 1, 1, "")
    assert world.session.executed == []


def test_an_aggregate_of_all_rows_has_a_row_when_there_are_none() -> None:
    world = World()
    text = "SELECT count(*), count(a), sum(a), max(x) FROM r WHERE a > 0"
    assert world.ask(text)[0] == [(4, 4, 10, 7)]
    world.warehouse.commit("r", [])
    rows, report = world.ask(text)
    assert rows == [(0, 0, None, None)]
    assert (report.decision, report.served_by) == (Decision.MAINTAINED, ServedBy.STATE)


def test_other_constants_on_keys_need_no_capture_once_two_were_asked_for() -> None:
    world = World()
    decisions = [world.ask("SELECT g, sum(a) AS s FROM r WHERE g = ? GROUP BY g", (value,))[1].decision for value in (0, 1, 0, 1, 7)]
    assert decisions == [Decision.CAPTURED, Decision.CAPTURED, Decision.FRESH, Decision.FRESH, Decision.FRESH]
    assert world.ask("SELECT g, sum(a) AS s FROM r WHERE g = ? GROUP BY g", (1,))[0] == [(1, 3)]


def test_a_state_with_more_aggregates_serves_those_with_fewer() -> None:
    world = World()
    assert world.ask("SELECT g, sum(a) AS s, max(x) AS m, count(*) AS n FROM r GROUP BY g")[1].decision is Decision.CAPTURED
    rows, report = world.ask("SELECT max(x) AS m, g FROM r GROUP BY g ORDER BY g")
    assert rows == [(7, None), (6, 0), (5, 1)]
    assert report.decision is Decision.FRESH


def test_spark_is_asked_for_names_and_types_once_for_all_values() -> None:
    world = World()
    for value in (1, 2, 3):
        world.ask(f"{QUERY} HAVING sum(a) > ?", (value,))
    world.ask(f"{QUERY} HAVING sum(a) > 5")
    world.ask(f"{QUERY} HAVING sum(a) > 6")
    assert len(world.session.described) == 2


def test_many_groups_are_captured_when_they_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    with few_bytes(monkeypatch):
        _, report = world.ask(QUERY)
        assert report.served_by is not ServedBy.STATE
        assert report.not_answered is not None
        assert report.not_answered.reason is Reason.CAPTURE_DEFERRED
        assert world.ask(QUERY)[1].served_by is ServedBy.STATE


def test_who_may_not_read_a_table_gets_no_rows_of_it() -> None:
    world = World()
    assert world.ask(QUERY)[1].served_by is ServedBy.STATE
    world.session.hidden = {"r"}
    report = world.ask(QUERY)[1]
    assert (report.served_by, report.not_answered and report.not_answered.reason) == (ServedBy.SPARK, Reason.NOT_PERMITTED)
    world.session.hidden, world.session.rules = set(), True
    report = world.ask(QUERY)[1]
    assert (report.served_by, report.not_answered and report.not_answered.reason) == (ServedBy.SPARK, Reason.NOT_PERMITTED)


def test_an_engine_that_is_promised_to_have_no_rules_of_its_own() -> None:
    world = World(row_rules=RowRules.NONE)
    world.session.rules = True
    assert world.ask(QUERY)[1].served_by is ServedBy.STATE
    world.session.hidden = {"r"}
    assert world.ask(QUERY)[1].served_by is ServedBy.SPARK


@pytest.mark.parametrize("options", [{"sketch": SketchMode.OFF}, {"sketch": SketchMode.LAZY, "answers": False}])
def test_nothing_is_answered_where_it_is_switched_off(options: dict[str, Any]) -> None:
    world = World()
    world.path = Middleware(world.session, world.warehouse, world.sketches, Options(**{"answers": True, **options}))
    report = world.ask(QUERY)[1]
    assert (report.served_by, report.not_answered) == (ServedBy.SPARK, None)
    assert world.session.executed == [QUERY]


def test_a_wrong_state_is_found_by_the_guard_and_dropped() -> None:
    world = World(sketch_guard=1.0)
    world.ask(QUERY)
    (relation,) = world.sketches.relations.registry.relations()
    state = relation.state
    assert state is not None
    state._rows[0] += 1
    relation.columns.clear()
    rows, report = world.ask(f"{QUERY} ORDER BY g")
    assert rows == [(None, 4, 1), (0, 3, 2), (1, 3, 2)]
    assert report.reason is Reason.TEMPLATE_DISABLED
    assert world.sketches.relations.registry.relations() == ()


def test_shadow_mode_leaves_ties_to_spark() -> None:
    world = World(sketch=SketchMode.SHADOW)
    assert world.ask(f"{QUERY} ORDER BY n LIMIT 1")[1].served_by is ServedBy.STATE
    report = world.ask(f"{QUERY} ORDER BY n DESC LIMIT 1")[1]
    assert report.not_answered is not None
    assert (report.served_by, report.not_answered.detail.split(";")[0]) == (ServedBy.SPARK, "rows tie where a LIMIT ends")


def test_explain_says_where_the_rows_would_come_from() -> None:
    world = World()
    lines = [str(row[0]) for row in world.ask(f"EXPLAIN SKETCH {QUERY}")[0]]
    assert lines[0].startswith("Answered from groups")
    assert lines[1].endswith("to be captured")
    world.ask(QUERY)
    lines = [str(row[0]) for row in world.ask(f"EXPLAIN SKETCH {QUERY}")[0]]
    assert "at version 0" in lines[1]
    lines = [str(row[0]) for row in world.ask("EXPLAIN SKETCH SELECT g FROM r WHERE a > 1")[0]]
    assert lines[1] == "  different rows of `g`: to be kept when they are asked for again"
    lines = [str(row[0]) for row in world.ask("EXPLAIN SKETCH SELECT 1 AS one FROM r WHERE a > 1")[0]]
    assert lines[:2] == ["Not answered from groups.", f"  reason: ROWS_WITHOUT_GROUPS: {Reason.ROWS_WITHOUT_GROUPS.value}"]


def test_advice_lists_what_was_asked_and_why_it_was_not_answered() -> None:
    world = World()
    for number in (1, 2):
        world.ask(f"{QUERY} HAVING sum(a) > {number}")
    world.ask("WITH q AS (SELECT id FROM s WHERE k = 77) SELECT id FROM q")
    rows = {str(row[0]): row[1:] for row in world.ask("ADVISE ANSWERS")[0]}
    (answered,) = (row for text, row in rows.items() if "HAVING" in text)
    assert (answered[:2], answered[3:]) == ((2, 2), ("STATE", None, None))
    (left,) = (row for text, row in rows.items() if "WITH" in text)
    assert (left[:2], left[3:5]) == ((1, 0), ("SPARK", "ROWS_WITHOUT_GROUPS"))
    assert not any("77" in text for text in rows)
    world.session.hidden = {"s"}
    assert [text for text, *_ in world.ask("ADVISE ANSWERS")[0] if "WITH" in str(text)] == []


def test_an_answer_reads_no_statistics_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a commit they may be somewhere in the log, and reading them takes longer than the answer."""
    world = World()
    world.ask(QUERY)

    def read(files: Files) -> None:
        raise AssertionError("statistics of files are read")

    monkeypatch.setattr(Files, "sizes", property(read))
    assert world.ask(QUERY)[1].served_by is ServedBy.STATE


@pytest.mark.parametrize("key", ["0", "1", "3", "-2", "(9)", "2.5", "'c'"])
def test_a_number_among_the_keys_is_no_place_of_a_column(key: str) -> None:
    world = World()
    text = f"SELECT count(*) AS n, max(c) AS c FROM (SELECT DISTINCT {key} AS c, g, x FROM r) q"
    assert world.checked(text).decision is Decision.CAPTURED
    world.commit((9, 7, 7, 7))
    assert world.checked(text).served_by is ServedBy.STATE


def test_where_queries_are_asked_once_groups_are_captured_the_second_time() -> None:
    world = World(policy=Policy.AUTO)
    texts = [f"SELECT {key}, sum({value}) AS s FROM r GROUP BY {key}" for key in ("g", "a") for value in ("x", "id", "x + id")]
    served = [world.checked(text) for text in texts]
    assert [each.served_by for each in served] == [ServedBy.STATE] * (FEWEST - 1) + [ServedBy.SPARK] * (len(texts) - FEWEST + 1)
    assert served[-1].not_answered is not None
    assert served[-1].not_answered.reason is Reason.ASKED_ONCE
    assert world.checked(texts[-1]).served_by is ServedBy.STATE
    assert world.checked(texts[-1]).decision is Decision.FRESH
    for text in texts[:2]:
        assert world.checked(text).decision is Decision.FRESH
    # Now that some come back a new one is likely to.
    assert world.checked("SELECT g, count(*) AS c, min(x) AS lo FROM r GROUP BY g").decision is Decision.CAPTURED
