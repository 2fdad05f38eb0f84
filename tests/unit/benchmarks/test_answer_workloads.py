"""The workloads of answers on connections without an engine: all cases are measured, and an answer that is wrong is found in each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

import imp_driver
from benchmarks import answering, dbgen_tables, refreshed
from benchmarks.dashboard_tiles import TILES, zipf
from benchmarks.harness import Answer, Rows
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.records import Case, Quantity, Stage
from benchmarks.summary import present
from benchmarks.workloads import answers, dashboard, ssb, tpch_answers
from imp_driver.cli.answers import same
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.refusal import Grounds
from imp_driver.values.report import SketchReport

PLAN = Plan(3, settling=1, warm_up=1)
CHANGES = ("INSERT", "DELETE")
UNANSWERED = "WITH revenue"
"""What the text begins with that these connections never answer."""


@dataclass(slots=True)
class Tables:
    """How many changes there were is what every query returns; the first one from which answers stay as they were is ``stuck_at``."""

    changes: int = 0
    stuck_at: int | None = None


@dataclass(slots=True)
class Cursor:
    rows: Rows = field(default_factory=list)
    sketch_report: SketchReport | None = None
    description: tuple[tuple[str], ...] = ()

    def fetchall(self) -> Rows:
        return self.rows

    def close(self) -> None: ...

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *error: object) -> None: ...


@dataclass(slots=True)
class Connection:
    tables: Tables
    options: dict[str, Any]

    def execute(self, text: str) -> Cursor:
        verb = text.split(maxsplit=1)[0]
        if verb in CHANGES:
            self.tables.changes += 1
        if text == "SHOW SKETCHES":
            return Cursor([("s", 1_000)], description=(("sketch_id",), ("bytes",)))
        return self._select(text) if verb in ("SELECT", "WITH") else Cursor()

    def _select(self, text: str) -> Cursor:
        if self.options.get("answers") != "on" or text.startswith(UNANSWERED):
            grounds = Grounds(Reason.ROWS_WITHOUT_GROUPS, "supplier") if self.options.get("answers") == "on" else None
            report = SketchReport(Decision.NOT_USED, Reason.NOT_SAFE, times={"execute": 9.0}, not_answered=grounds)
            asked = re.search(r"VERSION AS OF (\d+)", text)
            return Cursor([(1, int(asked.group(1)) if asked else self.tables.changes)], report)
        table = re.search(r"FROM (\w+)", text)
        assert table is not None
        version = self.tables.changes
        known = {f"spark_catalog.default.{table.group(1)}": version}
        report = SketchReport(Decision.FRESH, Reason.ANSWERED, sketch_id="s", tables=known, served_by=ServedBy.STATE, times={"answer": 1.0})
        return Cursor([(1, version if self.tables.stuck_at is None else self.tables.stuck_at)], report)

    def close(self) -> None: ...

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None: ...


@contextmanager
def no_engine(connection: object, tables: Sequence[str]) -> Iterator[None]:
    yield None


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Tables:
    made = Tables()
    monkeypatch.setattr(imp_driver, "connect", lambda **options: Connection(made, options))
    for module in (answers, ssb, tpch_answers):
        monkeypatch.setattr(module, "recomputing", no_engine)
    for module in (answers, dashboard, refreshed):
        # Rows of these connections have no columns to order by.
        monkeypatch.setattr(module, "up_to_ties", lambda order, limit: same)
    for module in (ssb, tpch_answers):
        monkeypatch.setattr(module, "create", lambda connection, scale: None)
    monkeypatch.setattr(dashboard, "QUICK_SECONDS", 0.02)
    monkeypatch.setattr(dashboard, "PAUSE", 0.004)
    return made


def measured(name: str) -> tuple[Case, ...]:
    journal = Journal(PLAN.repetitions)
    if name == "answers":
        answers.run(journal, PLAN, "warehouse", 1_000, is_quick=True)
    elif name == "dashboard":
        dashboard.run(journal, PLAN, "warehouse", 1_000, is_quick=True)
    else:
        (tpch_answers if name == "tpch_answers" else ssb).run(journal, PLAN, "warehouse", 0.01)
    return journal.cases


NUMBERS = {"answers": 2 * 5 * 2, "tpch_answers": 1 + 22, "ssb": 1 + 13, "dashboard": 2 * len(TILES)}


@pytest.mark.parametrize("name", NUMBERS)
def test_every_case_is_measured_and_compared(name: str, tables: Tables) -> None:
    cases = measured(name)
    assert len({tuple(case.labels.items()) for case in cases}) == len(cases) == NUMBERS[name]
    for case in cases:
        assert case.differences == ()
        if case.labels.get("query") == "refresh":
            assert {len(case.values(change, Quantity.UPDATE)) for change in ("inserts", "deletes")} == {3}
            continue
        assert case.compared > 0
        found = case.values("answers", Quantity.ANSWERED)
        assert len(found) >= 3
        assert set(present(found)) == ({0.0} if case.labels.get("query") == "Q15" else {1.0})
        assert present(case.values("NS", Quantity.QUERY))
        assert present(case.values("answers", Quantity.QUERY, Stage.COLD_START))


@pytest.mark.parametrize("name", NUMBERS)
def test_a_wrong_answer_is_found(name: str, tables: Tables) -> None:
    tables.stuck_at = -1
    cases = [case for case in measured(name) if case.compared and case.labels.get("query") not in ("refresh", "Q15")]
    assert cases
    assert all(len(case.differences) == case.compared for case in cases)


def test_what_is_not_answered_has_its_reason(tables: Tables) -> None:
    facts = {case.labels["query"]: case.facts for case in measured("tpch_answers")}
    assert facts["Q15"]["not from a state"] == "ROWS_WITHOUT_GROUPS supplier"
    assert facts["Q15"]["decisions of answers"] == "3 SPARK ROWS_WITHOUT_GROUPS"
    assert facts["Q1"]["decisions of answers"] == "3 STATE FRESH"
    assert (facts["Q1"]["state bytes"], facts["Q15"]["state bytes"]) == (1_000, 0)
    assert facts["refresh"]["bytes of all states"] == 1_000


def test_a_capture_that_did_not_serve_is_counted_as_one() -> None:
    report = SketchReport(
        Decision.NOT_USED,
        Reason.NOT_SAFE,
        times={"parse": 1.0, "capture": 700.0, "execute": 50.0},
        not_answered=Grounds(Reason.LEFT_TO_SPARK, ""),
    )
    turn = answering.answered(Answer([], 0.8, report))
    assert turn.spent == {Quantity.QUERY: 800.0, Quantity.CAPTURE: 701.0, Quantity.ANSWERED: 0.0}
    assert turn.decision == "SPARK LEFT_TO_SPARK"


def test_data_needs_its_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbgen_tables, "_PROGRAM", "no-such-program")
    with pytest.raises(FileNotFoundError, match="benchmarks"):
        dbgen_tables.create(Connection(Tables(), {}), 0.01)  # type: ignore[arg-type]


def test_connections_of_one_kind_share_no_states(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[dict[str, Any]] = []

    def connect(**options: Any) -> Connection:
        opened.append(options)
        return Connection(Tables(), options)

    monkeypatch.setattr(imp_driver, "connect", connect)
    with answering.opened("warehouse"):
        pass
    assert [options.get("answers") for options in opened] == [None, "off", "on"]
    assert len({options["store"] for options in opened[1:]}) == 2


def test_few_values_are_drawn_often() -> None:
    chance = Random(1)
    drawn = [zipf(chance, 20) for _ in range(2_000)]
    assert drawn.count(0) > 2 * drawn.count(3) > 0
    assert set(drawn) <= set(range(20))


def test_full_size_has_all_settings() -> None:
    every = [setting for groups in answers.KINDS for setting in answers.settings(groups, is_quick=False)]
    assert len(every) == len(set(every)) == 3 * (2 + (4 + 4 * 2) + 2)
