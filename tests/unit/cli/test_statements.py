"""Where the statements of a script end, and what is no statement."""

from __future__ import annotations

import io

import pytest

from imp_driver.cli.shell.reader import Entry, entries, is_complete
from imp_driver.cli.statements import is_within_quotes, last_statement, split

MAPPING = "CREATE GRAPH g FROM MAPPING '<#a> a :b ; :c :d .'"
WHAT_IF = "WHAT IF (DELETE FROM l WHERE f(s) = 7; INSERT INTO l VALUES (1, ');')) SELECT (1)"
VIEW = "CREATE INCREMENTAL VIEW v AS SPARQL SELECT ?s { ?s <http://x#it's;> 1 ; :q 2 }"


@pytest.mark.parametrize(
    ("text", "found", "rest"),
    [
        ("SELECT ';' FROM t -- ;\n; SELECT 2", ["SELECT ';' FROM t"], " SELECT 2"),
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
        ("SPARQL INSERT DATA { <a#b> <p> 'x;' ; <q> 1 } ;\nSELECT 1", ["SPARQL INSERT DATA { <a#b> <p> 'x;' ; <q> 1 }"], "\nSELECT 1"),
        (f"{VIEW};SELECT 1 AS sparql ; SELECT 2 AS sparql;", [VIEW, "SELECT 1 AS sparql", "SELECT 2 AS sparql"], ""),
        (f"{MAPPING};DROP GRAPH g;", [MAPPING, "DROP GRAPH g"], ""),
        (f"{WHAT_IF}; SELECT (2;", [WHAT_IF, "SELECT (2"], ""),
        (f"{WHAT_IF[:40]};", [], f"{WHAT_IF[:40]};"),
        ("SELECT r'\\' AS a; SELECT R\"\\\" AS b; SELECT 'for' AS r;", ["SELECT r'\\' AS a", 'SELECT R"\\" AS b', "SELECT 'for' AS r"], ""),
        ("SELECT 1; -- done; so", ["SELECT 1"], ""),
        ("-- a\n/* b; /* c */ ; */ SHOW STATES /* d */; /* e */;", ["SHOW STATES"], ""),
        ("SELECT /*+ BROADCAST(t) */ 1 / 2 - 3 -- x\n + 4;", ["SELECT /*+ BROADCAST(t) */ 1 / 2 - 3 -- x\n + 4"], ""),
        ("SELECT 1; /* open", ["SELECT 1"], " /* open"),
        ("SELECT `a;b``;` FROM t;", ["SELECT `a;b``;` FROM t"], ""),
    ],
)
def test_a_semicolon_ends_a_statement_outside_quotes_comments_and_braces(text: str, found: list[str], rest: str) -> None:
    statements, place = split(text)
    assert ([each.text for each in statements], text[place:]) == (found, rest)
    assert all(text.startswith(each.text, each.begin) for each in statements)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" SELECT 1 -- x", "SELECT 1"),
        ("-- x", None),
        ("", None),
        ("/* x", "/* x"),
        ("SELECT 'x ", "SELECT 'x"),
        ("SPARQL ASK {}", "SPARQL ASK {}"),
    ],
)
def test_the_last_statement_needs_no_semicolon(text: str, found: str | None) -> None:
    last = last_statement(text)
    assert (None if last is None else last.text) == found


@pytest.mark.parametrize(
    ("text", "is_within"),
    [("SELECT 'a", True), ("SELECT 'a'", False), ("-- a", True), ("-- a\n", False), ("/* a", True), ("SELECT 1; `a", True)],
)
def test_what_ends_within_quotes_or_a_comment(text: str, is_within: bool) -> None:
    assert is_within_quotes(text) is is_within


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("select 1;\n\\h\nselect\n 2\n;\nselect 3", [("select 1", 1), ("\\h", 2), ("select\n 2", 3), ("select 3", 6)]),
        ("select 1; select 2;\n", [("select 1", 1), ("select 2", 1)]),
        ("select 'a;\nb' as x;\nselect 2 -- no; end\n;", [("select 'a;\nb' as x", 1), ("select 2", 3)]),
        ("select `a;b` /* ; */ from t;;\n;select 1", [("select `a;b` /* ; */ from t", 1), ("select 1", 2)]),
        ("\n-- about\n\n/* more\nabout */\n\\x\nselect 1; \\d t\nexit\n", [("\\x", 6), ("select 1", 7), ("\\d t", 7), ("exit", 8)]),
        ("select a,\n-- all; of\nb from t;\r\nQUIT;", [("select a,\n-- all; of\nb from t", 1), ("QUIT;", 4)]),
        ("select\nexit\nfrom t; select\n2", [("select\nexit\nfrom t", 1), ("select\n2", 3)]),
        ("sparql ask { ?a ?b 1 ;\n ?c 2 }\n;\nselect 1", [("sparql ask { ?a ?b 1 ;\n ?c 2 }", 1), ("select 1", 4)]),
    ],
)
def test_a_script_is_read_line_by_line(script: str, found: list[tuple[str, int]]) -> None:
    assert list(entries(io.StringIO(script, newline=""))) == [Entry(text, line) for text, line in found]


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("", True),
        ("select 1", False),
        ("select 1;", True),
        ("select 1; -- done", True),
        ("select 1; select 2", False),
        ("select 1;\n\\d", True),
        ("\\d t", True),
        ("exit", True),
        ("select ';", False),
        ("-- nothing", True),
        ("SPARQL ASK { ?a ?b ?c ;", False),
    ],
)
def test_enter_ends_what_has_its_semicolon(text: str, is_whole: bool) -> None:
    assert is_complete(text) is is_whole
