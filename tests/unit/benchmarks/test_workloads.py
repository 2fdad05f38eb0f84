"""Every workload on the protocol measures all of its cases, and finds the answer of a system that is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import duckdb
import pytest

import imp_driver
from benchmarks.harness import Rows, Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.records import Case, Quantity, Stage
from benchmarks.summary import present
from benchmarks.workloads import (
    aggregates,
    bloom,
    breakeven,
    buckets,
    crimes,
    feedless,
    filters,
    fragments,
    groups,
    growth,
    joins,
    maintenance,
    memory,
    mixes,
    nested,
    overhead,
    pages,
    pushdown,
    recursion_spark,
    selective,
    sizes,
    threads,
    throughput,
    topk,
    tpch,
)
from imp_driver.reasons import Decision, Reason
from imp_driver.spark import local
from imp_driver.values.report import SketchReport
from tests.unit.benchmarks.engines import Cursor, Opened, systems

PLAN = Plan(3, settling=1, warm_up=1)
Run: TypeAlias = Callable[[Journal, Systems], None]

UPKEEP: dict[str, tuple[Run, int]] = {
    "maintenance": (lambda journal, each: maintenance.run(journal, PLAN, each), 2 * 4),
    "joins": (lambda journal, each: joins.run(journal, PLAN, each), 5 * (4 + 1)),
    "nested": (lambda journal, each: nested.run(journal, PLAN, each), 6 * 2),
    "feedless": (lambda journal, each: feedless.run(journal, PLAN, each, 1_000), 3 * 2),
    "groups": (lambda journal, each: groups.run(journal, PLAN, each, 1_000), 4 * 3),
    "aggregates": (lambda journal, each: aggregates.run(journal, PLAN, each), 5 * 3),
    "breakeven": (lambda journal, each: breakeven.run(journal, PLAN, each), 3 * 5),
    "pushdown": (lambda journal, each: pushdown.run(journal, PLAN, each), 6),
    "bloom": (lambda journal, each: bloom.run(journal, PLAN, each), 2 * 4),
    "crimes": (lambda journal, each: crimes.run(journal, PLAN, each, 10_000), 4 * 2 * 3),
    "topk": (lambda journal, each: topk.run(journal, PLAN, each), 3 * 4),
    "growth": (lambda journal, each: growth.run(journal, PLAN, each, ".", [1_000, 2_000]), 2 * 4),
    "tpch": (lambda journal, each: tpch.run(journal, PLAN, each, 0.01), 13 * 3),
    "mixes": (lambda journal, each: mixes.run(journal, PLAN, each, is_quick=False), 36),
}
"""Workloads of the three systems under changes, and their numbers of cases."""
OTHERS: dict[str, tuple[Run, int]] = {
    "selective": (lambda journal, each: selective.run(journal, PLAN, each), 1),
    "memory": (lambda journal, each: memory.run(journal, PLAN, each, 1_000), 7 * 5),
}


def measure(run: Run, *, is_wrong: bool = False) -> tuple[Case, ...]:
    journal = Journal(PLAN.repetitions)
    run(journal, systems(is_wrong=is_wrong))
    return journal.cases


@pytest.mark.parametrize("name", UPKEEP)
def test_each_case_has_all_measurements_and_compares_answers(name: str) -> None:
    run, number = UPKEEP[name]
    cases = measure(run)
    assert len({tuple(case.labels.items()) for case in cases}) == len(cases) == number
    for case in cases:
        assert case.differences == ()
        # The cold start, two rounds of warm-up and three repetitions; some mixes ask five queries in each.
        assert case.compared == 6 * (5 if case.labels.get("mix") == "1U5Q" else 1)
        assert {len(case.values(system, Quantity.QUERY)) for system in ("NS", "FM", "IMP")} == {3}
        assert case.values("FM", Quantity.CAPTURE, Stage.COLD_START) == case.values("IMP", Quantity.CAPTURE, Stage.COLD_START) == (300.0,)
        assert case.values("FM", Quantity.CAPTURE) == (300.0,) * 3
        assert case.values("IMP", Quantity.MAINTENANCE) == (3.0,) * 3
        assert case.facts["decisions of FM"] in ("3 CAPTURED", "12 FRESH, 3 CAPTURED")


@pytest.mark.parametrize("name", [*UPKEEP, *OTHERS])
def test_a_wrong_answer_is_found_in_each_case(name: str) -> None:
    run, number = (UPKEEP | OTHERS)[name]
    cases = measure(run, is_wrong=True)
    assert [len(case.differences) == case.compared > 0 for case in cases] == [True] * number


def test_systems_of_a_mix_are_asked_the_same_queries() -> None:
    each = systems()
    mixes.run(Journal(3), PLAN, each, is_quick=True)
    tables = each.plain.tables  # type: ignore[attr-defined]
    asked = [text for text in tables.statements if text.startswith("SELECT a, avg(b)")]
    assert len(asked) % 3 == 0
    assert {asked.count(text) % 3 for text in asked} == {0}
    assert len(set(asked)) > 20


@pytest.mark.parametrize("is_wrong", [False, True])
@pytest.mark.parametrize(
    ("run", "cases", "compared"),
    [
        (lambda journal, each: buckets.run(journal, PLAN, each, "warehouse", 1_000), 2, 6),
        (lambda journal, each: fragments.run(journal, PLAN, each, "warehouse", 1_000), 10, 6),
        # The answers of eight threads are compared with each other too, in two modes.
        (lambda journal, each: threads.run(journal, PLAN, each, "warehouse"), 1, 5 + 2 * 5),
    ],
    ids=["buckets", "fragments", "threads"],
)
def test_workloads_with_connections_of_their_own_compare_them(
    run: Run, cases: int, compared: int, is_wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "SECONDS", 0.005)
    each = systems()
    opened = Opened(each.plain.tables, "lazy" if is_wrong else "none")  # type: ignore[attr-defined]
    monkeypatch.setattr(imp_driver, "connect", opened.connect)
    journal = Journal(3)
    run(journal, each)
    assert [case.compared for case in journal.cases] == [compared] * cases
    assert [bool(case.differences) for case in journal.cases] == [is_wrong] * cases


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_recursion_that_is_followed_is_compared_with_one_computed_anew(is_wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    each, numbers = systems(), count()

    def connect(**options: object) -> object:
        # The first connection of a case is kept.
        wrong = "lazy" if is_wrong and next(numbers) % 7 == 0 else "none"
        return Opened(each.plain.tables, wrong).connect(**options)  # type: ignore[attr-defined]

    monkeypatch.setattr(imp_driver, "connect", connect)
    journal = Journal(3)
    recursion_spark.run(journal, PLAN, each, "warehouse", 1_000)
    assert [case.compared for case in journal.cases] == [6, 6]
    assert [bool(case.differences) for case in journal.cases] == [is_wrong] * 2


@dataclass(slots=True)
class Spark:
    """Stands for a session and for what opened it."""

    rows: Rows

    @property
    def spark(self) -> Spark:
        return self

    def sql(self, text: str) -> Spark:
        return self

    def collect(self) -> Rows:
        return self.rows


@pytest.mark.parametrize(("rows", "differences"), [([(1, 0.5), (2, 0.0)], 0), ([(1, 0.5)], 5)])
def test_overhead_compares_the_driver_with_spark(rows: Rows, differences: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "open_session", lambda options: Spark(rows))
    journal = Journal(3)
    overhead.run(journal, PLAN, systems(), "warehouse")
    assert [len(case.differences) for case in journal.cases] == [differences] * 3
    assert journal.cases[0].values("driver", Quantity.CAPTURE) == ()
    assert len(journal.cases[0].values("Spark", Quantity.QUERY)) == 3


def test_pages_compares_the_layouts_settings() -> None:
    cases = measure(lambda journal, each: pages.run(journal, PLAN, each))
    assert [(case.compared, case.differences) for case in cases] == [(5, ())] * 2


@dataclass(slots=True)
class Duck:
    """A connection to DuckDB with a table of two rows for each group; ``is_wrong`` loses a group under a filter."""

    engine: duckdb.DuckDBPyConnection
    is_wrong: bool = False

    def execute(self, text: str) -> Cursor:
        source = "(SELECT * FROM r500 WHERE a <> 1)" if self.is_wrong and " WHERE " in text else "r500"
        rows = self.engine.execute(text.replace("r500", source)).fetchall()
        return Cursor(rows, SketchReport(Decision.NOT_USED, Reason.SKETCH_OFF))


@pytest.mark.parametrize("is_wrong", [False, True])
def test_filters_knows_what_each_filter_must_leave(is_wrong: bool) -> None:
    each = systems()
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE r500 AS SELECT (range % 5000 + 1)::INTEGER AS a, range::DOUBLE AS b FROM range(10000)")
        each.plain = Duck(engine, is_wrong)  # type: ignore[assignment]
        journal = Journal(1)
        filters.run(journal, Plan(1, settling=0), each)
    assert len(journal.cases) == 12
    # The cold start and a repetition, each with two answers.
    assert {case.compared for case in journal.cases} == {4}
    assert {len(case.differences) for case in journal.cases} == {2 if is_wrong else 0}


def test_a_filter_holds_the_groups_of_its_ranges() -> None:
    averages: Rows = [(group, float(group)) for group in range(1, 5_001)]
    [(number, total)] = filters.total(averages, filters.spread(5, 0.02))
    kept = [group for start in range(0, 5_000, 1_000) for group in range(start + 1, start + 21)]
    assert (number, total) == (100, math.fsum(kept))


def test_workloads_without_an_engine_measure_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "ROWS_PER_GROUP", 1)
    journal = Journal(3)
    throughput.run(journal, PLAN, 1_000)
    assert {len(case.values("IMP", Quantity.RATE)) for case in journal.cases} == {3}
    journal = Journal(1)
    sizes.run(journal, 50)
    ranges = [case for case in journal.cases if case.labels.get("ranges") == 100_000]
    assert [case.values("random half", Quantity.SIZE) for case in ranges] == [(12_501,)]
    states = [case for case in journal.cases if "groups" in case.labels]
    assert len(states) == 9
    assert all(present(case.values("state", Quantity.SIZE))[0] > 0 for case in states)
