"""R2RML: what is read, and what is refused by its name."""

from __future__ import annotations

import pytest

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.mapping import Column, RowMap, TermMap, TripleMap, read_mapping
from imp_driver.sparql.mapping_sql import view_text
from imp_driver.sparql.terms import TermKind

PREFIXES = "@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix a: <a:> .\n"
TABLE = 'rr:logicalTable [ rr:tableName "t" ]'
IRI, LITERAL = TermKind.IRI, TermKind.LITERAL


def _read(text: str) -> tuple[RowMap, ...]:
    return read_mapping(PREFIXES + text)


def _objects(text: str) -> list[TermMap]:
    [found] = _read(f"<#m> {TABLE} ; rr:subject a:s ; rr:predicateObjectMap [ rr:predicate a:p ; {text} ] .")
    return [triple.object for triple in found.triples]


def test_terms() -> None:
    subject, predicate = TermMap(IRI, "<a:s>"), TermMap(IRI, "<a:p>")
    found = _read(
        f'<#m> {TABLE} ; rr:subjectMap [ rr:template "a:\\\\{{{{\\"x y\\"}}-{{b}}" ; rr:class a:C ; rr:graph a:g ] ;'
        ' rr:predicateObjectMap [ rr:predicate a:p ; rr:object "1"@EN, a:o ; rr:graph rr:defaultGraph ] .'
    )
    own = TermMap(IRI, template=("a:{", Column("x y"), "-", Column("b")))
    graph = TermMap(IRI, "<a:g>")
    typed = TermMap(IRI, "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>")
    assert found[0].table == "t"
    assert found[0].triples[0] == TripleMap(own, typed, TermMap(IRI, "<a:C>"), graph)
    assert set(found[0].triples[1:]) == {
        TripleMap(own, predicate, TermMap(kind, term), place)
        for kind, term in ((LITERAL, '"1"@en'), (IRI, "<a:o>"))
        for place in (graph, None)
    }
    assert _objects('rr:objectMap [ rr:column "x" ]') == [TermMap(LITERAL, column=Column("x"))]
    assert _objects('rr:objectMap [ rr:column "x" ; rr:datatype a:d ]') == [TermMap(LITERAL, column=Column("x"), datatype="a:d")]
    assert _objects('rr:objectMap [ rr:column "x" ; rr:termType rr:IRI ]') == [TermMap(IRI, column=Column("x"))]
    assert _objects('rr:objectMap [ rr:template "{x}" ; rr:language "DE" ]') == [TermMap(LITERAL, template=(Column("x"),), language="de")]
    assert _objects('rr:objectMap [ rr:template "{x}" ]') == [TermMap(IRI, template=(Column("x"),))]
    assert (
        subject
        == _read(f"<#m> {TABLE} ; rr:subject a:s ; rr:predicateObjectMap [ rr:predicate a:p ; rr:object 1 ] .")[0].triples[0].subject
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"<#m> {TABLE} ; rr:subject a:s ; rr:predicateObjectMap [ rr:predicate a:p ; rr:objectMap [ rr:parentTriplesMap <#n> ] ] .",
            "rr:parent",
        ),
        (f'<#m> {TABLE} ; rr:subjectMap [ rr:column "x" ; rr:inverseExpression "x" ] .', "rr:inverseExpression of a subject map"),
        (f"<#m> {TABLE} ; rr:subject a:s ; rr:other 1 .", "rr:other of a triples map is not followed here"),
    ],
)
def test_terms_that_are_not_followed_are_named(text: str, said: str) -> None:
    with pytest.raises(NotSupportedError, match=said):
        _read(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no triples map"),
        ("<#m> a:b", "The mapping cannot be read"),
        (f"<#m> {TABLE} .", "one rr:subjectMap"),
        ("<#m> rr:logicalTable [ ] ; rr:subject a:s .", "one of rr:tableName and rr:sqlQuery"),
        (f'<#m> {TABLE} ; rr:subject "x" .', "cannot be that of a subject map"),
        (f"<#m> {TABLE} ; rr:subjectMap [ rr:class a:C ] .", "one of rr:constant, rr:column and rr:template"),
        (f'<#m> {TABLE} ; rr:subjectMap [ rr:template "a:b" ] .', "has no column"),
        (f'<#m> {TABLE} ; rr:subjectMap [ rr:template "a:{{b" ] .', "cannot be read at '{b'"),
        (f'<#m> {TABLE} ; rr:subjectMap [ rr:column "x" ; rr:termType rr:Literal ] .', "rr:termType of a subject map"),
        (f"<#m> {TABLE}, [ rr:tableName 'u' ] ; rr:subject a:s .", "2 values"),
    ],
)
def test_what_is_wrong_is_told(text: str, said: str) -> None:
    with pytest.raises(ProgrammingError, match=said):
        _read(text)


def test_the_view_reads_rows_without_nulls_and_each_triple_once() -> None:
    maps = _read(
        f'<#m> {TABLE} ; rr:subjectMap [ rr:template "a:{{id}}" ] ;'
        ' rr:predicateObjectMap [ rr:predicate a:p ; rr:objectMap [ rr:column "n" ; rr:language "en" ] ] .'
    )
    text = view_text(("c", "g"), maps, "m'", "said", lambda query: {"ID": "int", "n": "string"})
    assert text.startswith(
        "CREATE VIEW `c`.`g` (s, p, o, g) COMMENT 'said' TBLPROPERTIES ('imp.graph' = 'mapping', 'imp.mapping' = 'm\\'')"
    )
    assert " AS SELECT DISTINCT s, p, o, g FROM (SELECT " in text
    assert "concat('\"', CAST(r.`n` AS STRING), '\"@en') AS o, CAST(NULL AS STRING) AS g FROM `t` AS r" in text
    assert text.endswith(" WHERE r.`ID` IS NOT NULL AND r.`n` IS NOT NULL) AS triples")
    with pytest.raises(ProgrammingError, match=r"column 'n', which is not there\. There are id"):
        view_text(("g",), maps, "", None, lambda query: {"id": "int"})
    with pytest.raises(NotSupportedError, match="of type array<int>, which has no form in RDF"):
        view_text(("g",), maps, "", None, lambda query: {"id": "array<int>", "n": "string"})


def test_a_query_that_is_none_is_refused() -> None:
    maps = _read("<#m> rr:logicalTable [ rr:sqlQuery 'DELETE FROM t' ] ; rr:subjectMap [ rr:column 'x' ; rr:class a:C ] .")
    with pytest.raises(ProgrammingError, match="What rr:sqlQuery says is to be a query"):
        view_text(("g",), maps, "", None, lambda query: {})
