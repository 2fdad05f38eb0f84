"""What is refused, and where; what is an update."""

from __future__ import annotations

import sys
import threading

import pytest

from imp_driver.errors import NotSupportedError, ProgrammingError, QueryPosition
from imp_driver.sparql.read import is_update, read_query, read_updates
from tests.unit.sparql.shapes import PREFIXES, G, bgp, names, where


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", (1, 1, 0), "expected one of ASK, BASE, CONSTRUCT, DESCRIBE, PREFIX, SELECT; found the end of the text"),
        ("SELEC * {}", (1, 1, 0), "found 'SELEC'"),
        ("SELECT * { ?s ?p }", (1, 18, 17), "a variable.*; found '}'"),
        ("SELECT * { ?s ?p ?o", (1, 20, 19), "found the end of the text"),
        ("SELECT * {\n  ?s ?p 05 .\n  OPTIONAL ?s }", (3, 12, 35), "'{'; found '[?]s'"),
        ("# -1 +2 'x'\nSELECT * { ?s ?p 'it' 6 }", (2, 23, 34), "found '6'"),
        ("SELECT * { ?s ?p ?o FILTER(?o > ) }", (1, 33, 32), "a function, a number"),
        ("SELECT * { ?s ?p ?o } GROUP ?s", (1, 29, 28), "expected BY"),
        ("SELECT * { ?s ?p ?o } LIMIT ten", (1, 29, 28), "expected a number"),
        ("SELECT * { ?s ?p ?o }}", (1, 22, 21), "found '}'"),
        ('SELECT * { ?s ?p "abc }', (1, 18, 17), "a string"),
        ("SELECT * { ?s ?p '\\u00e9' 6 }", (1, 22, 21), "found '6'"),
        # The longest token counts: this is an IRI between two variables.
        ("SELECT * { FILTER(?x<?a&&?b>?y) }", (1, 21, 20), "found '<[?]a&&[?]b>'"),
        ("INSERT DATA {}", (1, 1, 0), "found 'INSERT'"),
    ],
)
def test_bad_text_is_told_with_its_place(text: str, place: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ProgrammingError, match=f"line {place[0]}, column {place[1]}: .*{message}") as raised:
        read_query(text, G)
    assert raised.value.position == QueryPosition(*place)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("SELECT * { ?s ?p }", ["  SELECT * { ?s ?p }", "                   ^"]),
        ("SELECT * {\n\t?s ?p 05 .\n\tOPTIONAL ?s\n}", ["   OPTIONAL ?s", "            ^"]),
        ("SELECT * { ?s ?p ?o", ["  SELECT * { ?s ?p ?o", "                     ^"]),
        (f"SELECT * {{ ?s ?p '{'x' * 90}' 6 }}{' ' * 90}# end", [f"  ..{'x' * 58}' 6 }}{' ' * 57}..", f"    {' ' * 60}^"]),
    ],
)
def test_bad_text_is_told_with_its_line_and_a_mark_below_the_place(text: str, shown: list[str]) -> None:
    with pytest.raises(ProgrammingError) as raised:
        read_query(text, G)
    assert str(raised.value).split("\n")[1:] == shown


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("SELEC ?x { ?x ?p ?o }", "SELECT"),
        ("INSRT DATA { <a> <b> 1 }", "INSERT"),
        ("SELECT ?x { ?x ?p ?o OPTIONL { ?x ?q ?r } }", "OPTIONAL"),
        ("SELECT ?x { ?x ?p ?o } ODER BY ?x", "ORDER"),
        ("SELECT ?x { ?x ?p }", ""),
        ("SELECT ?x { ?x ?p ?o } qqq", ""),
    ],
)
def test_a_word_that_is_nearly_another_is_told(text: str, word: str) -> None:
    with pytest.raises(ProgrammingError) as raised:
        read_query(text, G)
    told = str(raised.value).split("\n")[0]
    assert told.endswith(f". Did you mean {word}?") if word else "Did you mean" not in told


@pytest.mark.parametrize(
    ("text", "column", "name"),
    [
        ("DROP GRAPH people", 12, "people"),
        ("CLEAR SILENT GRAPH sales.people ;", 20, "sales.people"),
        ("COPY people TO <other>", 6, "people"),
        ("MOVE SILENT <other> TO people", 24, "people"),
        ("LOAD <x.ttl> INTO GRAPH people", 25, "people"),
        ("WITH 'people' DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", 6, "people"),
        ("INSERT DATA { GRAPH people { <a> <b> 1 } }", 21, "people"),
        ("DELETE { ?s ?p ?o } USING people WHERE { ?s ?p ?o }", 27, "people"),
    ],
)
def test_a_graph_without_brackets_is_told_in_updates(text: str, column: int, name: str) -> None:
    with pytest.raises(ProgrammingError) as raised:
        read_updates(text, G[0])
    told = f"this is no SPARQL 1.1: line 1, column {column}: the name of a graph stands in angle brackets: write <{name}>"
    assert str(raised.value).split("\n")[0] == told
    assert raised.value.position == QueryPosition(1, column, column - 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SELECT * FROM people { ?s ?p ?o }", "column 15: the name of a graph stands in angle brackets: write <people>"),
        ("SELECT * FROM NAMED `sales`\n{ ?s ?p ?o }", "column 21: the name of a graph stands in angle brackets: write <sales>"),
        ("SELECT * { GRAPH people { ?s ?p ?o } }", "column 18: the name of a graph stands in angle brackets: write <people>"),
        ("SELECT * FROM { ?s ?p ?o }", "found '{'"),
        ("SELECT * { GRAPH { ?s ?p ?o } }", "found '{'"),
        ("SELECT * FROM WHERE { ?s ?p ?o }", "found '{'"),
        ("SELECT * FROM NAMED", "found the end of the text"),
        ("SELECT * FROM <people> { ?s ?p }", "found '}'"),
        ("SELECT * { ?s ?p people }", "found '}'"),
    ],
)
def test_a_graph_without_brackets_is_told_in_queries(text: str, told: str) -> None:
    with pytest.raises(ProgrammingError) as raised:
        read_query(text, G)
    assert str(raised.value).split("\n")[0].endswith(told)


@pytest.mark.parametrize(
    ("text", "iri"),
    [
        ("LOAD /data/a.ttl", "file:///data/a.ttl"),
        ("LOAD SILENT '/data/a b.ttl' INTO GRAPH <g>", "file:///data/a%20b.ttl"),
        ("LOAD data.ttl", "data.ttl"),
        ('LOAD "../data.ttl";', "../data.ttl"),
        ("LOAD file:///data/a.ttl INTO GRAPH <g>", "file:///data/a.ttl"),
    ],
)
def test_a_file_without_brackets_is_told(text: str, iri: str) -> None:
    with pytest.raises(ProgrammingError) as raised:
        read_updates(text, G[0])
    assert str(raised.value).split("\n")[0].endswith(f": the place of a file stands in angle brackets: write LOAD <{iri}>")
    with pytest.raises(ProgrammingError, match="expected"):
        read_updates("LOAD ", G[0])


def test_a_sign_that_begins_an_iri_is_told() -> None:
    with pytest.raises(ProgrammingError) as raised:
        read_query("SELECT * { ?s ?p ?o FILTER(?o<2&&?o>0) }", G)
    told = str(raised.value).split("\n")[0]
    assert told.endswith("found '<2&&?o>'; what stands between < and > without spaces is an IRI, so write a space behind < to compare")
    assert read_query("SELECT * { ?s ?p ?o FILTER(?o< 2&&?o>0) }", G).columns


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("foo(?o)", 28, "foo is no function of SPARQL 1.1. Did you mean FLOOR?"),
        ("strlenn (?o) > 3", 28, "strlenn is no function of SPARQL 1.1. Did you mean STRLEN?"),
        ("?o > 1 && qqqqq(?o)", 38, "qqqqq is no function of SPARQL 1.1"),
    ],
)
def test_a_function_that_there_is_not_is_named_with_the_nearest_one(expression: str, column: int, message: str) -> None:
    with pytest.raises(ProgrammingError) as raised:
        read_query(f"SELECT * {{ ?s ?p ?o FILTER({expression}) }}", G)
    assert str(raised.value).split("\n")[0] == f"this is no SPARQL 1.1: line 1, column {column}: {message}"
    assert raised.value.position == QueryPosition(1, column, column - 1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (":upperCase(?o)", NotSupportedError, r"no function <http://example.org/upperCase> is known. Did you mean UCASE\?"),
        (":q(?o)", NotSupportedError, r"no function <http://example.org/q> is known: those by IRIs are xsd:boolean, .* xsd:string\."),
        ("xsd:int(?o)", NotSupportedError, r"#int> is known. Did you mean xsd:integer\?"),
        (":f(DISTINCT ?o)", NotSupportedError, "DISTINCT in a call of <http://example.org/f>"),
        ("xsd:integer(?o, 2)", ProgrammingError, "#integer> takes one argument, and here it has 2"),
        ("xsd:integer()", ProgrammingError, "#integer> takes one argument, and here it has 0"),
    ],
)
def test_a_function_by_an_iri_that_is_not_known_is_refused(call: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_query(f"{PREFIXES} ASK {{ ?s ?p ?o FILTER({call}) }}", G)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ASK { ?s no:p ?o }", "the prefix no: is not declared"),
        ("ASK { ?s foaf:p ?o }", "the prefix foaf: is not declared: begin with PREFIX foaf: <http://xmlns.com/foaf/0.1/>"),
        ("ASK { ?s :p ?o }", "the prefix : is not declared"),
        ('ASK { ?s ?p "x"^^no:t }', "the prefix no: is not declared"),
        ("ASK { ?a ?p ?b BIND(1 AS ?b) }", r"BIND\(.. AS \?b\): the group before it has \?b already"),
        ("ASK { { ?a ?p ?b } UNION { ?c ?d ?e } BIND(1 AS ?e) }", r"has \?e already"),
        ("ASK { VALUES (?a ?b) { (1) } }", "rows of as many values"),
        ("ASK { VALUES (?a ?a) { (1 2) } }", "each once"),
        ("ASK { _:x ?p ?b OPTIONAL { _:x ?q ?c } }", "_:x stands in two basic graph patterns"),
        ("ASK { _:x ?p ?b { _:x ?q ?c } }", "_:x stands in two"),
        ("ASK { _:x ?p ?b FILTER EXISTS { _:x ?q ?c } }", "_:x stands in two"),
        (r"ASK { ?s ?p '\uD800' }", "is no character"),
    ],
)
def test_broken_rules(text: str, message: str) -> None:
    with pytest.raises(ProgrammingError, match=message):
        read_query(text, G)


@pytest.mark.parametrize(
    "text",
    ["ASK { SERVICE <http://x/> { ?s ?p ?o } }", "ASK { ?s ?p ?o OPTIONAL { SERVICE SILENT ?s { ?s ?p ?o { ?s ?p ?o } } } }"],
)
def test_other_servers_are_not_asked(text: str) -> None:
    with pytest.raises(NotSupportedError, match="SERVICE asks another server"):
        read_query(text, G)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib.plugins.sparql", None)
    with pytest.raises(NotSupportedError, match=r"pip install 'imp_driver\[sparql\]'"):
        read_query("ASK { ?without ?the ?extra }", G)


def test_a_variable_may_be_bound_again_in_another_group() -> None:
    assert where("{ { ?a :p ?b } { BIND(1 AS ?b) } }") is not None
    assert where("{ ?a :p ?b MINUS { ?c :q ?d } BIND(1 AS ?d) }") is not None


def test_texts_that_nest_deeply() -> None:
    limit = sys.getrecursionlimit()
    triples = [f"?a :p{number} ?b{number}" for number in range(300)]
    assert where(f"{{ {' . '.join(triples)} }}") == bgp(*triples)
    assert where("{" * 80 + "?a :p ?b" + "}" * 80) == bgp("?a :p ?b")
    assert sys.getrecursionlimit() == limit


def test_threads_read_at_the_same_time() -> None:
    found: list[bool] = []

    def read(number: int) -> None:
        text = f"{PREFIXES}SELECT ?s {{ ?s :p{number} ?o }}"
        found.append(read_query(text, G).columns == names("s"))

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INSERT DATA { <s> <p> <o> }", True),
        ("insert { ?s ?p ?o } WHERE { ?s ?p ?o }", True),
        ("DELETE WHERE { ?s ?p ?o }", True),
        ("WITH <g> DELETE { ?s ?p ?o } WHERE {}", True),
        ("LOAD <a>", True),
        ("CLEAR ALL", True),
        ("DROP ALL", True),
        ("CREATE GRAPH <http://x/a>", True),
        ("ADD <a> TO <b>", True),
        ("MOVE <a> TO <b>", True),
        ("COPY <a> TO <b>", True),
        ("# SELECT\n\t PREFIX insert: <http://x/> # ASK\n BASE <http://x/select> PREFIX : <> DELETE WHERE {}", True),
        ("SELECT * {}", False),
        ("# INSERT\nPREFIX delete: <http://x/insert> BASE <clear> SELECT * {}", False),
        ("ASK { ?s ?p 'INSERT' }", False),
        ("CONSTRUCT WHERE {}", False),
        ("describe <insert>", False),
        ("", False),
        ("# INSERT", False),
        ("INSERTED", False),
    ],
)
def test_is_update(text: str, expected: bool) -> None:
    assert is_update(text) is expected
