"""What goes wrong easily where solutions follow changes, each by a name."""

from __future__ import annotations

from collections import Counter

import pytest

from imp_driver.dataflow.mappings.ksets import KSet, diff, minus
from imp_driver.dataflow.mappings.semijoin import Keeping, SemijoinOperator
from imp_driver.sparql.algebra import Source, Variable
from tests.operators.mappings_graphs import TABLE, name, oxigraph_rows, rdflib_rows
from tests.operators.mappings_views import View

X, Y = Variable("x"), Variable("y")


def test_1_optional_becomes_bound_and_unbound_with_its_multiplicity() -> None:
    # ?k is projected away, so that a stands three times.
    view = View("SELECT ?x ?y WHERE { { SELECT ?x WHERE { ?x :k ?k } } OPTIONAL { ?x :p ?y } }")
    assert view.insert("a k 1", "a k 2", "a k 3", "b k 1") == {"a -": 3, "b -": 1}
    assert view.insert("a p c") == {"a -": -3, "a c": 3}
    assert view.insert("a p d") == {"a d": 3}
    assert view.delete("a p c") == {"a c": -3}
    assert view.delete("a p d") == {"a d": -3, "a -": 3}
    assert view.rows == {"a -": 3, "b -": 1}


def test_2_fewer_partners_leave_an_optional_bound() -> None:
    view = View("SELECT ?x ?y WHERE { ?x :k 1 OPTIONAL { SELECT ?x ?y WHERE { ?x :p ?y . ?x :q ?z } } }")
    view.insert("a k 1", "a p b", "a q 1", "a q 2")
    assert view.rows == {"a b": 2}
    assert view.delete("a q 2") == {"a b": -1}
    assert view.rows == {"a b": 1}
    assert view.delete("a q 1") == {"a b": -1, "a -": 1}


def test_3_a_condition_of_an_optional_reads_the_left_side() -> None:
    view = View("SELECT ?x ?v ?y WHERE { ?x :v ?v OPTIONAL { ?x :p ?y FILTER(?y > ?v) } }")
    assert view.insert("a v 1", "a p 1") == {"a 1 -": 1}
    assert view.insert("a p 2") == {"a 1 -": -1, "a 1 2": 1}
    assert view.change(("a v 2",), ("a v 1",)) == {"a 1 2": -1, "a 2 -": 1}
    assert view.rows == {"a 2 -": 1}


def test_3_a_condition_of_an_optional_has_exists_over_solutions_that_differ_in_what_they_bind() -> None:
    left = "{ ?x :p ?y } UNION { ?x :p ?y . ?x :q ?z }"
    view = View(f"SELECT ?x ?y ?z ?w WHERE {{ {left} OPTIONAL {{ ?y :r ?w FILTER(bound(?z) && EXISTS {{ ?x :s ?w }}) }} }}")
    assert view.insert("a p b", "a q 1", "b r c") == {"a b - -": 1, "a b 1 -": 1}
    assert view.insert("a s c") == {"a b 1 -": -1, "a b 1 c": 1}
    assert view.rows == {"a b - -": 1, "a b 1 c": 1}


def test_4_an_unbound_shared_variable_is_compatible_with_anything() -> None:
    view = View("SELECT ?x ?y ?z WHERE { { ?x :p 1 OPTIONAL { ?x :q ?y } } { ?y :r ?z } }")
    assert view.insert("a p 1", "b r c", "d r e") == {"a b c": 1, "a d e": 1}
    assert view.insert("a q b") == {"a d e": -1}
    assert view.rows == {"a b c": 1}
    assert view.delete("a q b") == {"a d e": 1}


def test_5_diff_with_no_shared_variable_removes_everything_and_minus_nothing() -> None:
    left, right = KSet((X,), {("<a>",): 2}), KSet((Y,), {("<b>",): 1})
    assert dict(diff(left, right).rows) == {}
    assert dict(minus(left, right).rows) == {("<a>",): 2}
    operator = SemijoinOperator((X,), (Y,), Keeping.UNMET)
    assert operator.step([left.rows, {}]) == {("<a>",): 2}
    assert operator.step([{}, right.rows]) == {("<a>",): -2}
    assert operator.step([{}, {("<b>",): -1}]) == {("<a>",): 2}
    view = View("SELECT ?x WHERE { ?x :p 1 MINUS { ?y :q 1 } }")
    view.insert("a p 1", "b q 1")
    assert view.rows == {"a": 1}


def test_6_not_exists_substitutes_and_minus_does_not() -> None:
    exists = View("SELECT ?x ?n WHERE { ?x :p ?n FILTER NOT EXISTS { ?x :q ?m FILTER(?n = ?m) } }")
    removed = View("SELECT ?x ?n WHERE { ?x :p ?n MINUS { ?x :q ?m FILTER(?n = ?m) } }")
    for view in (exists, removed):
        view.insert("a p 1", "b p 2", "b q 3", "a q 1")
    assert exists.rows == {"b 2": 1}
    assert removed.rows == {"a 1": 1, "b 2": 1}
    assert exists.delete("a q 1") == {"a 1": 1}
    anything = View("SELECT ?x WHERE { ?x :p 1 FILTER NOT EXISTS { ?y :q 1 } }")
    anything.insert("a p 1")
    assert anything.insert("c q 1") == {"a": -1}


@pytest.mark.parametrize(
    "inner",
    [
        "?x :q ?m MINUS { ?x :r ?n }",
        "?x :q ?m OPTIONAL { ?x :r ?o FILTER(?o = ?n) } FILTER(!bound(?o))",
        "{ ?x :q ?m FILTER(?n = ?m) } UNION { ?x :r ?n }",
        "?m :q* ?n FILTER(?m = ?n)",
        "{ SELECT ?x (COUNT(*) AS ?n) WHERE { ?x :q ?m } GROUP BY ?x }",
        "?x :q ?m FILTER EXISTS { ?m :r ?n }",
        "VALUES (?x ?n) { (:a 1) (UNDEF 2) }",
        "BIND(?n + 1 AS ?m) ?x :q ?m",
    ],
)
def test_6_every_form_of_exists_follows(inner: str) -> None:
    view = View(f"SELECT ?x ?n WHERE {{ ?x :p ?n FILTER EXISTS {{ {inner} }} }}")
    lines = ["a p 1", "b p 2", "a p 3", "a q 1", "b q 2", "a q 2", "a q b", "b r 2", "a r 1", "b r 1", "a r 3", "2 r 2", "1 r 1"]
    seen = Counter[str]()
    for line in (*lines, *lines[3:]):
        view.delete(line) if view.table[quad_of(line)] else view.insert(line)
        seen.update(view.rows)
    assert seen


def test_6_no_value_is_put_into_a_subquery_that_does_not_show_it() -> None:
    view = View("SELECT ?x ?n WHERE { ?x :p ?n FILTER EXISTS { ?x :q ?m MINUS { ?x :r ?k } { SELECT ?x WHERE { ?x :s ?n } } } }")
    assert view.insert("a p 1", "a q 2") == {}
    assert view.insert("a s 5") == {"a 1": 1}
    assert view.rows == {"a 1": 1}


def quad_of(line: str) -> tuple[str, str, str, None]:
    from tests.operators.mappings_views import quads_of

    ((subject, predicate, object_, _),) = quads_of(line)
    return subject, predicate, object_, None


def test_7_a_graph_has_a_triple_once() -> None:
    view = View("SELECT ?x ?y WHERE { ?x :p ?y }")
    assert view.insert("a p b", "a p b") == {"a b": 1}
    assert view.insert("a p b") == {}
    assert view.change((), ("a p b", "a p b")) == {}
    assert view.delete("a p b") == {"a b": -1}
    assert view.change(("a p c",), ("a p c",)) == {}


def test_7_a_triple_of_two_sources_of_one_place_is_there_once() -> None:
    sources = (Source(TABLE), Source(TABLE, name("g")))
    view = View("SELECT ?x ?y WHERE { ?x :p ?y }", sources)
    assert view.insert("a p b", "a p b g") == {"a b": 1}
    assert view.delete("a p b") == {}
    assert view.delete("a p b g") == {"a b": -1}


def test_8_joins_tell_terms_apart_and_filters_values() -> None:
    joined = View("SELECT ?x ?z WHERE { ?x :p ?y . ?z :q ?y }")
    filtered = View("SELECT ?x ?z WHERE { ?x :p ?y . ?z :q ?w FILTER(?y = ?w) }")
    one, other = 'a p "1"^^<http://www.w3.org/2001/XMLSchema#integer>', 'b q "01"^^<http://www.w3.org/2001/XMLSchema#integer>'
    for view in (joined, filtered):
        view.insert(one, other)
    assert joined.rows == {}
    assert filtered.rows == {"a b": 1}
    assert joined.insert("c q 1") == {"a c": 1}


def test_9_errors_are_false_in_filters_and_unbind_sums() -> None:
    view = View("SELECT ?x WHERE { ?x :p ?y FILTER(?y > 0 || ?z) }")
    assert view.insert("a p 1", "b p 0", 'c p "text"') == {"a": 1}
    grouped = View("SELECT ?x (SUM(?y) AS ?s) (AVG(?y) AS ?a) (COUNT(?y) AS ?c) WHERE { ?x :p ?y } GROUP BY ?x")
    grouped.insert("a p 1", "a p 3")
    assert grouped.rows == {"a 4 2.0 2": 1}
    grouped.insert('a p "text"')
    assert grouped.rows == {"a - - 3": 1}
    grouped.delete('a p "text"')
    assert grouped.rows == {"a 4 2.0 2": 1}


def test_10_aggregates_of_nothing() -> None:
    whole = View("SELECT (COUNT(*) AS ?c) (SUM(?y) AS ?s) WHERE { ?x :p ?y }")
    assert whole.change((), ()) == {"0 0": 1}
    assert whole.insert("a p 2") == {"0 0": -1, "1 2": 1}
    assert whole.delete("a p 2") == {"1 2": -1, "0 0": 1}
    grouped = View("SELECT ?x (COUNT(*) AS ?c) (SUM(?y) AS ?s) WHERE { ?x :p ?y } GROUP BY ?x")
    assert grouped.change((), ()) == {}
    assert grouped.insert("a p 2") == {"a 1 2": 1}
    assert grouped.delete("a p 2") == {"a 1 2": -1}


def test_10_a_group_whose_sum_is_0_stays_while_it_has_rows() -> None:
    view = View("SELECT ?x (SUM(?y) AS ?s) WHERE { ?x :p ?y } GROUP BY ?x")
    assert view.insert("a p 0") == {"a 0": 1}
    assert view.insert('a p "-1"^^<http://www.w3.org/2001/XMLSchema#integer>', "a p 1") == {}
    assert view.delete("a p 0", 'a p "-1"^^<http://www.w3.org/2001/XMLSchema#integer>', "a p 1") == {"a 0": -1}


def test_10_groups_without_aggregates() -> None:
    view = View("SELECT ?x WHERE { ?x :p ?y } GROUP BY ?x")
    assert view.insert("a p 1", "a p 2") == {"a": 1}
    assert view.delete("a p 1") == {}
    assert view.delete("a p 2") == {"a": -1}


def test_11_blank_nodes_of_patterns_are_projected_away() -> None:
    view = View("SELECT * WHERE { ?x :p [ :q ?y ] . _:b :r ?x }")
    view.insert("a p b", "a p c", "b q 1", "c q 1", "d r a", "e r a")
    assert view.circuit.variables == (X, Y)
    assert view.rows == {"a 1": 4}
    assert view.delete("d r a") == {"a 1": -2}


def test_12_a_projection_merges_rows_of_different_schemas() -> None:
    view = View("SELECT ?x WHERE { ?x :k 1 OPTIONAL { ?x :p ?y } }")
    assert view.insert("a k 1", "b k 1", "b p c", "b p d") == {"a": 1, "b": 2}
    union = View("SELECT ?x ?y WHERE { { ?x :k 1 OPTIONAL { ?x :p ?y } } UNION { ?x :k 1 } }")
    union.insert("a k 1")
    assert union.rows == {"a -": 2}
    assert union.insert("a p b") == {"a -": -1, "a b": 1}


def test_13_distinct_order_limit_and_offset_on_top() -> None:
    view = View("SELECT DISTINCT ?y WHERE { ?x :p ?y } ORDER BY DESC(?y) OFFSET 1 LIMIT 2")
    assert view.insert("a p 1", "b p 1", "a p 2") == {"1": 1, "2": 1}
    assert view.ordered == ["1"]
    assert view.delete("a p 1") == {}
    view.insert("a p 3", "a p 4")
    assert view.ordered == ["3", "2"]
    assert view.circuit.rows.keys() == {(term,) for (term,) in view.circuit.rows}
    by_other = View("SELECT ?x WHERE { ?x :p ?y } ORDER BY ?y DESC(?x) LIMIT 3")
    by_other.insert("a p 2", "b p 1", "c p 1", "a p 1")
    assert by_other.ordered == ["c", "b", "a"]
    by_other.insert("d p 0")
    assert by_other.ordered == ["d", "c", "b"]
    assert sum(by_other.circuit.rows.values()) == 5


def test_13_limit_in_a_subquery() -> None:
    view = View("SELECT ?x ?z WHERE { { SELECT ?x WHERE { ?x :p ?y } ORDER BY ?y LIMIT 1 } ?x :q ?z }")
    assert view.insert("a p 2", "b p 3", "a q 1", "b q 2") == {"a 1": 1}
    assert view.insert("b p 1") == {"a 1": -1, "b 2": 1}
    assert view.rows == {"b 2": 1}


def test_14_one_triple_matches_several_patterns() -> None:
    view = View("SELECT ?x ?y ?z WHERE { ?x :p ?y . ?y :p ?z }")
    assert view.insert("a p a") == {"a a a": 1}
    assert view.insert("a p b", "b p a") == {"a a b": 1, "a b a": 1, "b a a": 1, "b a b": 1}
    assert view.delete("a p a") == {"a a a": -1, "a a b": -1, "b a a": -1}
    assert view.rows == {"a b a": 1, "b a b": 1}
    same = View("SELECT ?x WHERE { ?x ?x ?x . ?x :p ?x }")
    assert same.insert("p p p", "a p a") == {"p": 1}


def test_15_zero_steps_lead_from_terms_that_are_not_there() -> None:
    given = View("SELECT ?y WHERE { :nowhere :p* ?y }")
    assert given.change((), ()) == {"nowhere": 1}
    assert given.insert("nowhere p b", "b p nowhere") == {"b": 1}
    assert given.delete("nowhere p b", "b p nowhere") == {"b": -1}
    both = View("SELECT ?y WHERE { BIND(1 AS ?y) :a :p? :a }")
    assert both.change((), ()) == {"1": 1}
    every = View("SELECT ?x ?y WHERE { ?x :p* ?y }")
    assert every.insert("a p b", "c q 1") == {"a a": 1, "b b": 1, "a b": 1, "c c": 1, "1 1": 1}
    assert every.insert("b p a") == {"b a": 1}
    assert every.delete("a p b") == {"a b": -1}
    assert every.delete("c q 1") == {"c c": -1, "1 1": -1}


def test_15_zero_steps_in_exists_lead_from_the_given_term() -> None:
    view = View("SELECT ?n WHERE { ?x :p ?n FILTER EXISTS { GRAPH :g { ?n :q* ?m } } }")
    assert view.insert("a p b") == {}
    assert view.insert("c r d g") == {"b": 1}
    moved = View("SELECT ?n WHERE { ?x :p ?n GRAPH :g { ?n :q* ?m } }")
    assert moved.insert("a p b") == {}
    assert moved.insert("b r c g") == {"b": 1}


def test_15_a_cycle_does_not_keep_itself() -> None:
    view = View("SELECT ?y WHERE { :a :p+ ?y }")
    assert view.insert("a p b", "b p c", "c p b") == {"b": 1, "c": 1}
    assert view.delete("a p b") == {"b": -1, "c": -1}
    backward = View("SELECT ?x WHERE { ?x :p+ :c }")
    assert backward.insert("a p b", "b p c", "c p b") == {"a": 1, "b": 1, "c": 1}
    assert backward.delete("b p c") == {"a": -1, "b": -1, "c": -1}


def test_16_named_graphs_one_by_one_and_their_union() -> None:
    each = View("SELECT ?g ?x ?z WHERE { GRAPH ?g { ?x :p ?y . ?y :p ?z } }")
    assert each.insert("a p b g1", "b p c g2", "b p c") == {}
    assert each.insert("b p c g1") == {"g1 a c": 1}
    union = View(f"SELECT ?x ?z FROM {name('g1')} FROM {name('g2')} WHERE {{ ?x :p ?y . ?y :p ?z }}")
    union.insert("a p b g1", "b p c g2")
    assert union.rows == {"a c": 1}
    assert union.insert("b p c g1") == {}
    assert union.delete("b p c g2") == {}
    paths = View("SELECT ?g ?y WHERE { GRAPH ?g { :a :p* ?y } }")
    assert paths.insert("a p b g1", "b p c g2", "b p d") == {"g1 a": 1, "g1 b": 1, "g2 a": 1}
    assert paths.delete("a p b g1") == {"g1 a": -1, "g1 b": -1}
    names = View("SELECT ?g WHERE { GRAPH ?g { } }")
    assert names.insert("a p b g1", "a p c g1", "a p b") == {"g1": 1}
    assert names.delete("a p b g1") == {}
    assert names.delete("a p c g1") == {"g1": -1}


def test_17_unbound_values_and_equal_rows_in_what_is_taken_away() -> None:
    # NOT IN would say nothing where the right side has NULL; a UNION of sets would count the rows that turn up twice once.
    view = View("SELECT ?x WHERE { { SELECT ?x WHERE { ?x :k ?k } } MINUS { ?z :q 1 OPTIONAL { ?z :p ?x } } }")
    assert view.insert("a k 1", "a k 2", "b k 1", "c q 1") == {"a": 2, "b": 1}
    assert view.insert("c p a") == {"a": -2}
    assert view.change(("d q 1", "d p a"), ("c p a",)) == {}
    assert view.delete("d p a") == {"a": 2}


def test_the_judges_read_graphs_as_the_views_do() -> None:
    view = View("SELECT ?g ?x WHERE { GRAPH ?g { ?x :p ?y } MINUS { ?x :q 1 } }")
    view.insert("a p b g1", "b p 1 g2", "b q 1", "c p 2")
    assert view.rows == {"g1 a": 1}
    text = "PREFIX : <http://example.org/> SELECT ?g ?x WHERE { GRAPH ?g { ?x :p ?y } MINUS { ?x :q 1 } }"
    for judged in (rdflib_rows, oxigraph_rows):
        assert judged(text, view.table, view.circuit.variables) == Counter(dict(view.circuit.rows))
