"""What has another value each time has one within a query where SPARQL says so (sections 17.4.2.9 and 17.4.5.1)."""

from __future__ import annotations

import pytest

from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.sparql.algebra import Source
from imp_driver.sparql.read import read_query

TRUE = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (NOW() = NOW() AS ?is) {}",
        "SELECT ?is { BIND(NOW() AS ?x) { SELECT (NOW() AS ?y) {} } BIND(sameTerm(?x, ?y) AS ?is) }",
        "SELECT (EXISTS { FILTER(NOW() = NOW()) } AS ?is) {}",
        'SELECT (sameTerm(BNODE("a"), BNODE("a")) AS ?is) {}',
        'SELECT (!sameTerm(BNODE("a"), BNODE("b")) AS ?is) {}',
        "SELECT (!sameTerm(BNODE(), BNODE()) AS ?is) {}",
        'SELECT (sameTerm(?x, ?y) AS ?is) { BIND(BNODE("a") AS ?x) FILTER(isBlank(?x)) BIND(BNODE("a") AS ?y) }',
        'SELECT ?is { BIND(BNODE("a") AS ?x) BIND(BNODE("b") AS ?y) BIND(!sameTerm(?x, ?y) AS ?is) }',
        'SELECT ?is { { SELECT (BNODE("a") AS ?x) {} } { SELECT (BNODE("a") AS ?y) {} } BIND(!sameTerm(?x, ?y) AS ?is) }',
    ],
)
def test_one_value_in_one_query(text: str) -> None:
    circuit = Circuit(read_query(text, (Source("t"),)).pattern, is_once=True)
    circuit.step({})
    assert circuit.ordered() == [(TRUE,)]


def test_a_text_is_one_node_for_each_solution() -> None:
    text = 'SELECT (BNODE(?l) AS ?x) (BNODE(?l) AS ?y) ?v { VALUES (?l ?v) { ("a" 1) ("a" 2) ("b" 1) } }'
    circuit = Circuit(read_query(text, (Source("t"),)).pattern, is_once=True)
    circuit.step({})
    assert [variable.name for variable in circuit.variables] == ["x", "y", "v"]
    rows = circuit.ordered()
    assert all(one == other for one, other, _ in rows)
    assert len({one for one, *_ in rows}) == 3
