"""What has another value each time, and the moment of a query."""

from __future__ import annotations

import pytest

from imp_driver.sparql.algebra import Call, Source
from imp_driver.sparql.functions.volatile import at_one_moment, is_volatile
from imp_driver.sparql.read import read_query

G = (Source("g"),)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("SELECT (NOW() AS ?x) { ?s ?p ?o }", True),
        ("SELECT ?s { ?s ?p ?o FILTER EXISTS { ?s ?q ?r FILTER (?r < RAND()) } }", True),
        ("SELECT (SUM(IF(STRUUID() = ?o, 1, 2)) AS ?x) { ?s ?p ?o }", True),
        ("SELECT (YEAR(?o) AS ?x) { ?s ?p ?o }", False),
    ],
)
def test_what_is_volatile_is_found_anywhere(text: str, is_one: bool) -> None:
    assert is_volatile(read_query(text, G).pattern) is is_one


def test_all_of_a_query_has_one_moment() -> None:
    query = read_query("SELECT (NOW() AS ?x) (NOW() = NOW() AS ?y) { ?s ?p ?o FILTER NOT EXISTS { ?s ?q ?r FILTER (?r < NOW()) } }", G)
    at_once = at_one_moment(query)
    assert not is_volatile(at_once.pattern)
    assert repr(Call("NOW")) not in repr(at_once)
    moments = {part.split('"^^')[0] for part in repr(at_once).split("term='\"") if "dateTime" in part}
    assert len(moments) == 1
    assert at_one_moment(read_query("SELECT ?s { ?s ?p ?o }", G)) == read_query("SELECT ?s { ?s ?p ?o }", G)
