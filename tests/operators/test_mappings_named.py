"""GRAPH with a variable over the graphs of FROM NAMED, where nothing but the names is read of them."""

from __future__ import annotations

import pytest

from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.sparql.algebra import Source
from imp_driver.sparql.read import read_query

G, H, A, P = "<http://e/g>", "<http://e/h>", "<http://e/a>", "<http://e/p>"
FROM = "FROM <http://e/d> FROM NAMED <http://e/g> FROM NAMED <http://e/h>"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"SELECT * {FROM} {{ GRAPH ?g {{ }} }}", [(G,), (H,)]),
        (f"SELECT * {FROM} {{ GRAPH ?g {{ OPTIONAL {{ ?s {P} ?o }} }} }}", [(G, A, A), (H, None, None)]),
        (f"SELECT * {FROM} {{ GRAPH ?g {{ {A} {P}* ?o }} }}", [(G, A), (H, A)]),
        (f"SELECT * {FROM} {{ GRAPH ?g {{ BIND(1 AS ?x) }} FILTER(?g = {G}) }}", [(G, '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')]),
    ],
)
def test_names_of_from_named_are_there_once_each(text: str, rows: list[tuple[str, ...]]) -> None:
    circuit = Circuit(read_query(text, (Source("t"),)).pattern)
    circuit.step({"t": {(A, P, A, G): 1}})
    assert circuit.ordered() == rows
