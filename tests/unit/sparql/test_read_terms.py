"""Terms stay as they were written; names are resolved."""

from __future__ import annotations

import pytest

from imp_driver.sparql.algebra import Bgp, Values
from imp_driver.sparql.read import read_query
from imp_driver.sparql.reading.names import resolved
from imp_driver.sparql.terms import XSD, Term, literal
from tests.unit.sparql.shapes import G, call, ex, integer, value, var, where

TERMS: dict[str, Term] = {
    "5": integer("5"),
    "05": integer("05"),
    "-5": integer("-5"),
    "-05": integer("-05"),
    "+5": integer("+5"),
    "5.0": literal("5.0", f"{XSD}decimal"),
    "05.50": literal("05.50", f"{XSD}decimal"),
    ".5": literal(".5", f"{XSD}decimal"),
    "-.50": literal("-.50", f"{XSD}decimal"),
    "+1.10": literal("+1.10", f"{XSD}decimal"),
    "5e0": literal("5e0", f"{XSD}double"),
    "1.0E6": literal("1.0E6", f"{XSD}double"),
    "-1.e+06": literal("-1.e+06", f"{XSD}double"),
    "+.5e-1": literal("+.5e-1", f"{XSD}double"),
    "12345678901234567890123": integer("12345678901234567890123"),
    "true": literal("true", f"{XSD}boolean"),
    "false": literal("false", f"{XSD}boolean"),
    '"a"': '"a"',
    "'a'": '"a"',
    '""': '""',
    "'''it's \"so\"'''": '"it\'s "so""',
    '"""two\nlines"""': '"two\nlines"',
    '"a\tb"': '"a\tb"',
    r'"a\tb\n\\ \"\'"': '"a\tb\n\\ "\'"',
    '"# no comment"': '"# no comment"',
    '"5"': '"5"',
    '"chat"@EN-gb': '"chat"@en-gb',
    '"01"^^xsd:integer': integer("01"),
    '"1.50"^^xsd:decimal': literal("1.50", f"{XSD}decimal"),
    '"TRUE"^^xsd:boolean': literal("TRUE", f"{XSD}boolean"),
    '"1"^^xsd:boolean': literal("1", f"{XSD}boolean"),
    '"no number"^^xsd:integer': integer("no number"),
    '"2020-01-01T00:00:00+00:00"^^xsd:dateTime': literal("2020-01-01T00:00:00+00:00", f"{XSD}dateTime"),
    '"a"^^xsd:string': '"a"',
    '"a"^^<http://example.org/5>': literal("a", "http://example.org/5"),
    r'"\u00e9abcd"': '"éabcd"',
    r'"\U0001F600"': '"😀"',
    r'"\u0022\u005C"': '""\\"',
    r'"\\u0041"': '"\\u0041"',
    "<http://example.org/a?b=1&c=(2)>": "<http://example.org/a?b=1&c=(2)>",
    "<relative>": "<relative>",
    "<#5>": "<#5>",
    ":": ex(""),
    ":a1.5": ex("a1.5"),
    ":a:b": ex("a:b"),
    r":a\-b\.": ex("a-b."),
    ":%41": ex("%41"),
    ":05": ex("05"),
}


@pytest.mark.parametrize("text", TERMS)
def test_terms_in_data_and_in_patterns(text: str) -> None:
    assert where(f"{{ VALUES ?x {{ {text} }} }}") == Values((var("x"),), ((TERMS[text],),))
    found = where(f"{{ ?a ?b {text}, ?c , {text} }}")
    assert isinstance(found, Bgp)
    assert [triple.object for triple in found.triples] == [TERMS[text], var("c"), TERMS[text]]


@pytest.mark.parametrize("text", TERMS)
def test_terms_in_expressions(text: str) -> None:
    query = read_query(f"PREFIX : <http://example.org/> PREFIX xsd: <{XSD}> SELECT (COALESCE({text}, 1) AS ?x) {{}}", G)
    assert getattr(query.pattern, "pattern").expression == call("COALESCE", TERMS[text], integer(1))  # noqa: B009


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x -5", call("-", "?x", integer(5))),
        ("?x-05", call("-", "?x", integer("05"))),
        ("?x - 5", call("-", "?x", integer(5))),
        ("?x +5.0", call("+", "?x", literal("5.0", f"{XSD}decimal"))),
        ("5-3", call("-", integer(5), integer(3))),
        ("?x -5*3", call("-", "?x", call("*", integer(5), integer(3)))),
        ("?x --5", call("-", "?x", integer(-5))),
        ("- 5", call("NEGATE", integer(5))),
        ("-?x", call("NEGATE", "?x")),
        ("+?x", call("NEGATE", call("NEGATE", "?x"))),
        ("(-5)", value(integer(-5))),
        ("- -5", call("NEGATE", integer(-5))),
        ("--5", call("NEGATE", integer(-5))),
        ("! -5", call("!", integer(-5))),
        ("!-5", call("!", integer(-5))),
        ("- +5", call("NEGATE", integer(5))),
        ("! +5", call("!", integer(5))),
        ("-5", value(integer(-5))),
        ("+5", value(integer("+5"))),
        ("?x * - -5", call("*", "?x", call("NEGATE", integer(-5)))),
    ],
)
def test_a_sign_next_to_a_number_is_its_own_or_an_operator(text: str, expected: object) -> None:
    assert getattr(where(f"{{ BIND({text} AS ?y) }}"), "expression") == expected  # noqa: B009


def test_a_later_base_and_prefix_hold_for_what_follows() -> None:
    text = "BASE <http://x/a/> PREFIX p: <b#> BASE <../c/> PREFIX q: <> ASK FROM <g> { p:s <d> q:o . <http://y> <?z> <#f> }"
    found = read_query(text).pattern
    assert isinstance(found, Bgp)
    nodes = [node for triple in found.triples for node in triple.nodes]
    assert nodes == ["<http://x/a/b#s>", "<http://x/c/d>", "<http://x/c/o>", "<http://y>", "<http://x/c/?z>", "<http://x/c/#f>"]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        # RFC 3986, section 5.4.
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("g;x=1/../y", "http://a/b/c/y"),
    ],
)
def test_references_resolve_as_the_rfc_has_them(reference: str, expected: str) -> None:
    assert resolved("http://a/b/c/d;p?q", reference) == expected


def test_a_base_of_another_scheme() -> None:
    assert resolved("urn:a:b", "#c") == "urn:a:b#c"
    assert resolved("http://a", "b") == "http://a/b"
