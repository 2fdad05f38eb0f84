"""Group graph patterns: joins, OPTIONAL with its condition, UNION, MINUS, filters, BIND, VALUES, subqueries, EXISTS."""

from __future__ import annotations

import pytest

from imp_driver.sparql.algebra import (
    Bgp,
    Distinct,
    Exists,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Project,
    Slice,
    Union,
    Values,
)
from tests.unit.sparql.shapes import EMPTY, bgp, call, ex, integer, names, selected, value, var, where

A, B, C = bgp("?a :p ?b"), bgp("?b :q ?c"), bgp("?c :r ?d")
IS_ONE = call("=", "?b", integer(1))

CASES: dict[str, tuple[str, Pattern]] = {
    "nothing": ("{}", EMPTY),
    "triples": ("{ ?a :p ?b . ?b :q ?c }", bgp("?a :p ?b", "?b :q ?c")),
    "order of triples as written": ("{ ?x ?y ?z . :s :p ?x }", bgp("?x ?y ?z", ":s :p ?x")),
    "lists of predicates and objects": ("{ ?a :p ?b, ?c ; :q ?d }", bgp("?a :p ?b", "?a :p ?c", "?a :q ?d")),
    "a group within": ("{ ?a :p ?b { ?b :q ?c } }", bgp("?a :p ?b", "?b :q ?c")),
    "a filter between triples leaves them one pattern": (
        "{ ?a :p ?b FILTER(?b = 1) ?b :q ?c }",
        Filter(bgp("?a :p ?b", "?b :q ?c"), IS_ONE),
    ),
    "a filter before all": ("{ FILTER(?b = 1) ?a :p ?b }", Filter(A, IS_ONE)),
    "two filters": ("{ ?a :p ?b FILTER(?b = 1) FILTER(?a) }", Filter(A, call("&&", IS_ONE, "?a"))),
    "a filter of a group within stays there": ("{ ?b :q ?c { ?a :p ?b FILTER(?b = 1) } }", Join(B, Filter(A, IS_ONE))),
    "OPTIONAL": ("{ ?a :p ?b OPTIONAL { ?b :q ?c } }", LeftJoin(A, B)),
    "OPTIONAL first": ("{ OPTIONAL { ?a :p ?b } }", LeftJoin(EMPTY, A)),
    "a filter in OPTIONAL is its condition": ("{ ?a :p ?b OPTIONAL { ?b :q ?c FILTER(?b = 1) } }", LeftJoin(A, B, IS_ONE)),
    "filters in OPTIONAL": (
        "{ ?a :p ?b OPTIONAL { ?b :q ?c FILTER(?b = 1) FILTER(?c) } }",
        LeftJoin(A, B, call("&&", IS_ONE, "?c")),
    ),
    "a filter deeper in OPTIONAL is none": (
        "{ ?a :p ?b OPTIONAL { { ?b :q ?c FILTER(?b = 1) } } }",
        LeftJoin(A, Filter(B, IS_ONE)),
    ),
    "a filter behind OPTIONAL is of the group": (
        "{ ?a :p ?b OPTIONAL { ?b :q ?c } FILTER(?b = 1) }",
        Filter(LeftJoin(A, B), IS_ONE),
    ),
    "OPTIONAL one after the other": (
        "{ ?a :p ?b OPTIONAL { ?b :q ?c } OPTIONAL { ?c :r ?d } }",
        LeftJoin(LeftJoin(A, B), C),
    ),
    "OPTIONAL in OPTIONAL": ("{ ?a :p ?b OPTIONAL { ?b :q ?c OPTIONAL { ?c :r ?d } } }", LeftJoin(A, LeftJoin(B, C))),
    "triples behind OPTIONAL": ("{ ?a :p ?b OPTIONAL { ?b :q ?c } ?c :r ?d }", Join(LeftJoin(A, B), C)),
    "UNION": ("{ { ?a :p ?b } UNION { ?b :q ?c } UNION { ?c :r ?d } }", Union(Union(A, B), C)),
    "UNION with nothing": ("{ ?a :p ?b { ?b :q ?c } UNION {} }", Join(A, Union(B, EMPTY))),
    "MINUS": ("{ ?a :p ?b MINUS { ?b :q ?c } }", Minus(A, B)),
    "MINUS first": ("{ MINUS { ?b :q ?c } ?a :p ?b }", Join(Minus(EMPTY, B), A)),
    "a filter in MINUS": ("{ ?a :p ?b MINUS { ?b :q ?c FILTER(?b = 1) } }", Minus(A, Filter(B, IS_ONE))),
    "BIND": ("{ ?a :p ?b BIND(?b + 1 AS ?c) }", Extend(A, var("c"), call("+", "?b", integer(1)))),
    "BIND first": ("{ BIND(1 AS ?c) ?a :p ?b }", Join(Extend(EMPTY, var("c"), value(integer(1))), A)),
    "BIND ends the triples before it": (
        "{ ?a :p ?b BIND(?b AS ?z) ?b :q ?c }",
        Join(Extend(A, var("z"), value("?b")), B),
    ),
    "VALUES of one variable": ("{ VALUES ?a { :x 1 UNDEF } }", Values(names("a"), ((ex("x"),), (integer(1),), (None,)))),
    "VALUES of several": (
        "{ VALUES (?a ?b) { (:x 1) (UNDEF :y) } ?a :p ?b }",
        Join(Values(names("a b"), ((ex("x"), integer(1)), (None, ex("y")))), A),
    ),
    "VALUES of none": ("{ VALUES () { () () } }", Values((), ((), ()))),
    "VALUES without rows": ("{ VALUES ?a {} }", Values(names("a"), ())),
    "a subquery": (
        "{ ?a :p ?b { SELECT DISTINCT ?b { ?b :q ?c } LIMIT 3 } }",
        Join(A, Slice(Distinct(Project(B, names("b"))), 0, 3)),
    ),
    "EXISTS": ("{ ?a :p ?b FILTER EXISTS { ?b :q ?c } }", Filter(A, Exists(B))),
    "NOT EXISTS in an expression": (
        "{ ?a :p ?b FILTER(?b = 1 || NOT EXISTS { ?b :q ?c }) }",
        Filter(A, call("||", IS_ONE, Exists(B, is_negated=True))),
    ),
    "EXISTS with all that a group can have": (
        "{ ?a :p ?b FILTER EXISTS { ?b :q ?c OPTIONAL { ?c :r ?d FILTER(?b = 1) } FILTER(?b = 1) } }",
        Filter(A, Exists(Filter(LeftJoin(B, C, IS_ONE), IS_ONE))),
    ),
    "EXISTS in BIND": ("{ ?a :p ?b BIND(EXISTS { ?b :q ?c } AS ?z) }", Extend(A, var("z"), Exists(B))),
    "blank nodes of one pattern": ("{ _:x :p _:y . _:y :q [] }", bgp("?_:x :p ?_:y", "?_:y :q ?_:.1")),
    "property lists": (
        "{ ?a :p [ :q ?b ; :r [ :q ?c ] ] . [ :p ?d ] }",
        bgp("?a :p ?_:.1", "?_:.1 :q ?b", "?_:.1 :r ?_:.2", "?_:.2 :q ?c", "?_:.3 :p ?d"),
    ),
    "a filter between triples ends no label": (
        "{ _:x :p ?b FILTER(?b = 1) _:x :q ?c }",
        Filter(bgp("?_:x :p ?b", "?_:x :q ?c"), IS_ONE),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_groups(case: str) -> None:
    text, expected = CASES[case]
    assert where(text) == expected


def test_a_collection_is_a_list_of_hidden_nodes() -> None:
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    first, rest, nil = f"<{rdf}first>", f"<{rdf}rest>", f"<{rdf}nil>"
    found = where("{ ?a :p (1 ?b) . ?c :p () . ?d a :T }")
    assert isinstance(found, Bgp)
    assert {(triple.subject, triple.predicate, triple.object) for triple in found.triples} == {
        (var("a"), ex("p"), var("_:.1")),
        (var("_:.1"), first, integer(1)),
        (var("_:.1"), rest, var("_:.2")),
        (var("_:.2"), first, var("b")),
        (var("_:.2"), rest, nil),
        (var("c"), ex("p"), nil),
        (var("d"), f"<{rdf}type>", ex("T")),
    }


def test_a_subquery_may_select_all() -> None:
    assert where("{ ?a :p ?b { SELECT * { ?b :q _:x } } }") == Join(A, Project(bgp("?b :q ?_:x"), names("b")))


def test_columns_of_all_are_those_in_scope_as_they_come() -> None:
    found = selected(
        "* { ?z :p ?a FILTER(?f = 1) OPTIONAL { ?a :q ?m } MINUS { ?z :p ?k } BIND(1 AS ?c) { SELECT ?y { ?y :p ?n } } _:x :p [] }"
    )
    assert isinstance(found, Project)
    assert found.variables == names("z a m c y")
