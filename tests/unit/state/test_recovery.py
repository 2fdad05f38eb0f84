"""Restarts without a JVM: states and sketches that another process saved, and everything that keeps them from being believed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from imp_driver.errors import OperationalError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.persist.tables import DeltaRepository
from imp_driver.ports import ResultStream
from imp_driver.reasons import Decision, Reason
from imp_driver.state import checkpoint
from imp_driver.state.maintained import Maintained
from imp_driver.state.values import Identity
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.soundness.engine import DuckSession, Row, Warehouse, drained

SUMS = "SELECT g, sum(a) AS f, avg(a) AS m, min(x) AS l, count(DISTINCT x) AS d FROM r GROUP BY g HAVING sum(a) > 3"
JOIN = "SELECT r.g, count(*) AS f FROM r JOIN s ON r.g = s.k GROUP BY r.g HAVING count(*) > 13"
CELLS = "SELECT x, sum(a) AS f FROM r GROUP BY x HAVING sum(a) > 60"


def a_warehouse() -> Warehouse:
    warehouse = Warehouse()
    warehouse.commit("r", [(number, number % 10, number % 3, number % 5) for number in range(60)])
    warehouse.commit("s", [(number, number % 10, 0, 1) for number in range(20)])
    return warehouse


class SharedSession(DuckSession):
    """A session whose engine outlives it."""

    def close(self) -> None:
        return None


class Process:
    """What one process has of a warehouse: its sketches, one connection, its own view of the store."""

    def __init__(self, warehouse: Warehouse, store: Path, *, answers: bool = False) -> None:
        self.warehouse = warehouse
        self.repository = DeltaRepository(str(store))
        self.sketches = Sketches(Relations(warehouse, 1 << 30, self.repository))
        self.session = SharedSession(warehouse)
        self.middleware = Middleware(self.session, warehouse, self.sketches, Options(answers=answers, sketch=SketchMode.SHADOW))

    def ask(self, text: str = SUMS) -> SketchReport:
        """Run a query; its rows must be those of the plain one."""
        outcome = self.middleware.run(Execution(text))
        rows = drained(outcome.stream)
        assert sorted(map(repr, rows)) == sorted(map(repr, self.warehouse.query(text).to_pylist()))
        return outcome.report

    def shown(self) -> list[dict[str, Any]]:
        return drained(self.middleware.run(Execution("SHOW SKETCHES")).stream)


@contextmanager
def process(warehouse: Warehouse, store: Path, *, answers: bool = False) -> Iterator[Process]:
    found = Process(warehouse, store, answers=answers)
    try:
        yield found
    finally:
        found.middleware.close()
        assert not found.sketches.relations.checkpoint.is_running


def insert(warehouse: Warehouse, *rows: Row, table: str = "r") -> None:
    warehouse.commit(table, [*warehouse.rows(table), *rows])


@pytest.mark.parametrize("text", [SUMS, JOIN])
def test_a_restart_maintains_from_the_stored_version(tmp_path: Path, text: str) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        assert first.ask(text).decision is Decision.CAPTURED
    insert(warehouse, (60, 3, 0, 100))
    with process(warehouse, tmp_path) as second:
        report = second.ask(text)
        assert (report.decision, report.from_version, report.version) == (Decision.MAINTAINED, 0, 1)
        assert report.detail.startswith("read back from the store")
        assert second.ask(text).decision is Decision.FRESH


def test_a_cut_on_a_column_that_is_no_key_comes_back(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    insert(warehouse, *((number, 30, number % 3, 4) for number in range(60, 80)))
    with process(warehouse, tmp_path) as first:
        assert [first.ask(CELLS).decision for _ in range(2)] == [Decision.NOT_USED, Decision.CAPTURED]
    insert(warehouse, (81, 30, 1, 4))
    with process(warehouse, tmp_path) as second:
        assert second.ask(CELLS).decision is Decision.MAINTAINED


def test_a_restart_without_changes_does_not_read_the_state(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
    with process(warehouse, tmp_path) as second:
        assert [row["lives_in"] for row in second.shown()] == ["store"]
        assert second.ask().decision is Decision.FRESH
        [row] = second.shown()
        assert (row["lives_in"], row["version"], row["stored_version"], row["groups"]) == ("store", 0, 0, 10)


def test_a_chain_of_restarts_stays_right(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    decisions = []
    for number in range(6):
        with process(warehouse, tmp_path) as each:
            decisions.append(each.ask().decision)
        if number % 2:
            warehouse.commit("r", warehouse.rows("r")[number:])
        else:
            insert(warehouse, (60 + number, 3 + number, 0, 100), (61 + number, 3, 7, -50))
    assert decisions == [Decision.CAPTURED] + [Decision.MAINTAINED] * 5


def test_other_constants_above_the_groups_use_the_stored_state(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
    with process(warehouse, tmp_path) as second:
        assert second.ask(SUMS.replace("> 3", "> 11")).decision is Decision.FRESH


def test_a_state_of_another_history_is_not_believed(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
    other = a_warehouse()
    other.history["r"][0] = [(number, number % 10, number % 3, 7) for number in range(60)]
    replaced = Warehouse()
    for table in ("r", "s"):
        replaced.commit(table, other.history[table][0])
    with process(replaced, tmp_path) as second:
        assert second.ask().decision is Decision.CAPTURED


def test_a_state_whose_commit_is_gone_is_captured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
    insert(warehouse, (60, 3, 0, 100))
    digest = Warehouse.commit_digest
    monkeypatch.setattr(Warehouse, "commit_digest", lambda own, location, version: digest(own, location, version) if version else None)
    with process(warehouse, tmp_path) as second:
        assert second.ask().decision is Decision.CAPTURED
    with process(warehouse, tmp_path) as third:
        assert third.ask().decision is Decision.FRESH


@pytest.mark.parametrize("table", ["states", "sketches"])
def test_a_damaged_store_costs_a_capture_and_says_so(tmp_path: Path, table: str, caplog: pytest.LogCaptureFixture) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
    insert(warehouse, (60, 3, 0, 100))
    DeltaTable(str(tmp_path / table)).update({"checksum": "'0'"})
    with caplog.at_level(logging.WARNING, "imp_driver"), process(warehouse, tmp_path) as second:
        assert second.ask().decision is Decision.CAPTURED
    assert "checksum differs" in caplog.text
    with process(warehouse, tmp_path) as third:
        assert third.ask().decision is Decision.FRESH


def test_a_store_that_cannot_be_read_at_all_costs_nothing_but_captures(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "store").write_text("not a folder")
    warehouse = a_warehouse()
    with caplog.at_level(logging.WARNING, "imp_driver"), process(warehouse, tmp_path / "store") as only:
        assert only.ask().decision is Decision.CAPTURED
        insert(warehouse, (60, 3, 0, 100))
        assert only.ask().decision is Decision.MAINTAINED
        only.sketches.relations.checkpoint.flush()
        assert "cannot be written" in only.sketches.relations.checkpoint.problem
    assert "cannot be written" in caplog.text


def test_a_failed_save_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "RETRY_SECONDS", 0.0)
    warehouse = a_warehouse()
    (tmp_path / "store").write_text("not a folder yet")
    with process(warehouse, tmp_path / "store") as only:
        only.ask()
        only.sketches.relations.checkpoint.flush()
        (tmp_path / "store").unlink()
        only.sketches.relations.checkpoint.flush()
        assert only.sketches.relations.checkpoint.problem == ""
        assert [row["lives_in"] for row in only.shown()] == ["memory and store"]


def test_states_are_parked_before_anything_is_dropped(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as only:
        only.ask()
        only.ask(JOIN)
        only.sketches.relations.checkpoint.flush()
        only.sketches.relations.registry.memory_budget = sum(entry.memory for entry in only.sketches.relations.registry.relations()) - 1
        only.ask(JOIN)
        assert sorted(row["lives_in"] for row in only.shown()) == ["memory and store", "store"]
        assert only.ask().decision is Decision.FRESH
        insert(warehouse, (60, 3, 0, 100))
        assert only.ask().decision is Decision.MAINTAINED
        assert only.ask(JOIN).decision is Decision.MAINTAINED


def test_a_dropped_sketch_does_not_come_back(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
        first.ask(JOIN)
        first.sketches.relations.checkpoint.flush()
        [identifier] = [row["sketch_id"] for row in first.shown() if "JOIN" not in row["statement"]]
        first.middleware.run(Execution(f"DROP SKETCH {identifier}"))
    with process(warehouse, tmp_path) as second:
        assert second.ask().decision is Decision.CAPTURED
        assert second.ask(JOIN).decision is Decision.FRESH


def test_a_dropped_sketch_is_gone_from_the_store_when_the_statement_ends(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as only:
        only.sketches.relations.recovery._clock = iter(range(0, 1_000, 10)).__next__
        only.ask()
        only.ask(JOIN)
        only.sketches.relations.checkpoint.flush()
        assert only.middleware.run(Execution("DROP SKETCH ALL")).rowcount == 2
        assert DeltaRepository(str(tmp_path)).records() == []
        assert only.ask().decision is Decision.CAPTURED
        assert len(only.shown()) == 1


def test_sketches_of_former_processes_can_be_dropped_before_they_are_used(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
    with process(warehouse, tmp_path) as second:
        assert second.middleware.run(Execution("DROP SKETCH ALL")).rowcount == 1
    with process(warehouse, tmp_path) as third:
        assert third.shown() == []
        assert third.ask().decision is Decision.CAPTURED


def test_what_another_process_saved_meanwhile_is_found_before_a_capture(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first, process(warehouse, tmp_path) as second:
        second.sketches.relations.recovery._clock = iter(range(0, 1_000, 10)).__next__
        second.ask(JOIN)
        first.ask()
        first.sketches.relations.checkpoint.flush()
        assert second.ask().decision is Decision.FRESH


def test_a_record_that_fits_no_block_is_left_alone(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
    repository = DeltaRepository(str(tmp_path))
    [found] = repository.records()
    columns = repository.load(found)
    cuts = tuple(replace(each, cut=replace(each.cut, name=replace(each.cut.name, key=7))) for each in found.cuts)
    repository.save([(replace(found, cuts=cuts, state="s7"), columns)])
    with process(warehouse, tmp_path) as second:
        assert second.ask().decision in (Decision.CAPTURED, Decision.FRESH)


def test_a_state_with_other_groups_than_its_record_says_is_captured_again(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
    repository = DeltaRepository(str(tmp_path))
    [found] = repository.records()
    columns = repository.load(found)
    repository.save([(replace(found, groups=found.groups + 1, state="s7"), columns)])
    insert(warehouse, (60, 3, 0, 100))
    with process(warehouse, tmp_path) as second:
        assert second.ask().decision is Decision.CAPTURED


def test_what_was_learned_about_costs_comes_back(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        for number in range(3):
            first.ask()
            insert(warehouse, (60 + number, 3, 0, 100))
        first.ask()
        [entry] = first.sketches.relations.registry.relations()
        learned = entry.costs.learned()
    with process(warehouse, tmp_path) as second:
        second.ask()
        [entry] = second.sketches.relations.registry.relations()
        found = entry.costs.learned()
        assert found["captured"] == learned["captured"]
        assert found["steps"] == learned["steps"]


def test_without_a_store_nothing_is_written(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    sketches = Sketches(Relations(warehouse, 1 << 30))
    middleware = Middleware(SharedSession(warehouse), warehouse, sketches, Options(answers=False))
    middleware.run(Execution(SUMS))
    middleware.close()
    assert list(tmp_path.iterdir()) == []
    assert [entry.is_saved for entry in sketches.relations.registry.relations()] == [False]


def test_a_state_that_the_guard_found_wrong_does_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        first.ask()
        first.sketches.relations.checkpoint.flush()
        guarded = Middleware(first.session, warehouse, first.sketches, Options(answers=False, sketch_guard=1.0))
        plain = SharedSession.execute

        def wrong(own: SharedSession, execution: Execution) -> ResultStream:
            return plain(own, execution.with_text(execution.text.replace("> 3", "> 11")) if "WHERE" in execution.text else execution)

        monkeypatch.setattr(SharedSession, "execute", wrong)
        assert guarded.run(Execution(SUMS)).report.reason is Reason.TEMPLATE_DISABLED
        guarded.close()
    monkeypatch.undo()
    with process(warehouse, tmp_path) as second:
        assert second.shown() == []
        assert second.ask().decision is Decision.CAPTURED


WIDE = "SELECT g, count(*) AS n FROM r WHERE x >= 1 AND id < 58 GROUP BY g HAVING count(*) > 3"


@pytest.mark.parametrize("narrow", [WIDE.replace("id < 58", "id < 50"), WIDE.replace("x >= 1", "x >= 2").replace("> 3", "> 1")])
def test_a_stored_state_serves_other_row_conditions_as_it_did_before(tmp_path: Path, narrow: str) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as first:
        assert first.ask(WIDE).decision is Decision.CAPTURED
        before = first.ask(narrow)
    assert before.detail.startswith("served by the state of other constants")
    insert(warehouse, (60, 3, 2, 100))
    with process(warehouse, tmp_path) as second:
        report = second.ask(narrow)
        assert (report.decision, report.sketch_id) == (Decision.MAINTAINED, before.sketch_id)
        assert "served by the state of other constants" in report.detail


def test_what_is_dropped_while_it_is_maintained_does_not_come_back(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as only:
        only.ask()
        only.sketches.relations.checkpoint.flush()
        [relation] = only.sketches.relations.registry.relations()
        with relation.ownership.held():
            assert only.middleware.run(Execution("DROP SKETCH ALL")).rowcount == 1
            only.sketches.relations.checkpoint.note(relation)
        only.sketches.relations.checkpoint.flush()
    with process(warehouse, tmp_path) as second:
        assert second.ask().decision is Decision.CAPTURED


def test_what_is_in_use_is_not_evicted_nor_made_again_from_an_older_record(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path) as only:
        only.ask()
        only.sketches.relations.checkpoint.flush()
        only.ask(JOIN)
        oldest = only.sketches.relations.registry.relations()[0]
        only.sketches.relations.registry.memory_budget = 1
        began, done = threading.Event(), threading.Event()

        def hold() -> None:
            with oldest.ownership.held():
                began.set()
                done.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        assert began.wait(30)
        only.sketches.relations.evict()
        done.set()
        thread.join(30)
        assert oldest in only.sketches.relations.registry.relations()
        key = oldest.identity.key
        oldest._stored = None
        only.sketches.relations.checkpoint._changed[key] = oldest
        only.sketches.relations.evict()
        assert only.sketches.relations.registry.find(key) is None
        only.sketches.relations.recovery._looked = -1e9
        only.sketches.restore(is_missed=True)
        assert only.sketches.relations.registry.find(key) is None


def test_a_store_that_cannot_remove_is_asked_again_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sequence[str]] = []

    class Failing(DeltaRepository):
        def remove(self, keys: Sequence[str]) -> None:
            asked.append(keys)
            raise OperationalError("The disk is full.")

    relation = Maintained(Identity("key", "template", "SELECT", "t", "/t", "family", "prefix", "source"))
    now = [0.0]
    saver = checkpoint.Checkpoint(Failing(str(tmp_path)), a_warehouse(), lambda: now[0])
    saver.forget([relation])
    assert saver._wait() == 0.0
    saver.flush()
    assert (len(asked), saver._wait()) == (1, checkpoint.RETRY_SECONDS)
    now[0] += checkpoint.RETRY_SECONDS
    assert saver._wait() == 0.0
