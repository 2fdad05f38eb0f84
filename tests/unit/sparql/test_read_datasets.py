"""Which graphs a query asks: FROM, FROM NAMED, GRAPH, the option graph, the base."""

from __future__ import annotations

import pytest

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.algebra import (
    Aggregate,
    Bgp,
    Distinct,
    EachNamed,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Place,
    Project,
    Read,
    Source,
    Triple,
    Union,
    Values,
)
from imp_driver.sparql.read import read_query
from tests.unit.sparql.shapes import EMPTY, bgp, call, integer, names, value, var

G, H = Source("g"), Source("h")
X, Y = "<http://x/a>", "<http://x/b>"
T = "?s ?p ?o"


def place_of(text: str, *default: Source) -> Place:
    found = read_query(text, default).pattern
    assert isinstance(found, Bgp)
    return found.place


@pytest.mark.parametrize(
    ("text", "default", "expected"),
    [
        ("ASK { ?s ?p ?o }", [G], (G,)),
        ("ASK { ?s ?p ?o }", [G, H], (G, H)),
        ("ASK FROM <h> { ?s ?p ?o }", [G], (H,)),
        ("ASK FROM <g> FROM <h> FROM <g> { ?s ?p ?o }", [], (G, H)),
        ("ASK FROM <lake.db.graph> { ?s ?p ?o }", [], (Source("lake.db.graph"),)),
        (f"ASK FROM {X} {{ ?s ?p ?o }}", [G], (Source("g", X),)),
        (f"ASK FROM {X} {{ ?s ?p ?o }}", [G, H], (Source("g", X), Source("h", X))),
        (f"ASK FROM <g> FROM {X} {{ ?s ?p ?o }}", [], (G, Source("g", X))),
        ("PREFIX x: <http://x/> ASK FROM x:a { ?s ?p ?o }", [G], (Source("g", X),)),
        ("PREFIX t: <> ASK FROM t:h { ?s ?p ?o }", [], (H,)),
        ("BASE <http://x/> ASK FROM <h> { ?s ?p ?o }", [], (H,)),
        # FROM NAMED alone: the default graph is empty (section 13.2).
        ("ASK FROM NAMED <g> { ?s ?p ?o }", [H], ()),
        ("ASK { GRAPH <h> { ?s ?p ?o } }", [], (H,)),
        ("BASE <http://x/> ASK { GRAPH <h> { ?s ?p ?o } }", [], (H,)),
        (f"ASK {{ GRAPH {X} {{ ?s ?p ?o }} }}", [G], (Source("g", X),)),
        (f"ASK FROM <h> {{ GRAPH {X} {{ ?s ?p ?o }} }}", [G], (Source("h", X),)),
        (f"ASK FROM NAMED {X} {{ GRAPH {X} {{ ?s ?p ?o }} }}", [G], (Source("g", X),)),
        (f"ASK FROM NAMED {X} {{ GRAPH {Y} {{ ?s ?p ?o }} }}", [G], ()),
        ("ASK FROM NAMED <g> { GRAPH <g> { ?s ?p ?o } }", [], (G,)),
        ("ASK FROM NAMED <g> { GRAPH <h> { ?s ?p ?o } }", [], ()),
        ("ASK { GRAPH <h> { GRAPH <g> { ?s ?p ?o } } }", [], (G,)),
        ("ASK { GRAPH ?v { ?s ?p ?o } }", [G, H, Source("g", X)], EachNamed(var("v"), ("g", "h"))),
        ("ASK FROM <h> { GRAPH ?v { ?s ?p ?o } }", [G], EachNamed(var("v"), ("h",))),
        ("ASK FROM NAMED <g> { GRAPH ?v { ?s ?p ?o } }", [], EachNamed(var("v"), (), (("<g>", G),))),
        (
            f"ASK FROM NAMED {X} FROM NAMED <h> {{ GRAPH ?v {{ ?s ?p ?o }} }}",
            [G],
            EachNamed(var("v"), (), ((X, Source("g", X)), ("<h>", H))),
        ),
    ],
)
def test_places(text: str, default: list[Source], expected: Place) -> None:
    assert place_of(text, *default) == expected


def test_the_base_holds_for_all_but_graph_tables() -> None:
    found = read_query("BASE <http://x/> ASK FROM <g> { <a> <b> <c> . GRAPH <h> { <a> <b> ?d } }").pattern
    nodes = "<http://x/a> <http://x/b>"
    assert found == Join(bgp(f"{nodes} <http://x/c>", place=(G,)), bgp(f"{nodes} ?d", place=(H,)))


@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?s ?p ?o }",
        "ASK { GRAPH <g> { ?s ?p ?o } ?s ?p ?o }",
        "ASK { FILTER EXISTS { ?s ?p ?o } }",
        f"ASK {{ GRAPH {X} {{ ?s ?p ?o }} }}",
        f"ASK FROM {X} {{ ?s ?p ?o }}",
        "ASK { GRAPH ?v { ?s ?p ?o } }",
        "DESCRIBE <http://x/a>",
    ],
)
def test_a_query_that_does_not_say_which_graph(text: str) -> None:
    with pytest.raises(ProgrammingError, match=r"write FROM <name>, or set the option graph"):
        read_query(text)


EACH = EachNamed(var("v"), ("g",))
NAMES = Bgp((), EACH)
IN = bgp(T, place=EACH)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ GRAPH ?v {} }", NAMES),
        ("{ GRAPH ?v { VALUES ?x { 1 } } }", Join(NAMES, Values(names("x"), ((integer(1),),)))),
        ("{ GRAPH ?v { VALUES ?x { 1 } ?s ?p ?o } }", Join(Join(NAMES, Values(names("x"), ((integer(1),),))), IN)),
        ("{ GRAPH ?v { OPTIONAL { ?s ?p ?o } } }", LeftJoin(NAMES, IN)),
        ("{ GRAPH ?v { { ?s ?p ?o } UNION {} } }", Union(IN, NAMES)),
        ("{ GRAPH ?v { GRAPH <h> { ?s ?p ?o } } }", Join(NAMES, bgp(T, place=(H,)))),
        ("{ GRAPH ?v { ?s ?p ?o FILTER(?s = 1) } }", Filter(IN, call("=", "?s", integer(1)))),
        ("{ GRAPH ?v { ?s ?p ?o MINUS { ?s ?q ?r } } }", Minus(IN, bgp("?s ?q ?r", place=EACH))),
        # The graph's name is no variable that both sides have: nothing is taken away.
        ("{ GRAPH ?v { ?s ?p ?o MINUS { ?a ?b ?c } } }", IN),
        ("{ GRAPH ?v { { SELECT ?s { ?s ?p ?o } } } }", Project(IN, names("s v"))),
        ("{ GRAPH ?v { { SELECT ?v { ?v ?p ?o } } } }", Project(bgp("?v ?p ?o", place=EACH), names("v"))),
        ("{ GRAPH ?v { { SELECT * { ?s ?p ?o } } } }", Project(IN, names("s p o v"))),
    ],
)
def test_each_named_graph(text: str, expected: Pattern) -> None:
    assert read_query(f"ASK {text}", (G,)).pattern == expected


def test_a_variable_of_a_subquery_is_not_that_of_the_graph() -> None:
    found = read_query("ASK { GRAPH ?v { { SELECT ?s { ?s ?p ?v } } } }", (G,)).pattern
    hidden = var("_:.1")
    inner = Project(bgp("?s ?p ?v", place=EachNamed(hidden, ("g",))), (var("s"), hidden))
    assert found == Project(Extend(inner, var("v"), Read(hidden)), names("s v"))


def test_an_aggregate_without_keys_is_one_for_each_graph() -> None:
    found = read_query("ASK { GRAPH ?v { SELECT (COUNT(*) AS ?n) (MAX(?o) AS ?m) { ?s ?p ?o } } }", (G,)).pattern
    grouped = Group(IN, ((var("v"), value("?v")),), ((var("n"), Aggregate("COUNT")), (var("m"), Aggregate("MAX", value("?o")))))
    empty = Extend(Minus(NAMES, Project(IN, names("v"))), var("n"), value(integer(0)))
    assert found == Project(Union(grouped, empty), names("n m v"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{ GRAPH ?v { { SELECT ?s { ?s ?p ?o } LIMIT 1 } } }", r"LIMIT and OFFSET within GRAPH \?v"),
        ("{ GRAPH ?v { OPTIONAL { ?s ?p ?o } MINUS { ?s ?q ?r } } }", r"MINUS within GRAPH \?v"),
    ],
)
def test_what_each_graph_does_not_have(text: str, message: str) -> None:
    with pytest.raises(NotSupportedError, match=message):
        read_query(f"ASK {text}", (G,))


def test_one_text_is_another_query_for_another_graph() -> None:
    text = "ASK { ?s ?p ?o }"
    assert [place_of(text, source) for source in (G, H, G)] == [(G,), (H,), (G,)]
    assert read_query("ASK { VALUES ?x { 1 } }").pattern == Values(names("x"), ((integer(1),),))
    assert read_query("ASK {}").pattern == EMPTY


@pytest.mark.parametrize("text", ["", "VALUES ?s { <a:b> }", "OPTIONAL { ?s ?p ?o }", "{ ?s ?p ?o } UNION { }"])
def test_a_named_graph_without_triples_does_not_exist(text: str) -> None:
    found = read_query(f"ASK {{ GRAPH {X} {{ {text} }} }}", (G,)).pattern
    one = tuple(var(f"_:.{number}") for number in range(1, 4))
    assert isinstance(found, Join)
    assert found.left == Distinct(Project(Bgp((Triple(*one),), (Source("g", X),)), ()))
    assert not isinstance(read_query(f"ASK {{ GRAPH <g> {{ {text} }} }}").pattern, Join)


@pytest.mark.parametrize("text", ["?s ?p ?o", "?s ?p ?o . ?s ?p ?s OPTIONAL { ?s ?o ?p }", "{ ?s ?p ?o } UNION { ?s ?p ?o . ?s ?p ?p }"])
def test_a_named_graph_whose_triples_are_asked_for_is_not_looked_for(text: str) -> None:
    assert (
        read_query(f"ASK {{ GRAPH {X} {{ {text} }} }}", (Source("g", X),)).pattern
        == read_query(f"ASK {{ {text} }}", (Source("g", X),)).pattern
    )


@pytest.mark.parametrize(
    "text",
    [
        "FILTER (BOUND(?v))",
        "?s ?p ?o OPTIONAL { ?s ?p ?v }",
        "BIND (?v AS ?w)",
        "?s ?p ?o MINUS { ?s ?p ?v }",
        "{ ?s ?p ?o FILTER (?v = 1) } UNION { }",
    ],
)
def test_a_group_does_not_see_the_name_of_its_graph(text: str) -> None:
    found = read_query(f"ASK {{ GRAPH ?v {{ {text} }} }}", (G,)).pattern
    assert isinstance(found, Join)
    [hidden] = [place.variable for place in (found.right.pattern.place,)]  # type: ignore[union-attr]
    assert hidden.is_hidden
    assert found.right == Extend(Bgp((), EachNamed(hidden, ("g",))), var("v"), Read(hidden))


def test_a_dataset_of_named_graphs_alone_has_no_others() -> None:
    assert place_of(f"ASK FROM {X} {{ GRAPH {Y} {{ ?s ?p ?o }} }}", G) == ()
    assert place_of(f"ASK FROM {X} {{ GRAPH ?v {{ ?s ?p ?o }} }}", G) == EachNamed(var("v"))
    assert place_of(f"ASK FROM <g> FROM {X} {{ GRAPH ?v {{ ?s ?p ?o }} }}") == EachNamed(var("v"), ("g",))
