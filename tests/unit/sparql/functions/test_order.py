"""Sort keys of terms (section 15.1)."""

from __future__ import annotations

import itertools
import random

import pytest

from imp_driver.sparql.functions.comparison import COMPARISONS, compared
from imp_driver.sparql.functions.order import order_key
from tests.unit.sparql.functions.evaluating import full

ASCENDING = [
    None,
    "_:a",
    "_:b",
    "<http://example.org/a>",
    "<http://example.org/b>",
    '"NaN"^^double',
    '"-INF"^^float',
    '"-1"^^integer',
    '"0.5"^^decimal',
    '"1"^^byte',
    '"9007199254740992"^^integer',
    '"9007199254740993"^^integer',
    '"1e300"^^double',
    '"INF"^^double',
    '""',
    '"1"',
    '"a"',
    '"a"@de',
    '"a"@en',
    '"b"@de',
    '"false"^^boolean',
    '"true"^^boolean',
    '"2011-01-09"^^date',
    '"2011-01-10Z"^^date',
    '"2011-01-10T14:45:13+02:00"^^dateTime',
    '"2011-01-10T14:45:13Z"^^dateTime',
    '"12:00:00"^^time',
    '"PT1H"^^dayTimeDuration',
    '"P1D"^^dayTimeDuration',
    '"P1M"^^yearMonthDuration',
    '"a"^^<http://example.org/u>',
    '"x"^^integer',
]


def test_terms_are_sorted() -> None:
    terms = [None if each is None else full(each) for each in ASCENDING]
    shuffled = random.Random(1).sample(terms, len(terms))
    assert sorted(shuffled, key=order_key) == terms
    keys = list(map(order_key, terms))
    assert all(one < other for one, other in itertools.pairwise(keys))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"1"^^integer', '"01.0"^^decimal'),
        ('"0.1"^^decimal', '"0.1"^^double'),
        ('"0"^^double', '"-0"^^double'),
        ('"NaN"^^double', '"NaN"^^float'),
        ('"1"^^boolean', '"true"^^boolean'),
        ('"2011-01-10T14:45:13+02:00"^^dateTime', '"2011-01-10T12:45:13Z"^^dateTime'),
        ('"P1D"^^dayTimeDuration', '"PT24H"^^duration'),
    ],
)
def test_equal_values_tie(one: str, other: str) -> None:
    assert order_key(full(one)) == order_key(full(other))


def test_no_zone_and_a_zone_do_not_tie() -> None:
    assert order_key(full('"2011-01-10"^^date')) != order_key(full('"2011-01-10Z"^^date'))


def test_the_order_is_that_of_the_operator_wherever_there_is_one() -> None:
    more = [
        '"0.1"^^float',
        '"0.1"^^decimal',
        '"0.1"^^double',
        '"0.10000000149"^^decimal',
        '"9007199254740992"^^double',
        '"2011-01-10"^^date',
    ]
    terms = [full(each) for each in [*ASCENDING, *more] if each is not None]
    for one, other in itertools.product(terms, terms):
        if compared(COMPARISONS["<"], one, other):
            assert order_key(one) < order_key(other), (one, other)
