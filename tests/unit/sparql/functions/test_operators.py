"""Operators of section 17.3, logic of section 17.2, and what has forms of its own (section 17.4.1)."""

from __future__ import annotations

import pytest

from imp_driver.sparql.algebra import Call, Constant, Read, Variable
from tests.unit.sparql.functions.evaluating import evaluated, full, of_terms, outcome

TRUE, FALSE, ERROR = '"true"^^boolean', '"false"^^boolean', '"x"^^<http://example.org/unknown>'

EQUALITY = [
    ('"1"^^integer', '"01"^^integer', "true"),
    ('"1"^^integer', '"1.0"^^decimal', "true"),
    ('"1"^^byte', '"1.0E0"^^double', "true"),
    ('"0.1"^^decimal', '"0.1"^^double', "true"),
    ('"0.1"^^float', '"0.1"^^double', "false"),
    ('"0.1"^^decimal', '"0.1"^^float', "true"),
    # An integer is made a double first, which has not all of its digits.
    ('"9007199254740993"^^integer', '"9007199254740992"^^double', "true"),
    ('"9007199254740993"^^integer', '"9007199254740992.0"^^decimal', "false"),
    ('"NaN"^^double', '"NaN"^^double', "false"),
    ('"0.0"^^double', '"-0.0"^^double', "true"),
    ('"a"', '"a"', "true"),
    ('"a"', '"b"', "false"),
    ('"a"@en', '"a"@en', "true"),
    ('"a"@en', '"a"', "false"),
    ('"a"@en', '"a"@fr', "false"),
    ('"1"^^boolean', '"true"^^boolean', "true"),
    ('"1"^^integer', '"true"^^boolean', "false"),
    ('"1"^^integer', '"1"', "false"),
    ("<http://example.org/a>", "<http://example.org/a>", "true"),
    ("<http://example.org/a>", '"http://example.org/a"', "false"),
    ("_:a", "_:a", "true"),
    ("_:a", "_:b", "false"),
    # RDFterm-equal knows nothing of literals that are not understood, but that a term is itself.
    ('"a"^^<http://example.org/u>', '"a"^^<http://example.org/u>', "true"),
    ('"a"^^<http://example.org/u>', '"b"^^<http://example.org/u>', None),
    ('"a"^^<http://example.org/u>', '"a"', None),
    ('"a"^^<http://example.org/u>', '"a"@en', "false"),
    ('"a"^^<http://example.org/u>', "<http://example.org/a>", "false"),
    ('"x"^^integer', '"x"^^integer', "true"),
    ('"x"^^integer', '"1"^^integer', None),
    ('"300"^^byte', '"300"^^integer', None),
    ('"2011-01-10T14:45:13.815-05:00"^^dateTime', '"2011-01-10T19:45:13.815Z"^^dateTime', "true"),
    ('"2011-01-10T24:00:00Z"^^dateTime', '"2011-01-11T00:00:00Z"^^dateTime', "true"),
    ('"2011-01-10T19:45:13Z"^^dateTime', '"2011-01-10T19:45:13"^^dateTime', None),
    ('"2011-01-10T19:45:13Z"^^dateTime', '"2011-01-12T19:45:13"^^dateTime', "false"),
    ('"2006-08-23"^^date', '"2006-08-23Z"^^date', None),
    ('"2006-08-23+00:00"^^date', '"2006-08-23Z"^^date', "true"),
    ('"2006-08-23"^^date', '"2006-08-23T00:00:00"^^dateTime', "false"),
    ('"P1D"^^dayTimeDuration', '"PT24H"^^duration', "true"),
    ('"P1Y"^^yearMonthDuration', '"P12M"^^yearMonthDuration', "true"),
    ('"P1Y"^^yearMonthDuration', '"P365D"^^dayTimeDuration', "false"),
]


@pytest.mark.parametrize(("one", "other", "expected"), EQUALITY)
def test_equality(one: str, other: str, expected: str | None) -> None:
    assert of_terms("=", one, other) == of_terms("=", other, one) == outcome(expected)
    assert of_terms("!=", one, other) == outcome({"true": "false", "false": "true"}.get(expected or ""))


ORDER = [
    ('"1"^^integer', '"2.5"^^decimal'),
    ('"-INF"^^double', '"-1"^^integer'),
    ('"1.5"^^float', '"2"^^byte'),
    ('"9007199254740992"^^integer', '"9007199254740992.5"^^decimal'),
    ('"a"', '"b"'),
    ('""', '"a"'),
    ('"false"^^boolean', '"1"^^boolean'),
    ('"2011-01-10T19:45:13+02:00"^^dateTime', '"2011-01-10T19:45:13Z"^^dateTime'),
    ('"-0001-01-10T19:45:13Z"^^dateTime', '"0001-01-10T19:45:13Z"^^dateTime'),
    ('"9999-01-10T19:45:13Z"^^dateTime', '"10000-01-10T19:45:13Z"^^dateTime'),
    ('"2006-08-22"^^date', '"2006-08-23Z"^^date'),
    ('"11:00:00Z"^^time', '"12:00:00Z"^^time'),
    ('"PT1H"^^dayTimeDuration', '"P1D"^^dayTimeDuration'),
]


@pytest.mark.parametrize(("less", "greater"), ORDER)
def test_order(less: str, greater: str) -> None:
    for symbol, one, other in (("<", less, greater), ("<=", less, greater), (">", greater, less), (">=", greater, less)):
        assert of_terms(symbol, one, other) == full(TRUE)
        assert of_terms(symbol, other, one) == full(FALSE)
    for symbol in ("<=", ">="):
        assert of_terms(symbol, less, less) == full(TRUE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"1"^^integer', '"a"'),
        ('"a"@en', '"b"@en'),
        ("<http://example.org/a>", "<http://example.org/b>"),
        ("_:a", "_:a"),
        ('"a"^^<http://example.org/u>', '"a"^^<http://example.org/u>'),
        ('"x"^^integer', '"1"^^integer'),
        ('"2006-08-23"^^date', '"2006-08-24T00:00:00"^^dateTime'),
        ('"2006-08-23T00:00:00"^^dateTime', '"2006-08-23T10:00:00Z"^^dateTime'),
        ('"P1M"^^duration', '"P2M"^^duration'),
        ('"true"^^boolean', '"1"^^integer'),
    ],
)
def test_what_has_no_order_is_an_error(one: str, other: str) -> None:
    assert [of_terms(symbol, one, other) for symbol in ("<", ">", "<=", ">=")] == [None] * 4


def test_nan_is_neither_less_nor_greater_nor_equal() -> None:
    found = [of_terms(symbol, '"NaN"^^double', '"1"^^integer') for symbol in ("<", ">", "<=", ">=", "=")]
    assert found == [full(FALSE)] * 5


ARITHMETIC = [
    ("+", '"1"^^integer', '"2"^^byte', '"3"^^integer'),
    ("+", '"1"^^integer', '"2.50"^^decimal', '"3.5"^^decimal'),
    ("+", '"1.5"^^decimal', '"0.5"^^decimal', '"2.0"^^decimal'),
    ("+", '"0.1"^^double', '"0.2"^^double', '"3.0000000000000004E-1"^^double'),
    ("+", '"0.1"^^float', '"0.2"^^float', '"3.0E-1"^^float'),
    ("+", '"16777216"^^float', '"1"^^integer', '"1.6777216E7"^^float'),
    ("+", '"1"^^float', '"1"^^double', '"2.0E0"^^double'),
    ("-", '"1"^^integer', '"1.0"^^decimal', '"0.0"^^decimal'),
    ("-", '"INF"^^double', '"INF"^^double', '"NaN"^^double'),
    ("*", '"99999999999999999999"^^integer', '"99999999999999999999"^^integer', '"9999999999999999999800000000000000000001"^^integer'),
    ("*", '"-1"^^integer', '"0.0"^^decimal', '"0.0"^^decimal'),
    ("*", '"1.1111111111111111111111111"^^decimal', '"3"^^integer', '"3.3333333333333333333333333"^^decimal'),
    ("*", '"1e300"^^double', '"1e300"^^double', '"INF"^^double'),
    ("/", '"4"^^integer', '"2"^^integer', '"2.0"^^decimal'),
    ("/", '"1"^^integer', '"3"^^integer', '"0.3333333333333333333333333333"^^decimal'),
    ("/", '"1"^^integer', '"0"^^integer', None),
    ("/", '"1.0"^^decimal', '"0.0"^^decimal', None),
    ("/", '"1"^^double', '"0"^^integer', '"INF"^^double'),
    ("/", '"-1"^^double', '"0"^^double', '"-INF"^^double'),
    ("/", '"1"^^double', '"-0"^^double', '"-INF"^^double'),
    ("/", '"0"^^double', '"0.0"^^decimal', '"NaN"^^double'),
    ("/", '"1"^^float', '"3"^^integer', '"3.3333334E-1"^^float'),
    ("+", '"1"^^integer', '"a"', None),
    ("+", '"1"^^integer', '"x"^^integer', None),
    ("+", '"1"^^integer', '"true"^^boolean', None),
]


@pytest.mark.parametrize(("symbol", "one", "other", "expected"), ARITHMETIC)
def test_arithmetic(symbol: str, one: str, other: str, expected: str | None) -> None:
    assert of_terms(symbol, one, other) == outcome(expected)


def test_integers_of_too_many_digits_are_errors() -> None:
    long = f'"{"9" * 3000}"^^integer'
    assert of_terms("*", long, long) is None
    assert of_terms("=", f'"{"9" * 5000}"^^integer', '"1"^^integer') is None
    assert of_terms("xsd:integer", f'"{"9" * 5000}.5"^^decimal') is None
    assert (
        of_terms("xsd:double", f'"{"9" * 3000}"^^integer') == of_terms("xsd:double", f'"{"9" * 5000}.5"^^decimal') == full('"INF"^^double')
    )


def test_signs() -> None:
    assert of_terms("NEGATE", '"1"^^byte') == full('"-1"^^integer')
    assert of_terms("NEGATE", '"0.0"^^decimal') == full('"0.0"^^decimal')
    assert of_terms("NEGATE", '"0"^^float') == full('"-0.0E0"^^float')
    assert of_terms("NEGATE", '"a"') is None


@pytest.mark.parametrize(
    ("left", "right", "conjunction", "disjunction"),
    [
        (TRUE, TRUE, TRUE, TRUE),
        (TRUE, FALSE, FALSE, TRUE),
        (FALSE, TRUE, FALSE, TRUE),
        (FALSE, FALSE, FALSE, FALSE),
        (TRUE, ERROR, None, TRUE),
        (ERROR, TRUE, None, TRUE),
        (FALSE, ERROR, FALSE, None),
        (ERROR, FALSE, FALSE, None),
        (ERROR, ERROR, None, None),
    ],
)
def test_logic_has_three_values(left: str, right: str, conjunction: str | None, disjunction: str | None) -> None:
    assert of_terms("&&", left, right) == outcome(conjunction)
    assert of_terms("||", left, right) == outcome(disjunction)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (TRUE, "false"),
        (FALSE, "true"),
        ('"0"^^boolean', "true"),
        ('"yes"^^boolean', "true"),
        ('""', "true"),
        ('"false"', "false"),
        ('""@en', "true"),
        ('"a"@en', "false"),
        ('"0"^^integer', "true"),
        ('"0.00"^^decimal', "true"),
        ('"0.1"^^decimal', "false"),
        ('"NaN"^^double', "true"),
        ('"INF"^^double', "false"),
        ('"x"^^integer', "true"),
        ("<http://example.org/a>", None),
        ("_:a", None),
        (ERROR, None),
        ('"2006-08-23"^^date', None),
    ],
)
def test_effective_boolean_values_as_the_negation_of_a_term_shows(term: str, expected: str | None) -> None:
    assert of_terms("!", term) == outcome(expected)


def test_in_is_a_chain_of_equalities() -> None:
    two, division = Constant(full('"2"^^integer')), Call("/", (Constant(full('"1"^^integer')), Constant(full('"0"^^integer'))))
    assert of_terms("IN", '"2"^^integer', '"1"^^integer', "<http://example.org/a>", '"2.0"^^decimal') == full(TRUE)
    assert of_terms("NOT IN", '"2"^^integer', '"1"^^integer', "<http://example.org/a>", '"2.0"^^decimal') == full(FALSE)
    assert of_terms("IN", '"2"^^integer') == full(FALSE)
    assert of_terms("NOT IN", '"2"^^integer') == full(TRUE)
    assert evaluated(Call("IN", (two, division, two))) == full(TRUE)
    assert evaluated(Call("NOT IN", (two, division, two))) == full(FALSE)
    assert evaluated(Call("IN", (two, Constant(full('"3"^^integer')), division))) is None
    assert evaluated(Call("NOT IN", (two, Constant(full('"3"^^integer')), division))) is None
    assert evaluated(Call("IN", (division, two))) is None


def test_if_and_coalesce() -> None:
    unbound, one = Read(Variable("x")), Constant(full('"1"^^integer'))
    assert of_terms("IF", TRUE, '"a"', '"b"') == '"a"'
    assert of_terms("IF", '""', '"a"', '"b"') == '"b"'
    assert of_terms("IF", ERROR, '"a"', '"b"') is None
    assert evaluated(Call("IF", (Constant(full(FALSE)), unbound, one))) == one.term
    assert evaluated(Call("COALESCE", (unbound, Call("/", (one, Constant(full('"0"^^integer')))), one))) == one.term
    assert evaluated(Call("COALESCE", (unbound,))) is None
    assert evaluated(Call("COALESCE")) is None


def test_bound_of_what_has_no_place_is_false() -> None:
    assert evaluated(Call("BOUND", (Read(Variable("x")),))) == full(FALSE)


@pytest.mark.parametrize("name", ["NOTHING", "<http://example.org/function>", "xsd:gYear"])
def test_unknown_functions_are_errors(name: str) -> None:
    assert of_terms(name, '"a"') is None


OTHERS: list[tuple[str, list[str]]] = [("STRLEN", []), ("STRLEN", ['"a"', '"b"']), ("CONTAINS", ['"a"']), ("=", ['"a"']), ("+", [])]


@pytest.mark.parametrize(("name", "terms"), OTHERS)
def test_other_numbers_of_arguments_are_errors(name: str, terms: list[str]) -> None:
    assert of_terms(name, *terms) is None
