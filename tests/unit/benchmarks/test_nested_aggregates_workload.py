"""The workload of nested aggregates measures all systems of all queries, and finds one that is wrong; its streams keep their rows."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from benchmarks.journal import Journal
from benchmarks.nested import systems
from benchmarks.nested.queries import QUERIES
from benchmarks.nested.recompute import RECOMPUTED, Results, Tables
from benchmarks.nested.streams import Row, stream
from benchmarks.protocol import Plan
from benchmarks.records import Case, Quantity
from benchmarks.summary import present
from benchmarks.workloads import nested_aggregates

PLAN = Plan(1, warm_up=1)


def measured(monkeypatch: pytest.MonkeyPatch) -> tuple[Case, ...]:
    monkeypatch.setattr(nested_aggregates, "SIZES", (60, 90))
    monkeypatch.setattr(nested_aggregates, "EVENTS", 8)
    monkeypatch.setattr(nested_aggregates, "BATCHES", (1, 12))
    monkeypatch.setattr(systems, "WARMING", 3)
    journal = Journal(PLAN.repetitions)
    nested_aggregates.run(journal, PLAN, is_quick=True)
    return journal.cases


def test_all_systems_are_measured_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = measured(monkeypatch)
    labels = [(case.labels["query"], case.labels["rows"], case.labels["batch"]) for case in cases]
    assert set(labels) == {(query, 60, 1) for query in QUERIES} | {("VWAP", 60, 12), ("MST", 60, 12)}
    for case in cases:
        assert (case.compared, case.differences) == (3, ())
        names = {series.system for series in case.series} - {"all"}
        assert names == systems.systems(str(case.labels["query"]), 60).keys()
        for name in names:
            [spent] = present(case.values(name, Quantity.EVENT))
            assert spent > 0


def test_a_wrong_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(tables: Tables) -> Results:
        return {(): (-1,)}

    monkeypatch.setattr(systems, "RECOMPUTED", {**RECOMPUTED, "VWAP": wrong})
    assert all(bool(case.differences) is (case.labels["query"] == "VWAP") for case in measured(monkeypatch))


@pytest.mark.parametrize("query", QUERIES)
def test_streams_take_away_what_is_there_and_keep_their_size(query: str) -> None:
    source, there = stream(query), Counter[tuple[str, Row, int]]()
    for event in [*source.loading(400), *islice(source.events(), 400)]:
        for relation, row, weight, number in event:
            there[relation, row, number] += weight
            assert there[relation, row, number] in (0, 1)
    assert 300 < sum(there.values()) < 500


def test_the_map_of_the_paper_is_left_out_where_it_would_take_minutes() -> None:
    assert "PAI map" in systems.systems("VWAP", 10_000)
    assert "PAI map" not in systems.systems("VWAP", 100_000)
