"""Workloads of parts of the driver, without an engine: each turn begins from nothing, and its answer is what it leaves."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.records import Case, Quantity, Stage
from benchmarks.summary import present
from benchmarks.workloads import observing, storing
from imp_driver.persist.record import Record
from imp_driver.persist.tables import DeltaRepository

PLAN = Plan(3, settling=1, warm_up=1)
ROUNDS = 1 + 1 + 3


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "STATEMENTS", 3)
    monkeypatch.setattr(observing, "WRITES", 2)
    monkeypatch.setattr(storing, "SKETCHES", 3)
    monkeypatch.setattr(storing, "STEPS", 4)
    monkeypatch.setattr(storing, "PAUSE", 0.0)
    monkeypatch.setattr(storing, "RESTORED_GROUPS", (10,))
    monkeypatch.setattr(storing, "MAINTAINED_GROUPS", (20,))


def stored() -> tuple[Case, ...]:
    journal = Journal(3)
    storing.run(journal, PLAN)
    return journal.cases


def test_observing_changes_no_outcome() -> None:
    journal = Journal(3)
    observing.run(journal, PLAN)
    statement, write = journal.cases
    systems = tuple(dict.fromkeys(series.system for series in statement.series))
    assert sorted(systems) == sorted(journal.systems)
    assert len(systems) == 6
    assert (statement.compared, statement.differences) == (ROUNDS, ())
    for system in systems:
        assert len(present(statement.values(system, Quantity.CALL))) == 3
        assert len(statement.values(system, Quantity.CALL, Stage.COLD_START)) == 1
    assert len(write.values("counters", Quantity.CALL)) == 3
    assert write.compared == 0


def test_what_is_restored_is_what_was_saved() -> None:
    *restored, maintained = stored()
    assert [case.labels["restored"] for case in restored] == ["all sketches", "one state"]
    for case in restored:
        assert (case.compared, case.differences) == (ROUNDS, ())
        assert len(present(case.values("IMP", Quantity.CALL))) == 3
    assert (maintained.compared, maintained.differences) == (ROUNDS, ())
    assert {len(maintained.values(system, Quantity.CALL)) for system in ("without a store", "with a store")} == {3}
    assert maintained.facts["saves"] in range(1, 6)


def test_a_store_that_loses_groups_or_sketches_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    load, records = DeltaRepository.load, DeltaRepository.records

    def loses(repository: DeltaRepository, record: Record) -> dict[str, pa.Array]:
        return {name: column[1:] for name, column in load(repository, record).items()}

    monkeypatch.setattr(DeltaRepository, "load", loses)
    monkeypatch.setattr(DeltaRepository, "records", lambda repository: records(repository)[1:])
    assert [len(case.differences) for case in stored()] == [ROUNDS] * 3
