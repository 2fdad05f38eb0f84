"""Where the statements of a script end."""

from __future__ import annotations

import pytest

from imp_driver.cli.statements import split


@pytest.mark.parametrize(
    ("text", "found", "rest"),
    [
        ("SELECT ';' FROM t -- ;\n; SELECT 2", ["SELECT ';' FROM t -- ;"], " SELECT 2"),
        ("SPARQL SELECT * { ?s :p 1 ; :q 2 } ; SELECT 1;", ["SPARQL SELECT * { ?s :p 1 ; :q 2 }", "SELECT 1"], ""),
        ("SELECT 1; SPARQL ASK {}", ["SELECT 1"], " SPARQL ASK {}"),
        ("SPARQL ASK { # it's }\n <http://x/#y--;z> :p 'it\\'s;}' } ;", ["SPARQL ASK { # it's }\n <http://x/#y--;z> :p 'it\\'s;}' }"], ""),
        ('SPARQL ASK { ?a ?b """}"; "" ;""" } ;', ['SPARQL ASK { ?a ?b """}"; "" ;""" }'], ""),
        ("SPARQL ASK { ?a :b\\;c ?d };", ["SPARQL ASK { ?a :b\\;c ?d }"], ""),
        ("SPARQL PREFIX a: <http://a#> ASK { ?x a:\\#y ?z } ;", ["SPARQL PREFIX a: <http://a#> ASK { ?x a:\\#y ?z }"], ""),
        ("-- first\nsparql ASK { ?a ?b '''it's; }'''", [], "-- first\nsparql ASK { ?a ?b '''it's; }'''"),
        ("SPARQL ASK { ?a ?b 'open }\n;", [], "SPARQL ASK { ?a ?b 'open }\n;"),
        ("EXPLAIN SPARQL ASK { ?a ?b ?c ; ?d ?e };;", ["EXPLAIN SPARQL ASK { ?a ?b ?c ; ?d ?e }"], ""),
        ("SPARQL ASK { FILTER(?a<3 && ?b>4) } ; x", ["SPARQL ASK { FILTER(?a<3 && ?b>4) }"], " x"),
    ],
)
def test_a_semicolon_ends_a_statement_outside_quotes_comments_and_braces(text: str, found: list[str], rest: str) -> None:
    assert split(text) == (found, rest)
