"""Terms as values of Python, and canonical forms."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imp_driver.sparql.functions.numerals import Single, single, without_sign_of_zero
from imp_driver.sparql.functions.values import number, term_of, typed, value
from imp_driver.sparql.terms import Term
from tests.unit.sparql.functions.evaluating import full

TYPED: list[tuple[str, object]] = [
    ('"007"^^integer', 7),
    ('"-7"^^byte', -7),
    ('"1.50"^^decimal', Decimal("1.50")),
    ('"1e3"^^double', 1000.0),
    ('"INF"^^float', math.inf),
    ('"1"^^boolean', True),
    ('"2011-01-10"^^date', date(2011, 1, 10)),
    ('"2011-01-10Z"^^date', date(2011, 1, 10)),
    ('"2011-01-10T14:45:13.815"^^dateTime', datetime(2011, 1, 10, 14, 45, 13, 815_000)),
    ('"2011-01-10T14:45:13Z"^^dateTime', datetime(2011, 1, 10, 14, 45, 13, tzinfo=UTC)),
    ('"2011-01-10T14:45:13-05:30"^^dateTime', datetime(2011, 1, 10, 14, 45, 13, tzinfo=timezone(timedelta(hours=-5, minutes=-30)))),
    ('"2011-01-10T14:45:13.1234567"^^dateTime', "2011-01-10T14:45:13.1234567"),
    ('"12011-01-10T14:45:13"^^dateTime', "12011-01-10T14:45:13"),
    ('"12:00:00"^^time', "12:00:00"),
    ('"P1D"^^duration', "P1D"),
    ('"300"^^byte', "300"),
    ('"a"', "a"),
    ('"a"@en', "a"),
    ('"say "a"@en"', 'say "a"@en'),
    ('"a"^^<http://example.org/u>', "a"),
    ("<http://example.org/a>", "http://example.org/a"),
    ("_:a", "_:a"),
]


@pytest.mark.parametrize(("term", "expected"), TYPED)
def test_typed(term: str, expected: object) -> None:
    found = typed(full(term))
    assert (type(found), found) == (type(expected), expected)


CANONICAL = [
    ('"+007"^^integer', '"7"^^integer'),
    ('"7"^^unsignedByte', '"7"^^integer'),
    ('"2"^^decimal', '"2.0"^^decimal'),
    ('"-002.500"^^decimal', '"-2.5"^^decimal'),
    ('".5"^^decimal', '"0.5"^^decimal'),
    ('"-0.0"^^decimal', '"0.0"^^decimal'),
    ('"1000000"^^double', '"1.0E6"^^double'),
    ('"-0.00125"^^double', '"-1.25E-3"^^double'),
    ('"-0"^^double', '"-0.0E0"^^double'),
    ('"5e-324"^^double', '"5.0E-324"^^double'),
    ('"+INF"^^double', '"INF"^^double'),
    ('"NaN"^^float', '"NaN"^^float'),
    ('"0.1"^^float', '"1.0E-1"^^float'),
    ('"1e-45"^^float', '"1.0E-45"^^float'),
    ('"3.4028235e38"^^float', '"3.4028235E38"^^float'),
    ('"0"^^boolean', '"false"^^boolean'),
    ('"2011-01-10T14:45:00.00+00:00"^^dateTime', '"2011-01-10T14:45:00Z"^^dateTime'),
    ('"2011-12-31T24:00:00"^^dateTime', '"2012-01-01T00:00:00"^^dateTime'),
    ('"24:00:00"^^time', '"00:00:00"^^time'),
    ('"-0044-03-15"^^date', '"-0044-03-15"^^date'),
    ('"PT36H"^^dayTimeDuration', '"P1DT12H"^^dayTimeDuration'),
    ('"-P13M"^^yearMonthDuration', '"-P1Y1M"^^yearMonthDuration'),
    ('"P0Y"^^yearMonthDuration', '"P0M"^^yearMonthDuration'),
    ('"PT0.50S"^^duration', '"PT0.5S"^^duration'),
    ('"a"@en', '"a"@en'),
]


@pytest.mark.parametrize(("term", "expected"), CANONICAL)
def test_canonical_forms(term: str, expected: str) -> None:
    found = value(full(term))
    assert found is not None
    assert term_of(found) == full(expected)


WITHOUT = ['"1.0"^^integer', '" 1"^^integer', '"1_0"^^integer', '"-1"^^nonNegativeInteger', '"0"^^positiveInteger', '"256"^^unsignedByte']
WITHOUT += ['"1e0"^^decimal', '"."^^decimal', '"inf"^^double', '"1e"^^double', '"TRUE"^^boolean', '"2011-02-29"^^date', '"11-01-01"^^date']
WITHOUT += ['"2011-01-10T24:00:01"^^dateTime', '"2011-01-10T14:45:13+14:01"^^dateTime', '"2011-01-10"^^dateTime', '"25:00:00"^^time']
WITHOUT += [
    '"P"^^duration',
    '"PT"^^duration',
    '"P1Y"^^dayTimeDuration',
    '"P1D"^^yearMonthDuration',
    '"1"^^<http://example.org/u>',
    "<1>",
    "_:a",
]


@pytest.mark.parametrize("term", WITHOUT)
def test_terms_without_a_value(term: str) -> None:
    assert value(full(term)) is None
    assert number(full(term)) is None


DECIMALS = st.builds(lambda digits, places: without_sign_of_zero(Decimal(f"{digits}E-{places}")), st.integers(), st.integers(0, 40))
TEXTS = st.text(alphabet='ab"@^<>\\\né', max_size=12)


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.integers(), DECIMALS, st.floats(allow_nan=False), st.booleans(), TEXTS))
def test_what_is_written_is_read_again(found: int | Decimal | float | bool | str) -> None:
    back = value(term_of(found))
    assert (type(back), back) == (type(found), found)
    if isinstance(found, float) and math.isfinite(found):
        nearest = single(found)
        assert value(term_of(nearest)) == nearest
        assert type(value(term_of(nearest))) is Single


@settings(deadline=None, max_examples=50)
@given(st.integers().map(str) | st.from_regex(r"\A[+-]?[0-9]{1,30}\Z"))
def test_a_number_is_the_value_that_is_one(digits: str) -> None:
    term: Term = full(f'"{digits}"^^integer')
    assert number(term) == value(term) == int(digits)
