"""Shapes of the SQL of SPARQL: flat where it can be, constants in the scans, and what is refused by name."""

from __future__ import annotations

import pytest

from imp_driver.errors import NotSupportedError
from imp_driver.sparql import translate
from imp_driver.sparql.algebra import Bgp, Constant, EachNamed, Filter, Form, Minus, Pattern, Query, Source, Triple, Variable, variables
from imp_driver.sparql.read import read_query
from imp_driver.sparql.sql.translate import Result, translated
from imp_driver.sparql.terms import XSD, literal

S, OBJECT, G = Variable("s"), Variable("o"), Variable("g")
NAME = "<http://e/name>"
PREFIX = "PREFIX : <http://e/> "


def _of(pattern: Pattern, *, is_set: bool = True) -> str:
    query = Query(Form.SELECT, pattern, variables(pattern))
    return translated(query, lambda table: table, result=Result.TERMS, is_set=is_set)


def _text(text: str, *, is_set: bool = True) -> str:
    return translated(read_query(PREFIX + text, (Source("t"),)), lambda table: table, result=Result.TERMS, is_set=is_set)


def test_triples_are_one_flat_join() -> None:
    assert _text("SELECT ?s ?n {?s :name ?n . ?s a :Person}") == (
        "SELECT t0.s AS `s`, t1.o AS `n` FROM t AS t0 JOIN t AS t1 ON t1.p = '<http://e/name>' AND t1.g IS NULL AND t1.s = t0.s "
        "WHERE t0.p = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>' AND t0.o = '<http://e/Person>' AND t0.g IS NULL"
    )


def test_a_graph_is_a_set_unless_its_table_is_one() -> None:
    pattern = Bgp((Triple(S, NAME, OBJECT),), (Source("t"),))
    assert _of(pattern, is_set=False) == (
        "SELECT t0.s AS `s`, t0.o AS `o` FROM (SELECT DISTINCT s, o FROM t WHERE p = '<http://e/name>' AND g IS NULL) AS t0"
    )
    # The same triple may be in two graphs.
    both = Bgp((Triple(S, NAME, OBJECT),), (Source("t"), Source("t", "<http://e/g>")))
    assert "SELECT DISTINCT s, o FROM t WHERE p = '<http://e/name>' AND (g IS NULL OR g = '<http://e/g>')" in _of(both)
    several = Bgp((Triple(S, NAME, OBJECT),), (Source("t"), Source("u")))
    assert "FROM t WHERE p = '<http://e/name>' AND g IS NULL UNION SELECT s, o FROM u" in _of(several)


def test_no_source_has_no_triple() -> None:
    assert "WHERE FALSE" in _of(Bgp((Triple(S, NAME, OBJECT),), ()))


def test_named_graphs_are_told_apart_by_their_column() -> None:
    each = Bgp((Triple(S, NAME, OBJECT), Triple(OBJECT, NAME, S)), EachNamed(G, ("t",)))
    assert "t1.g = t0.g" in _of(each)
    assert "g IS NOT NULL" in _of(each)
    renamed = Bgp((Triple(S, NAME, OBJECT),), EachNamed(G, (), (("<http://e/x>", Source("t", "<http://e/g>")),)))
    assert "'<http://e/x>' AS g FROM t WHERE p = '<http://e/name>' AND g = '<http://e/g>'" in _of(renamed)


def test_optional_is_a_left_join_of_a_scan() -> None:
    text = _text("SELECT * {?s a :Person OPTIONAL {?s :name ?n}}")
    assert text.endswith("LEFT JOIN t AS t1 ON t1.s = t0.s AND t1.p = '<http://e/name>' AND t1.g IS NULL " + text[text.index("WHERE") :])
    assert "(t1.o IS NULL OR t2.o = t1.o)" in _text("SELECT * {?s a :Person OPTIONAL {?s :name ?n} OPTIONAL {?s :nick ?n}}")


def test_minus_and_exists_are_subqueries() -> None:
    assert "NOT EXISTS (SELECT 1 FROM t AS t1 WHERE t1.p = '<http://e/name>' AND t1.g IS NULL AND t1.s = t0.s)" in _text(
        "SELECT * {?s a :Person MINUS {?s :name ?n}}"
    )
    # Without a common variable nothing is taken away.
    assert "EXISTS" not in _text("SELECT * {?s a :Person MINUS {?x :name ?n}}")
    shared = Minus(Bgp((Triple(S, NAME, OBJECT),), (Source("t"),)), Bgp((Triple(OBJECT, NAME, S),), (Source("t"),)))
    assert "t1.s = t0.o AND t1.o = t0.s" in _of(shared)


def test_iris_are_compared_as_they_are() -> None:
    assert "WHERE t0.p = '<http://e/knows>' AND t0.g IS NULL AND NOT (t0.s = t1.s)" in _text(
        "SELECT * {?x :knows ?y . ?z :knows ?y FILTER(?x != ?z)}"
    )


def test_names_that_differ_in_case_are_different_variables() -> None:
    text = _text("SELECT (COUNT(*) AS ?n) {SELECT DISTINCT ?x ?X {?x :knows ?X}}")
    assert "AS `x`" in text
    assert "AS `X__2`" in text
    with pytest.raises(NotSupportedError, match=r"\?x and \?X are one column"):
        _text("SELECT ?x ?X {?x :knows ?X}")


def test_texts_stay_within_their_quotes() -> None:
    text = _text('SELECT * {?s :name "it\'s ${x}"}')
    assert "'\"it\\'s \\u0024{x}\"'" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * {?s :name ?n FILTER(REPLACE(?n, 'a', 'b') = 'b')}", "REPLACE"),
        ("SELECT (NOW() AS ?t) {}", "NOW"),
        (f"SELECT (<{XSD}string>(?v) AS ?t) {{?s :age ?v}}", "xsd:string of what may be a number"),
        ("SELECT * {?s :name ?n FILTER(REGEX(?n, ?s))}", "REGEX"),
        ("CONSTRUCT {?s :is []} {?s a :Person}", "blank node"),
        ("SELECT * {?s :age ?v FILTER EXISTS {?s :knows ?k FILTER EXISTS {?k :age ?w FILTER(?w > ?v)}}}", r"\?v"),
        ("SELECT * {?s :age ?v FILTER EXISTS {?x :knows ?k OPTIONAL {?k :age ?v}}}", r"\?v"),
        ("SELECT * {?s :age ?v FILTER EXISTS {SELECT ?s {?s :knows ?k} LIMIT 1}}", r"\?s"),
    ],
)
def test_what_has_no_sql_is_named(text: str, message: str) -> None:
    with pytest.raises(NotSupportedError, match=message):
        _text(text)


def test_a_path_of_any_length_begins_at_its_constant() -> None:
    text = _text("SELECT ?x {:a :knows+ ?x}")
    assert text.startswith("WITH RECURSIVE path_")
    assert "AS steps WHERE a = '<http://e/a>' UNION SELECT r.a, step.b" in text


def test_translate_reads_text() -> None:
    text = translate(f"{PREFIX} SELECT ?s {{?s a :Person}}", "t")
    assert text.startswith("SELECT trim(BOTH '<>' FROM t0.s) AS `s` FROM (SELECT DISTINCT s FROM `t` WHERE")


def test_a_condition_without_columns() -> None:
    never = Constant(literal("false", f"{XSD}boolean"))
    assert _of(Filter(Bgp((), (Source("t"),)), never)).endswith("WHERE FALSE")
