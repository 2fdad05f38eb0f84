"""Workloads that compare strategies of maintenance, or weigh their states: what is measured of whom, and from which moment on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from deltalake import write_deltalake

import imp_driver
from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Answer, Rows, Systems
from benchmarks.journal import EVERYONE, Journal
from benchmarks.protocol import Plan, turn_of
from benchmarks.records import Case, Quantity, Stage
from benchmarks.workloads import eager, memory, sqlonly, topk
from imp_driver.reasons import Decision, Reason, RecaptureReason
from imp_driver.values.report import SketchReport
from tests.unit.benchmarks.engines import Opened, systems

PLAN = Plan(3, settling=1, warm_up=1)
ROUNDS = 1 + 1 + 1 + 3


def test_memory_weighs_state_and_process_from_the_cold_start_on() -> None:
    journal = Journal(3)
    memory.run(journal, PLAN, systems(), 1_000)
    assert len(journal.cases) == 7 * 5
    for case in journal.cases:
        assert (case.compared, case.differences) == (ROUNDS, ())
        assert case.values("IMP", Quantity.SIZE, Stage.COLD_START) == (330_008,)
        assert case.values("IMP", Quantity.SIZE) == (330_008,) * 3
        assert all(case.values("IMP", Quantity.RESIDENT))
        assert case.values("NS", Quantity.SIZE) == ()
        assert case.values("IMP", Quantity.CAPTURE, Stage.COLD_START) == (300.0,)
        assert case.values("IMP", Quantity.MAINTENANCE) == (3.0,) * 3


@dataclass(slots=True)
class Smallest:
    """Stands for the connection that finds the smallest values: their rows have these numbers."""

    rows: Rows

    def ask(self, system: str, text: str) -> Answer:
        return Answer(self.rows, 0.0, SketchReport(Decision.NOT_USED, Reason.SKETCH_OFF))


def conditions(pattern: str, *, takes_groups: bool, rows: Rows) -> list[str]:
    table = GroupedTable("ttopk", 100, 5_000)
    deletes = topk.Deletes(Smallest(rows), table, pattern, takes_groups)  # type: ignore[arg-type]
    found = []
    for _ in range(4):
        deletes.choose()
        found.append(deletes.condition)
    return found


def test_deletes_of_a_topk_follow_their_pattern() -> None:
    assert conditions("RRS", takes_groups=True, rows=[]) == ["id % 5 = 0", "id % 5 = 4", "a < 3", "id % 5 = 3"]
    assert conditions("S", takes_groups=False, rows=[(7,), (9,)]) == ["id IN (7, 9)"] * 4
    # Of groups that are gone there is nothing left to delete.
    assert conditions("S", takes_groups=False, rows=[]) == ["false"] * 4


def test_the_bytes_of_a_topk_are_in_its_record() -> None:
    journal = Journal(3)
    topk.run(journal, PLAN, systems())
    assert {case.values("IMP", Quantity.SIZE) for case in journal.cases} == {(330_008,) * 3}


def test_why_a_state_was_captured_again_is_part_of_the_decision() -> None:
    report = SketchReport(Decision.RECAPTURED, Reason.FILTERED, recapture_reason=RecaptureReason.INEXACT_STATE, times={"capture": 300.0})
    turn = turn_of(Answer([], 0.5, report))
    assert turn.decision == "RECAPTURED INEXACT_STATE"
    assert turn.spent == {Quantity.QUERY: 500.0, Quantity.CAPTURE: 300.0}


def measured_eager(each: Systems, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> tuple[Case, ...]:
    monkeypatch.setattr(imp_driver, "connect", opened.connect)
    journal = Journal(3)
    eager.run(journal, PLAN, each, "warehouse", is_quick=True)
    return journal.cases


def test_eager_and_lazy_see_the_same_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    each = systems()
    tables = each.plain.tables  # type: ignore[attr-defined]
    cases = measured_eager(each, Opened(tables), monkeypatch)
    assert [case.labels for case in cases] == [{"batch": batch, "updates": 20} for batch in (1, 5, 10)]
    for case, steps in zip(cases, (20, 4, 2), strict=True):
        assert (case.compared, case.differences) == (ROUNDS, ())
        # The steps of its worker were made before it is asked: none without changes, then those of the batches.
        assert case.values("eager", Quantity.BACKGROUND, Stage.COLD_START) == ()
        assert case.values("eager", Quantity.BACKGROUND, Stage.WARM_UP) == (None, 2.0 * steps)
        assert case.values("eager", Quantity.BACKGROUND) == (2.0 * steps,) * 3
        assert case.values("lazy", Quantity.MAINTENANCE) == (3.0,) * 3
        assert (case.facts["decisions of eager"], case.facts["decisions of lazy"]) == ("3 FRESH", "3 MAINTAINED")
        assert len(case.values(EVERYONE, Quantity.UPDATE)) == 3
    # Four rounds of changes in each of three cases; and after each the table as it was.
    inserts = [text for text in tables.statements if text.startswith("INSERT")]
    assert len(inserts) == len(set(inserts)) == 3 * 4 * 20
    assert len([text for text in tables.statements if text.startswith("RESTORE")]) == 3


def test_a_wrong_eager_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    each = systems()
    cases = measured_eager(each, Opened(each.plain.tables, wrong="eager"), monkeypatch)  # type: ignore[attr-defined]
    assert [len(case.differences) for case in cases] == [ROUNDS] * 3


def test_an_eager_worker_that_makes_no_step_ends_the_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager, "_PATIENCE", 0.0)
    each = systems()
    stuck = Opened(each.plain.tables, is_stuck=True)  # type: ignore[attr-defined]
    with pytest.raises(TimeoutError, match="made 0 steps instead of 1"):
        measured_eager(each, stuck, monkeypatch)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_sql_alone_is_maintained_and_captured_beside_the_driver(is_wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # A table of nothing has no files that it could read.
    monkeypatch.setattr(sqlonly, "find_spec", lambda name: None)
    journal, each = Journal(3), systems(is_wrong=is_wrong)
    sqlonly.run(journal, PLAN, each, "warehouse")
    assert [case.labels for case in journal.cases] == [{"delta": 20}, {"delta": 2000}]
    for case in journal.cases:
        assert (case.compared, len(case.differences)) == (ROUNDS, ROUNDS if is_wrong else 0)
        assert len(case.values("SQL, merged", Quantity.CAPTURE, Stage.COLD_START)) == 1
        assert len(case.values("SQL, merged", Quantity.MAINTENANCE)) == len(case.values("SQL, captured again", Quantity.CAPTURE)) == 3
        assert case.facts["decisions of SQL, merged"] == "3 MAINTAINED"
        assert case.facts["DuckDB"] == "not installed"
    merges = [text for text in each.plain.tables.statements if text.startswith("MERGE")]  # type: ignore[attr-defined]
    # Not in rounds without a change; each the one version that is new.
    assert [text.split("table_changes('r500', ")[1].split(")")[0] for text in merges] == [
        f"{version}, {version}" for version in (1, 2, 3, 4, 5, 6, 7, 8)
    ]


def groups(first: int, number: int) -> pa.Table:
    """Return rows of two for each group, of which those about the middle pass."""
    keys = [key for key in range(first, first + number) for _ in range(2)]
    return pa.table({"a": pa.array(keys, pa.int32()), "b": [float(key) for key in keys]})


def test_duckdb_takes_in_new_files_and_agrees_with_the_files_themselves(tmp_path: Path) -> None:
    location = str(tmp_path / "r500")
    write_deltalake(location, groups(sqlonly.LOW - 10, 15))
    with duckdb.connect() as engine:
        exported = sqlonly.Exported(engine, location)
        first, second = exported(), exported()
        write_deltalake(location, groups(sqlonly.LOW + 5, 3), mode="append")
        third, files = exported(), sqlonly.from_files(engine, location)
        write_deltalake(location, groups(sqlonly.LOW + 1, 1), mode="overwrite")
        fourth = exported()
    assert [turn.decision for turn in (first, second, third, fourth)] == ["CAPTURED", "FRESH", "MAINTAINED", "CAPTURED"]
    assert first.spent.keys() == {Quantity.QUERY, Quantity.CAPTURE}
    assert second.spent.keys() == files.spent.keys() == {Quantity.QUERY}
    assert third.spent.keys() == {Quantity.QUERY, Quantity.MAINTENANCE}
    low = sqlonly.LOW
    assert sorted(first.rows or []) == sorted(second.rows or []) == [(low + place, float(low + place)) for place in range(1, 5)]
    assert sorted(third.rows or []) == sorted(files.rows or []) == [(low + place, float(low + place)) for place in range(1, 8)]
    assert fourth.rows == [(low + 1, float(low + 1))]
