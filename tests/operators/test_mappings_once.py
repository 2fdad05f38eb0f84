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
    ],
)
def test_one_value_in_one_query(text: str) -> None:
    circuit = Circuit(read_query(text, (Source("t"),)).pattern, is_once=True)
    circuit.step({})
    assert circuit.ordered() == [(TRUE,)]
