"""CREATE GRAPH and DROP GRAPH: their parts, and what is wrong with others."""

from __future__ import annotations

import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.parse.graphs import NewGraph, read_dropped_graph, read_graph_name, read_new_graph


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("create graph g;", NewGraph(("g",))),
        ("CREATE GRAPH IF NOT EXISTS c.`a ``b`.g2 COMMENT 'it''s'", NewGraph(("c", "a `b", "g2"), True, "it's")),
        ("CREATE GRAPH g FROM MAPPING '<a> <b> \"c\" .'", NewGraph(("g",), mapping='<a> <b> "c" .')),
        ("CREATE GRAPH g COMMENT 'x' FROM MAPPING FILE '/a b.ttl' ;", NewGraph(("g",), comment="x", file="/a b.ttl")),
        ("CREATE GRAPH `if`", NewGraph(("if",))),
    ],
)
def test_parts(text: str, wanted: NewGraph) -> None:
    assert read_new_graph(text) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CREATE GRAPH ", "The end is not expected here"),
        ("CREATE GRAPH g h", "'h' is not expected here"),
        ("CREATE GRAPH 'g'", "'g' is not expected here"),
        ("CREATE GRAPH g.", "The end"),
        ("CREATE GRAPH IF EXISTS g", "'EXISTS'"),
        ("CREATE GRAPH g FROM MAPPING g.ttl", "The form is CREATE GRAPH"),
        ("CREATE GRAPH g COMMENT 'open", "cannot be read"),
    ],
)
def test_what_is_wrong_is_told(text: str, said: str) -> None:
    with pytest.raises(ProgrammingError, match=said):
        read_new_graph(text)


def test_dropped() -> None:
    assert read_dropped_graph("DROP GRAPH IF EXISTS a.`b.c`;") == (("a", "b.c"), True)
    assert read_dropped_graph("drop graph g") == (("g",), False)
    with pytest.raises(ProgrammingError, match=r"DROP GRAPH \[IF EXISTS\] name"):
        read_dropped_graph("DROP GRAPH g CASCADE")


def test_a_name_is_all_of_a_text() -> None:
    assert read_graph_name("a.b") == ("a", "b")
    for text in ("a b", "<a:b>", ""):
        with pytest.raises(ProgrammingError):
            read_graph_name(text)
