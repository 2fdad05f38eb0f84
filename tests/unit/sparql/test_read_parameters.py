"""Values of variables that are given with a query: each solution has them."""

from __future__ import annotations

import pytest

from imp_driver.sparql.algebra import (
    Aggregate,
    Clear,
    Closure,
    EachNamed,
    Exists,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    Modify,
    Pattern,
    Project,
    Quad,
    Slice,
    Source,
    Values,
)
from imp_driver.sparql.read import read_query, read_updates
from tests.unit.sparql.shapes import PREFIXES, G, bgp, call, ex, integer, names, node, triple, value, var

X = ex("x")
TRUE = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
GIVEN = value(":x")


def shown(pattern: Pattern, columns: str) -> Project:
    return Project(Extend(pattern, var("a"), GIVEN), names(columns))


def only(pattern: Pattern) -> Join:
    return Join(pattern, Values(names("a"), ((X,),)))


STEP = bgp("?_:.1 :p ?_:.2")

CASES: dict[str, tuple[str, Pattern]] = {
    "a column": ("?b ?a { ?a :p ?b }", shown(bgp(":x :p ?b"), "b a")),
    "all columns": ("* { ?a :p ?b }", shown(bgp(":x :p ?b"), "a b")),
    "no column": ("?b { ?a :p ?b }", Project(bgp(":x :p ?b"), names("b"))),
    "no variable of the query": ("?b { ?c :p ?b }", Project(bgp("?c :p ?b"), names("b"))),
    "a column that nothing else binds": ("?a { ?c :p ?b }", shown(bgp("?c :p ?b"), "a")),
    "a filter": (
        "?b { ?a :p ?b FILTER(?a = ?b && BOUND(?a)) }",
        Project(Filter(bgp(":x :p ?b"), call("&&", call("=", ":x", "?b"), TRUE)), names("b")),
    ),
    "OPTIONAL": (
        "?b { ?b :p ?c OPTIONAL { ?a :q ?c FILTER(?a = 1) } }",
        Project(LeftJoin(bgp("?b :p ?c"), bgp(":x :q ?c"), call("=", ":x", integer(1))), names("b")),
    ),
    "EXISTS": ("?b { ?b :p ?c FILTER EXISTS { ?a :q ?c } }", Project(Filter(bgp("?b :p ?c"), Exists(bgp(":x :q ?c"))), names("b"))),
    "MINUS compares by it": (
        "?b { ?a :p ?b MINUS { ?a :q 1 } }",
        Project(Minus(Extend(bgp(":x :p ?b"), var("a"), GIVEN), Extend(bgp(f":x :q {integer(1)}"), var("a"), GIVEN)), names("b")),
    ),
    "MINUS of others": ("?b { ?a :p ?b MINUS { ?b :q 1 } }", Project(Minus(bgp(":x :p ?b"), bgp(f"?b :q {integer(1)}")), names("b"))),
    "a path": ("?b { ?a :p* ?b }", Project(Closure(node(":x"), var("b"), STEP, var("_:.1"), var("_:.2"), True, True, G), names("b"))),
    "BIND": ("?b { ?b :p ?c BIND(?c AS ?a) }", Project(only(Extend(bgp("?b :p ?c"), var("a"), value("?c"))), names("b"))),
    "BIND of it": ("?b { ?a :p ?c BIND(?a AS ?b) }", Project(Extend(bgp(":x :p ?c"), var("b"), GIVEN), names("b"))),
    "VALUES": (
        "?b { VALUES (?a ?b) { (:x 1) (:y 2) (UNDEF 3) } }",
        Project(Values(names("b"), ((integer(1),), (integer(3),))), names("b")),
    ),
    "a subquery that selects it": (
        "?b { { SELECT ?a ?c { ?a :p ?c } } ?c :q ?b }",
        Project(Join(shown(bgp(":x :p ?c"), "a c"), bgp("?c :q ?b")), names("b")),
    ),
    "a subquery that has another": (
        "?b { ?a :p ?b { SELECT ?b { ?a :q ?b } } }",
        Project(Join(bgp(":x :p ?b"), Project(bgp("?a :q ?b"), names("b"))), names("b")),
    ),
    "a subquery with LIMIT": (
        "?b { { SELECT ?a ?b { ?a :p ?b } LIMIT 1 } }",
        Project(only(Slice(Project(bgp("?a :p ?b"), names("a b")), 0, 1)), names("b")),
    ),
    "a query with LIMIT": ("?a { ?a :p ?b } LIMIT 1", Slice(shown(bgp(":x :p ?b"), "a"), 0, 1)),
    "groups by it": (
        "?a (COUNT(?a) AS ?n) { ?a :p ?b } GROUP BY ?a",
        Project(Group(bgp(":x :p ?b"), ((var("a"), GIVEN),), ((var("n"), Aggregate("COUNT", GIVEN)),)), names("a n")),
    ),
    "aggregates": (
        "(SUM(?b) AS ?s) { ?a :p ?b }",
        Project(Group(bgp(":x :p ?b"), (), ((var("s"), Aggregate("SUM", value("?b"))),)), names("s")),
    ),
    "an aggregate": (
        "(COUNT(*) AS ?a) { ?b :p ?c }",
        Project(only(Group(bgp("?b :p ?c"), (), ((var("a"), Aggregate("COUNT")),))), names("a")),
    ),
    "a named key": (
        "?a { ?b :p ?c } GROUP BY (STR(?b) AS ?a)",
        Project(only(Group(bgp("?b :p ?c"), ((var("a"), call("STR", "?b")),), ())), names("a")),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_parameters(case: str) -> None:
    text, expected = CASES[case]
    assert read_query(f"{PREFIXES}SELECT {text}", G, {"a": X}).pattern == expected


def test_the_graph_may_be_given() -> None:
    text = f"{PREFIXES}SELECT ?b FROM <g> {{ GRAPH ?v {{ ?a :p ?b }} }}"
    assert read_query(text, (), {"v": X}).pattern == Project(bgp("?a :p ?b", place=(Source("g", X),)), names("b"))
    restricted = text.replace("FROM <g>", "FROM NAMED <g> FROM NAMED <h>")
    assert read_query(restricted, (), {"v": "<h>"}).pattern == Project(bgp("?a :p ?b", place=(Source("h"),)), names("b"))
    assert read_query(restricted, (), {"v": X}).pattern == Project(bgp("?a :p ?b", place=()), names("b"))
    assert read_query(text, (), {"a": X}).pattern == Project(bgp(":x :p ?b", place=EachNamed(var("v"), ("g",))), names("b"))


def test_templates() -> None:
    found = read_query(f"{PREFIXES}CONSTRUCT {{ ?a :q ?b }} {{ ?a :p ?b }}", G, {"a": X})
    assert found.template == (triple(":x :q ?b"),)
    assert found.pattern == shown(bgp(":x :p ?b"), "a b")


def test_what_describe_tells_of() -> None:
    found = read_query(f"{PREFIXES}DESCRIBE ?b {{ ?a :p ?b }} LIMIT 1", G, {"a": X}).pattern
    plain = read_query(f"{PREFIXES}DESCRIBE ?b {{ :x :p ?b }} LIMIT 1", G).pattern
    assert found == plain


def test_a_parameter_of_describe_is_none_of_its_columns() -> None:
    found = read_query(f"{PREFIXES}DESCRIBE ?b {{ ?object :p ?b }}", G, {"object": X, "predicate": X}).pattern
    assert found == read_query(f"{PREFIXES}DESCRIBE ?b {{ :x :p ?b }}", G).pattern


def test_the_query_without_values_stays_what_it_is() -> None:
    text = f"{PREFIXES}SELECT ?a {{ ?a :p ?b }}"
    plain = Project(bgp("?a :p ?b"), names("a"))
    assert [read_query(text, G, given).pattern == plain for given in ({}, {"a": X}, {})] == [True, False, True]


def test_updates() -> None:
    text = f"{PREFIXES}DELETE {{ GRAPH ?v {{ ?a :p ?b }} }} INSERT {{ ?a :q ?b }} WHERE {{ ?a :p ?b }} ; CLEAR DEFAULT"
    modify, clear = read_updates(text, Source("g"), {"a": X, "v": "<http://v>"})
    deleted, inserted = Quad(triple(":x :p ?b"), Source("g", "<http://v>")), Quad(triple(":x :q ?b"), Source("g"))
    pattern = Extend(Extend(bgp(":x :p ?b"), var("a"), GIVEN), var("v"), value("<http://v>"))
    assert modify == Modify((deleted,), (inserted,), Project(pattern, names("a b v")))
    assert clear == Clear((Source("g"),))


def test_whole_graphs_have_no_variables() -> None:
    text = "ADD <h> TO <g>"
    assert read_updates(text, None, {"subject": X}) == read_updates(text)


def test_a_table_may_be_given_for_the_graph_of_a_template() -> None:
    (modify,) = read_updates(f"{PREFIXES}INSERT {{ GRAPH ?v {{ :s :p ?b }} }} WHERE {{ ?a :p ?b }}", Source("g"), {"v": "<h>"})
    assert isinstance(modify, Modify)
    assert modify.inserted == (Quad(triple(":s :p ?b"), Source("h")),)
