"""The workload of SPARQL measures all systems of all experiments, and finds one that is wrong; its triples have BSBM's proportions."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random

import pytest

from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.records import Case, Quantity
from benchmarks.sparql import changes, systems
from benchmarks.sparql.bsbm import FEATURE, FEWEST_FEATURES, MOST_FEATURES, NUMERIC, TEXTUAL, Bsbm, Triple
from benchmarks.sparql.changes import Kind, Products, Step, edges, numbers
from benchmarks.sparql.graphs import Layers, Numbers
from benchmarks.sparql.queries import parameters
from benchmarks.summary import present
from benchmarks.workloads import sparql

PLAN = Plan(1, warm_up=1)
PRODUCTS = 40
MOST_ROWS_OF_RDFLIB = 2_000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"PRODUCTS": PRODUCTS, "NODES": 40, "FEW_DEGREES": (1,), "STAR_DEGREES": (1,), "FEW_SUMS": ((20, 10),)}
    for name, value in {**sizes, "MOST_ROWS_OF_RDFLIB": MOST_ROWS_OF_RDFLIB}.items():
        monkeypatch.setattr(sparql, name, value)


def products_measured() -> tuple[Case, ...]:
    journal = Journal(PLAN.repetitions)
    sparql.measure_products(journal, PLAN, PRODUCTS)
    return journal.cases


def systems_of(case: Case) -> set[str]:
    return {series.system for series in case.series} - {"all"}


def test_all_systems_are_measured_and_agree() -> None:
    journal = Journal(PLAN.repetitions)
    sparql.run(journal, PLAN, is_quick=True)
    assert Counter(case.labels["query"] for case in journal.cases) == {
        **{f"BSBM {number}": 4 for number in range(1, 5)},
        "path": 2,
        "star": 2,
        "sum": 3,
        "three steps": 2,
        "star of edges": 2,
    }
    for case in journal.cases:
        assert (case.compared, case.differences) == (3, ())
        assert systems_of(case) - {"rdflib"} == {systems.OURS, "pyoxigraph"}
        for name in systems_of(case):
            [spent] = present(case.values(name, Quantity.QUERY))
            assert spent > 0
        [held] = present(case.values(systems.OURS, Quantity.HELD))
        assert held > 0
    assert {case.labels["query"] for case in journal.cases if "rdflib" not in systems_of(case)} == {"path", "star of edges"}
    assert all(case.facts["rows"] for case in journal.cases if case.labels["query"] != "three steps")


def test_a_wrong_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(self: systems.OxigraphStore, changes: systems.Changes) -> None:
        pass

    monkeypatch.setattr(systems.OxigraphStore, "change", deaf)
    cases = products_measured()
    assert {case.labels["change"] for case in cases if case.differences} == {Kind.DELETE_RESULTS.value}


def test_answers_that_are_too_long_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql, "MOST_ROWS_OF_RDFLIB", 1)
    monkeypatch.setattr(sparql, "MOST_ROWS", 1_000)
    of_query = {case.labels["query"]: systems_of(case) for case in products_measured()}
    assert of_query["path"] == {systems.OURS}
    assert of_query["BSBM 2"] == {systems.OURS, "pyoxigraph"}


def test_the_triples_are_the_same_for_the_same_seed_and_as_many_as_in_the_original() -> None:
    triples = list(Bsbm(100).triples())
    assert triples == list(Bsbm(100).triples())
    assert triples != list(Bsbm(100, seed=2).triples())
    assert len(set(triples)) == len(triples)
    assert 320 < len(triples) / 100 < 400


def test_a_product_has_what_queries_ask_for() -> None:
    data = Bsbm(200)
    for number in range(1, 201):
        found = Counter(predicate for _, predicate, _ in data.product(number))
        assert FEWEST_FEATURES <= found[FEATURE] <= MOST_FEATURES
        assert all(found[each] == 1 for each in (*NUMERIC[:3], *TEXTUAL[:3]))
        assert all(found[each] <= 1 for each in (*NUMERIC[3:], *TEXTUAL[3:]))


@pytest.mark.parametrize("kind", Kind)
def test_products_come_and_go_whole(kind: Kind) -> None:
    data = Bsbm(PRODUCTS)
    inside, outside = changes.members(data, parameters(data).kind)
    assert sorted(inside + outside) == list(range(1, PRODUCTS + 1))
    follows(list(data.triples()), list(islice(Products(data, kind, inside, outside, most=3).steps(), 6)))


@pytest.mark.parametrize("is_insert", [True, False])
@pytest.mark.parametrize("are_isolated", [True, False])
def test_edges_come_and_go(is_insert: bool, are_isolated: bool) -> None:
    layers = Layers(30, 2)
    triples = layers.triples()
    assert len(triples) == 3 * 60
    steps = list(islice(edges(layers, triples, 5, is_insert=is_insert, are_isolated=are_isolated), 6))
    follows(triples, steps)
    assert all(step.change and all(sign == (1 if is_insert else -1) for _, sign in step.change) for step in steps)


def test_numbers_are_exchanged() -> None:
    data = Numbers(20, 10)
    steps = list(islice(numbers(data, 4, 3), 5))
    follows(data.triples(), steps)
    assert all(len(step.change) == 24 for step in steps)


def test_new_edges_are_each_one_edge() -> None:
    drawn = Layers(2, 1).new_edges(300, Random(0))
    assert len(drawn) == len(set(drawn)) == 12


def follows(triples: list[Triple], steps: list[Step]) -> None:
    """Assert that only what is there goes, and only what is not there comes."""
    there = set(triples)
    for step in steps:
        for triple, sign in (*step.before, *step.change):
            assert (triple in there) is (sign < 0)
            (there.add if sign > 0 else there.discard)(triple)
