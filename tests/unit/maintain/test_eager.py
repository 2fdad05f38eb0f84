"""The eager worker without a JVM: what it maintains ahead of the queries, what it leaves to them, and that no thread is left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.errors import OperationalError
from imp_driver.maintain import eager
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import ResultStream
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.state.maintained import Maintained
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import ChangePlan, ChangesUnavailable, TableSnapshot, ZSet
from tests.soundness.engine import DuckSession, Row, TableStream, Warehouse

SUMS = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 3"
JOIN = "SELECT r.g, count(*) AS f FROM r JOIN s ON r.g = s.k GROUP BY r.g HAVING count(*) > 13"
PATIENT = 30.0


@pytest.fixture(autouse=True)
def _only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the worker look at the tables only when a test says so."""
    monkeypatch.setattr(eager, "POLL_SECONDS", 3_600.0)


class Counting(Warehouse):
    """A warehouse that says how many rows a change has, and fails where a test wants it to."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal: Exception | None = None
        self.relation: str | None = None
        self.lost = 0

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        if isinstance(self.refusal, ChangesUnavailable):
            raise self.refusal
        rows = abs(len(self.history[location[1:]][to_version]) - len(self.history[location[1:]][from_version]))
        return ChangePlan(location, from_version, to_version, DeltaSource.CHANGE_FEED, rows, self.relation)

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        if self.refusal is not None:
            raise self.refusal
        found = Warehouse.read(self, plan, columns)
        return ZSet(found.rows.slice(self.lost), found.weights[self.lost :])


class SharedSession(DuckSession):
    """A session whose engine serves others too; every INSERT adds one row to ``r``."""

    def execute(self, execution: Execution) -> ResultStream:
        if execution.text.startswith("INSERT"):
            self.warehouse.commit("r", [*self.warehouse.rows("r"), (60, 3, 0, 100)])
            return TableStream(pa.schema([]), [])
        return super().execute(execution)

    def close(self) -> None:
        return None


class Opened:
    """A warehouse with one eager connection."""

    def __init__(self, batch: int | None) -> None:
        self.warehouse = Counting()
        self.warehouse.commit("r", [(number, number % 10, number % 3, number % 5) for number in range(60)])
        self.warehouse.commit("s", [(number, number % 10, 0, 1) for number in range(20)])
        self.time = 0.0
        self.sketches = Sketches(Relations(self.warehouse, 1 << 30))
        self.sketches.relations.eager._clock = lambda: self.time
        self.session = SharedSession(self.warehouse)
        self.middleware = self.connect(batch)

    def connect(self, batch: int | None) -> Middleware:
        return Middleware(self.session, self.warehouse, self.sketches, Options(answers=False, sketch=SketchMode.EAGER, eager_batch=batch))

    def ask(self, text: str = SUMS) -> SketchReport:
        """Run a query; its rows must be those of the plain one."""
        outcome = self.middleware.run(Execution(text))
        assert outcome.stream is not None
        batches = []
        while (batch := outcome.stream.next_batch()) is not None:
            batches.append(batch)
        rows = pa.Table.from_batches(batches, outcome.stream.schema).to_pylist()
        plain = self.warehouse.query(text).to_pylist()
        assert sorted(map(repr, rows)) == sorted(map(repr, plain))
        return outcome.report

    def insert(self, *rows: Row, table: str = "r") -> None:
        self.warehouse.commit(table, [*self.warehouse.rows(table), *rows])

    def settle(self) -> None:
        assert self.sketches.relations.eager.settle(PATIENT)

    def wait_for_version(self, version: int) -> None:
        deadline = time.monotonic() + PATIENT
        while self.entry.version != version and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.entry.version == version

    def shown(self) -> dict[str, Any]:
        """Return the only row of SHOW SKETCHES."""
        stream = self.middleware.run(Execution("SHOW SKETCHES")).stream
        assert stream is not None
        batch = stream.next_batch()
        assert batch is not None
        [row] = batch.to_pylist()
        return dict(row)

    @property
    def entry(self) -> Maintained:
        [entry] = self.sketches.relations.registry.relations()
        return entry


@contextmanager
def opened(batch: int | None = 1) -> Iterator[Opened]:
    found = Opened(batch)
    try:
        yield found
    finally:
        found.middleware.close()
        assert _workers() == []


def _workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "imp-eager"]


def test_the_worker_is_first_and_the_query_finds_its_sketch_fresh() -> None:
    with opened() as world:
        assert world.ask().decision is Decision.CAPTURED
        world.insert((60, 3, 0, 100))
        assert world.shown()["behind_versions"] == 1
        world.settle()
        row = world.shown()
        assert (row["behind_versions"], row["eager_steps"], row["maintained"], row["eager_problem"]) == (0, 1, 1, None)
        report = world.ask()
        assert (report.decision, report.version) == (Decision.FRESH, 1)
        counted = world.sketches.relations.metrics.snapshot()
        assert counted.counters["imp_maintenance_steps_total", ("background",)] == 1
        assert counted.counters["imp_delta_rows_total", ("background",)] == 1
        assert ("imp_maintenance_steps_total", ("query",)) not in counted.counters
        assert sum(counted.distributions["imp_background_step_seconds", ()].counts) == 1


def test_nothing_is_done_until_enough_rows_wait() -> None:
    with opened(batch=3) as world:
        world.ask()
        for number in range(2):
            world.insert((60 + number, 3, 0, 1))
            world.settle()
        assert (world.shown()["behind_versions"], world.shown()["eager_steps"]) == (2, 0)
        world.insert((62, 4, 0, 1))
        world.settle()
        assert (world.shown()["behind_versions"], world.shown()["eager_steps"], world.shown()["delta_rows"]) == (0, 1, 3)


def test_a_query_that_comes_first_maintains_by_itself() -> None:
    with opened(batch=100) as world:
        world.ask()
        world.insert((60, 3, 0, 100))
        world.settle()
        assert world.ask().decision is Decision.MAINTAINED
        assert world.shown()["eager_steps"] == 0


def test_by_default_the_batch_is_not_a_single_row() -> None:
    with opened(batch=None) as world:
        world.ask()
        world.insert((60, 3, 0, 100))
        world.settle()
        assert world.shown()["eager_steps"] == 0
        world.insert(*((61 + number, 3, 0, 1) for number in range(60)))
        world.settle()
        assert world.shown()["eager_steps"] == 1


def test_an_entry_that_is_not_used_any_more_is_left_alone() -> None:
    with opened() as world:
        world.ask()
        world.time = 3_600.0
        world.insert((60, 3, 0, 100))
        world.settle()
        assert world.shown()["eager_steps"] == 0
        assert world.ask().decision is Decision.MAINTAINED
        world.insert((61, 3, 0, 100))
        world.settle()
        assert world.ask().decision is Decision.FRESH


@pytest.mark.parametrize("harm", ["useless", "disabled"])
def test_a_sketch_that_is_not_wanted_is_left_alone(harm: str) -> None:
    with opened() as world:
        report = world.ask()
        if harm == "useless":
            world.entry.costs._useless = 3
        else:
            world.sketches.relations.guard.record((report.template or "",), "other rows")
        world.insert((60, 3, 0, 100))
        world.settle()
        assert world.shown()["eager_steps"] == 0


def _refuse(world: Opened) -> None:
    world.warehouse.refusal = ChangesUnavailable(RecaptureReason.HISTORY_GONE, "vacuumed")


def _by_engine(world: Opened) -> None:
    world.warehouse.relation = "(SELECT * FROM r)"


def _unreadable(world: Opened) -> None:
    world.warehouse.refusal = OSError("the disk is gone")


def _lose_rows(world: Opened) -> None:
    world.warehouse.lost = 1


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_refuse, "left to the next query: vacuumed"),
        (_by_engine, "left to the next query: the changed rows can only be had by a query"),
        (_unreadable, "OSError: the disk is gone"),
        (_lose_rows, "left to the next query: expected 61 rows"),
    ],
)
def test_what_the_worker_cannot_do_is_left_to_the_query_with_the_state_as_it_was(harm: Callable[[Opened], None], words: str) -> None:
    with opened() as world:
        world.ask()
        state, before = world.entry.state, _content(world.entry)
        world.insert((60, 3, 0, 100), (61, 4, 0, 100))
        harm(world)
        world.settle()
        assert world.entry.state is state
        assert (world.entry.version, _content(world.entry)) == (0, before)
        assert str(world.shown()["eager_problem"]).startswith(words)
        problem = "left" if words.startswith("left") else "failed"
        assert world.sketches.relations.metrics.snapshot().counters["imp_background_problems_total", (problem,)] == 1
        world.warehouse.refusal, world.warehouse.relation, world.warehouse.lost = None, None, 0
        world.settle()
        assert world.shown()["eager_steps"] == 0
        assert world.ask().decision is Decision.MAINTAINED
        world.insert((62, 3, 0, 1))
        world.settle()
        assert (world.shown()["eager_steps"], world.shown()["eager_problem"]) == (1, None)


def _content(entry: Maintained) -> dict[str, list[object]]:
    assert entry.state is not None
    return {name: column.to_pylist() for name, column in entry.state.snapshot().items()}


def test_a_state_that_a_step_has_spoilt_is_captured_by_the_next_query() -> None:
    with opened() as world:
        world.ask()
        world.insert((60, 3, 0, 100))
        read = world.warehouse.read
        # A group that never was loses a row, another one has it twice: the row count is right, the groups are not.
        rows = pa.table({"g": pa.array([77, 3, 3], pa.int32()), "a": pa.array([1, 100, 100], pa.int32())})
        world.warehouse.read = lambda plan, columns: ZSet(rows.select(columns), np.array([-1, 1, 1]))  # type: ignore[method-assign]
        world.settle()
        world.warehouse.read = read  # type: ignore[method-assign]
        assert "left to the next query" in world.shown()["eager_problem"]
        world.insert((61, 3, 0, 1))
        world.settle()
        assert world.shown()["eager_steps"] == 0
        report = world.ask()
        assert (report.decision, report.recapture_reason) == (Decision.RECAPTURED, RecaptureReason.CHANGES_CONTRADICT)
        assert world.ask().decision is Decision.FRESH


def test_a_step_that_breaks_in_the_middle_leaves_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: CutGroups, delta: object) -> int:
        raise RuntimeError("a bug")

    with opened() as world:
        world.ask()
        world.insert((60, 3, 0, 100))
        with monkeypatch.context() as patch:
            patch.setattr(CutGroups, "apply", broken)
            world.settle()
        assert world.entry.state is None
        assert world.shown()["eager_problem"] == "RuntimeError: a bug"
        assert world.ask().decision is Decision.CAPTURED
        world.insert((61, 3, 0, 100))
        world.settle()
        assert world.ask().decision is Decision.FRESH


def test_changes_of_a_join_are_made_once_its_tables_are_in_memory() -> None:
    with opened() as world:
        world.ask(JOIN)
        for number, expected in enumerate((Decision.FRESH, Decision.MAINTAINED, Decision.FRESH, Decision.FRESH)):
            world.insert((60 + number, 3, 0, 1), table="r" if number % 2 else "s")
            world.settle()
            assert world.ask(JOIN).decision is expected
        joined = world.session.joined
        assert joined <= 1
        assert world.shown()["eager_steps"] == 3


def test_a_cut_that_rests_on_facts_is_proven_anew_when_the_worker_was_ahead() -> None:
    text = "SELECT x, sum(a) AS f FROM r GROUP BY x HAVING sum(a) > 60"
    with opened() as world:
        world.insert(*((number, 30, number % 3, 4) for number in range(60, 80)))
        reports = [world.ask(text) for _ in range(3)]
        assert [report.decision for report in reports] == [Decision.NOT_USED, Decision.CAPTURED, Decision.FRESH]
        assert reports[-1].attribute == "id"
        snapshot = world.warehouse.snapshot

        def changing(location: str) -> TableSnapshot:
            found = snapshot(location)
            world.warehouse.snapshot = snapshot  # type: ignore[method-assign]
            # A sum may fall now, so that half a group may pass where the whole does not.
            world.insert((80, 31, 1, -30))
            world.settle()
            return found

        world.warehouse.snapshot = changing  # type: ignore[method-assign]
        # Of these constants there is no sketch of the version that the query saw.
        report = world.ask(text.replace("60", "61"))
        assert world.entry.version == 2
        assert (report.decision, report.reason) == (Decision.NOT_USED, Reason.NOT_SAFE)


def test_a_query_that_the_worker_overtook_gets_the_sketch_of_the_version_that_it_saw() -> None:
    with opened() as world:
        world.ask()
        world.insert((60, 3, 0, 100))
        assert world.ask().decision in (Decision.FRESH, Decision.MAINTAINED)
        snapshot = world.warehouse.snapshot

        def changing(location: str) -> TableSnapshot:
            found = snapshot(location)
            world.warehouse.snapshot = snapshot  # type: ignore[method-assign]
            world.insert((61, 3, 0, 100))
            world.settle()
            return found

        world.warehouse.snapshot = changing  # type: ignore[method-assign]
        outcome = world.middleware.run(Execution(SUMS))
        assert world.entry.version == 2
        assert outcome.report.decision is Decision.FRESH
        assert outcome.report.executed_sql is not None
        assert "VERSION AS OF 1" in outcome.report.executed_sql


def test_an_entry_that_a_query_holds_is_not_waited_for() -> None:
    with opened() as world:
        world.ask()
        with world.entry.ownership.held():
            world.insert((60, 3, 0, 100))
            world.settle()
            assert world.entry.version == 0
        world.settle()
        assert world.entry.version == 1


def test_a_table_that_cannot_be_looked_up_hurts_no_other_entry() -> None:
    with opened() as world:
        world.ask()
        world.ask("SELECT k, sum(b) AS f FROM s GROUP BY k HAVING sum(b) > 1")
        world.insert((60, 3, 0, 100))
        world.insert((60, 3, 0, 100), table="s")
        snapshot = world.warehouse.snapshot

        def broken(location: str) -> Any:
            if location == "/s":
                raise OperationalError("no such folder")
            return snapshot(location)

        world.warehouse.snapshot = broken  # type: ignore[method-assign]
        world.settle()
        problems = {
            entry.identity.table: world.sketches.relations.eager.ahead(entry).problem
            for entry in world.sketches.relations.registry.relations()
        }
        assert problems == {"r": "", "s": "OperationalError: no such folder"}
        world.warehouse.snapshot = snapshot  # type: ignore[method-assign]
        assert world.ask().decision is Decision.FRESH


def test_commits_of_others_are_noticed_without_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager, "POLL_SECONDS", 0.01)
    with opened() as world:
        world.ask()
        world.insert((60, 3, 0, 100))
        world.wait_for_version(1)


def test_a_statement_that_commits_wakes_the_worker() -> None:
    with opened() as world:
        world.ask()
        world.middleware.run(Execution("INSERT INTO r VALUES (60, 3, 0, 100)"))
        world.wait_for_version(1)


def test_connections_share_one_worker_which_ends_with_the_last() -> None:
    with opened() as world:
        second = world.connect(100)
        assert len(_workers()) == 1
        for _ in range(2):
            # Closing twice counts once.
            second.close()
        assert len(_workers()) == 1
        world.ask()
        world.insert((60, 3, 0, 100))
        world.settle()
        assert world.entry.version == 1
    assert world.sketches.relations.eager.settle(PATIENT) is False
    world.sketches.relations.eager.wake()
    assert _workers() == []


def test_a_worker_may_be_started_again() -> None:
    with opened() as world:
        world.ask()
        world.middleware.close()
        assert _workers() == []
        world.middleware = world.connect(1)
        world.insert((60, 3, 0, 100))
        world.settle()
        assert world.entry.version == 1


@pytest.mark.parametrize("mode", [SketchMode.LAZY, SketchMode.SHADOW, SketchMode.OFF])
def test_other_modes_have_no_worker(mode: SketchMode) -> None:
    warehouse = Warehouse()
    Middleware(DuckSession(warehouse), warehouse, Sketches(Relations(warehouse, 1 << 30)), Options(answers=False, sketch=mode))
    assert _workers() == []
