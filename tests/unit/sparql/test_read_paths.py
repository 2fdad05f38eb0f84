"""Property paths, spelled out."""

from __future__ import annotations

import pytest

from imp_driver.errors import NotSupportedError
from imp_driver.sparql.algebra import Bgp, Closure, EachNamed, Filter, Join, Pattern, Source, Union, variables
from imp_driver.sparql.read import read_query
from tests.unit.sparql.shapes import G, bgp, call, node, selected, var, where


def closure(subject: str, object_: str, step: Pattern, ends: tuple[str, str], mark: str) -> Closure:
    return Closure(node(subject), node(object_), step, var(ends[0]), var(ends[1]), mark in "*?", mark in "*+", G)


def of_others(subject: str, predicate: str, object_: str, *iris: str) -> Filter:
    return Filter(bgp(f"{subject} ?{predicate} {object_}"), call("NOT IN", f"?{predicate}", *iris))


STEP = bgp("?_:.1 :p ?_:.2")

CASES: dict[str, tuple[str, Pattern]] = {
    "one IRI": ("?a (:p) ?b", bgp("?a :p ?b")),
    "sequence": ("?a :p/:q/:r ?b", bgp("?a :p ?_:.1", "?_:.1 :q ?_:.2", "?_:.2 :r ?b")),
    "inverse": ("?a ^:p ?b", bgp("?b :p ?a")),
    "inverse of a sequence": ("?a ^(:p/:q) ?b", bgp("?b :p ?_:.1", "?_:.1 :q ?a")),
    "sequence with an inverse": ("?a :p/^:q ?b", bgp("?a :p ?_:.1", "?b :q ?_:.1")),
    "inverse of an inverse": ("?a ^(^:p) ?b", bgp("?a :p ?b")),
    "alternative": ("?a :p|:q|:r ?b", Union(Union(bgp("?a :p ?b"), bgp("?a :q ?b")), bgp("?a :r ?b"))),
    "sequence of alternatives": (
        "?a (:p|:q)/:r ?b",
        Join(bgp("?_:.1 :r ?b"), Union(bgp("?a :p ?_:.1"), bgp("?a :q ?_:.1"))),
    ),
    "alternative of sequences": ("?a :p/:q|^:r ?b", Union(bgp("?a :p ?_:.1", "?_:.1 :q ?b"), bgp("?b :r ?a"))),
    "zero or more": ("?a :p* ?b", closure("?a", "?b", STEP, ("_:.1", "_:.2"), "*")),
    "one or more": ("?a :p+ ?b", closure("?a", "?b", STEP, ("_:.1", "_:.2"), "+")),
    "zero or one": (":x :p? 5", closure(":x", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>', STEP, ("_:.1", "_:.2"), "?")),
    "zero or more of an inverse": ("?a (^:p)* ?b", closure("?a", "?b", bgp("?_:.2 :p ?_:.1"), ("_:.1", "_:.2"), "*")),
    "a mark that stands apart": ("?a :p * ?b", closure("?a", "?b", STEP, ("_:.1", "_:.2"), "*")),
    "inverse of zero or more": ("?a ^:p* ?b", closure("?b", "?a", STEP, ("_:.1", "_:.2"), "*")),
    "closure of a sequence": (
        "?a (:p/:q)+ ?b",
        closure("?a", "?b", bgp("?_:.1 :p ?_:.3", "?_:.3 :q ?_:.2"), ("_:.1", "_:.2"), "+"),
    ),
    "closure of an alternative": (
        "?a (:p|:q)* ?b",
        closure("?a", "?b", Union(bgp("?_:.1 :p ?_:.2"), bgp("?_:.1 :q ?_:.2")), ("_:.1", "_:.2"), "*"),
    ),
    "closure of a closure": (
        "?a (:p?)+ ?b",
        closure("?a", "?b", closure("?_:.1", "?_:.2", bgp("?_:.3 :p ?_:.4"), ("_:.3", "_:.4"), "?"), ("_:.1", "_:.2"), "+"),
    ),
    "closure within a sequence": (
        "?a :p/:q* ?b",
        Join(bgp("?a :p ?_:.1"), closure("?_:.1", "?b", bgp("?_:.2 :q ?_:.3"), ("_:.2", "_:.3"), "*")),
    ),
    "all but one": ("?a !:p ?b", of_others("?a", "_:.1", "?b", ":p")),
    "all but several": ("?a !(:p|a) ?b", of_others("?a", "_:.1", "?b", ":p", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>")),
    "all but none": ("?a !() ?b", bgp("?a ?_:.1 ?b")),
    "all inverse ones but one": ("?a !^:p ?b", of_others("?b", "_:.1", "?a", ":p")),
    "both ways": (
        "?a !(:p|^:q|^<http://example.org/r>) ?b",
        Union(of_others("?a", "_:.1", "?b", ":p"), of_others("?b", "_:.2", "?a", ":q", ":r")),
    ),
    "closure of others": ("?a (!:p)+ ?b", closure("?a", "?b", of_others("?_:.1", "_:.3", "?_:.2", ":p"), ("_:.1", "_:.2"), "+")),
}


@pytest.mark.parametrize("case", CASES)
def test_paths(case: str) -> None:
    text, expected = CASES[case]
    assert where(f"{{ {text} }}") == expected


def test_paths_beside_triples_leave_these_one_pattern() -> None:
    found = where("{ ?a :p ?b . ?a :q+ ?c ; :r/:s ?d . ?c :p ?e }")
    assert found == Join(
        bgp("?a :p ?b", "?a :r ?_:.3", "?_:.3 :s ?d", "?c :p ?e"), closure("?a", "?c", bgp("?_:.1 :q ?_:.2"), ("_:.1", "_:.2"), "+")
    )


def test_a_path_with_several_objects_has_other_hidden_variables_for_each() -> None:
    assert where("{ ?a :p/:q ?b, ?c }") == bgp("?a :p ?_:.1", "?_:.1 :q ?b", "?a :p ?_:.2", "?_:.2 :q ?c")


def test_hidden_variables_are_no_columns() -> None:
    found = selected("* { ?a :p/:q*/!:r ?b }")
    assert [name.name for name in variables(found)] == ["a", "b"]


def test_a_path_within_graphs_stays_in_each() -> None:
    found = read_query("PREFIX : <http://example.org/> ASK { GRAPH ?g { ?a :p* ?b } }", G).pattern
    place = EachNamed(var("g"), ("g",))
    assert found == Closure(var("a"), var("b"), bgp("?_:.1 :p ?_:.2", place=place), var("_:.1"), var("_:.2"), True, True, place)


def test_an_exclamation_mark_of_an_expression_begins_no_set() -> None:
    found = where("{ ?a :p ?b FILTER(!(?a = ?b) && !EXISTS { ?a ^:q ?b }) }")
    assert isinstance(found, Filter)
    assert bgp("?b :q ?a") in _patterns(found)


def _patterns(found: object) -> list[object]:
    inner = [getattr(found, name) for name in ("pattern", "condition", "arguments") if hasattr(found, name)]
    parts = [part for one in inner for part in (one if isinstance(one, tuple) else (one,))]
    return [*(part for part in parts if isinstance(part, Bgp)), *(deep for part in parts for deep in _patterns(part))]


def test_distinct_paths_are_no_sparql() -> None:
    with pytest.raises(NotSupportedError, match="DISTINCT of a property path"):
        where("{ ?a DISTINCT(:p) ?b }")


def test_two_tables_are_one_place() -> None:
    found = read_query("ASK FROM <g> FROM <h> { ?a <http://x/p>|<http://x/q> ?b }").pattern
    place = (Source("g"), Source("h"))
    assert found == Union(bgp("?a <http://x/p> ?b", place=place), bgp("?a <http://x/q> ?b", place=place))
