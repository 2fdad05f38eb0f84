"""Accumulators: what they say of a multiset is what the multiset itself says, however it came to be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imp_driver.sparql.algebra import Aggregate, Read, Variable
from imp_driver.sparql.functions.aggregates import accumulator
from imp_driver.sparql.functions.order import order_key
from imp_driver.sparql.functions.values import number, term_of
from imp_driver.sparql.terms import Term
from tests.seeds import WIDE
from tests.unit.sparql.functions.evaluating import full, of_terms, outcome

X = Read(Variable("x"))
NAMES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")


def aggregated(aggregate: Aggregate, values: Iterable[Term | None]) -> Term | None:
    found = accumulator(aggregate)
    for each in values:
        found.add(each, 1)
    return found.result()


RESULTS = [
    ("COUNT", [], '"0"^^integer'),
    ("COUNT", ['"a"', None, '"a"'], '"2"^^integer'),
    ("SUM", [], '"0"^^integer'),
    ("SUM", ['"1"^^integer', '"2"^^byte'], '"3"^^integer'),
    ("SUM", ['"1"^^integer', '"2.50"^^decimal'], '"3.5"^^decimal'),
    ("SUM", ['"1"^^integer', '"0.1"^^float'], '"1.1E0"^^float'),
    ("SUM", ['"1.5"^^float', '"0.5"^^double', '"1"^^integer'], '"3.0E0"^^double'),
    ("SUM", ['"1e300"^^double', '"1"^^double', '"-1e300"^^double'], '"1.0E0"^^double'),
    ("SUM", ['"1.7e308"^^double', '"1.7e308"^^double'], '"INF"^^double'),
    ("SUM", ['"INF"^^double', '"-INF"^^double'], '"NaN"^^double'),
    ("SUM", ['"-INF"^^double', '"1"^^integer'], '"-INF"^^double'),
    ("SUM", ['"1"^^integer', '"a"'], None),
    ("SUM", ['"1"^^integer', None], None),
    ("SUM", ['"300"^^byte'], None),
    ("AVG", [], '"0"^^integer'),
    ("AVG", ['"1"^^integer', '"3"^^integer'], '"2.0"^^decimal'),
    ("AVG", ['"1"^^integer', '"2"^^double'], '"1.5E0"^^double'),
    ("AVG", ['"1"^^integer', '"2"^^float'], '"1.5E0"^^float'),
    ("AVG", ['"1"^^integer', "<http://example.org/a>"], None),
    ("MIN", [], None),
    ("MIN", ['"2"^^integer', '"10"^^integer', '"1.5"^^decimal'], '"1.5"^^decimal'),
    ("MIN", ['"a"', '"1"^^integer', "_:b"], "_:b"),
    ("MIN", ['"1"^^integer', None], None),
    ("MAX", ['"2"^^integer', '"10"^^integer', None], '"10"^^integer'),
    ("MAX", ['"b"', '"a"', "<http://example.org/a>"], '"b"'),
    ("MAX", [None], None),
    ("SAMPLE", ['"2"^^integer', None, '"1"^^integer'], '"1"^^integer'),
    ("SAMPLE", [None], None),
    ("GROUP_CONCAT", [], '""'),
    ("GROUP_CONCAT", ['"b"', '"a"@en', '"2"^^integer', '"10"^^integer', "<http://example.org/a>"], '"http://example.org/a 2 10 b a"'),
    ("GROUP_CONCAT", ['"a"', None], None),
    ("GROUP_CONCAT", ['"a"', "_:b"], None),
]


@pytest.mark.parametrize(("name", "terms", "expected"), RESULTS)
def test_results(name: str, terms: list[str | None], expected: str | None) -> None:
    values = [None if each is None else full(each) for each in terms]
    assert aggregated(Aggregate(name, X), values) == aggregated(Aggregate(name, X), reversed(values)) == outcome(expected)


def test_distinct_is_by_terms() -> None:
    values = [full(each) for each in ('"1"^^integer', '"01"^^integer', '"1"^^integer')]
    assert aggregated(Aggregate("SUM", X, is_distinct=True), values) == full('"2"^^integer')
    assert aggregated(Aggregate("COUNT", X, is_distinct=True), values) == full('"2"^^integer')
    assert aggregated(Aggregate("GROUP_CONCAT", X, is_distinct=True, separator=","), values) == '"01,1"'


def test_count_of_solutions() -> None:
    assert aggregated(Aggregate("COUNT"), ["", None, ""]) == full('"3"^^integer')
    distinct = accumulator(Aggregate("COUNT", is_distinct=True))
    for solution, count in ((('"a"', None), 2), (("<b>", '"c"'), 1), (('"a"', None), -1), (("<b>", '"c"'), -1)):
        distinct.add(solution, count)  # type: ignore[arg-type]  # whatever stands for a solution
    assert distinct.result() == full('"1"^^integer')


def test_a_deletion_restores_the_type_and_the_digits() -> None:
    found = accumulator(Aggregate("SUM", X))
    found.add(full('"1"^^integer'), 2)
    for term in ('"0.1"^^double', '"1e308"^^double', '"INF"^^double', '"0.10"^^decimal', '"a"', '"NaN"^^float'):
        found.add(full(term), 3)
        found.add(full(term), -3)
        assert found.result() == full('"2"^^integer')


def test_other_names_are_no_aggregates() -> None:
    with pytest.raises(ValueError, match="MEDIAN"):
        accumulator(Aggregate("MEDIAN", X))


TERMS = [full(each) for each in ('"1"^^integer', '"01"^^integer', '"7"^^byte', '"0.25"^^decimal', '"1.0"^^decimal', '"-3.5"^^decimal')]
TERMS += [full(each) for each in ('"0.1"^^double', '"1e16"^^double', '"-1e16"^^double', '"3.25"^^float', '"0.1"^^float')]
OTHERS = [full(each) for each in ('"a"', '"b"@en', "<http://example.org/a>", "_:b", '"INF"^^double', '"x"^^integer', '"2011-01-10"^^date')]


def recomputed(name: str, values: list[Term | None]) -> Term | None:
    """Return an aggregate of a list, by its definition."""
    known = sorted((each for each in values if each is not None), key=lambda each: (order_key(each), each))
    has_errors = len(known) < len(values)
    match name:
        case "COUNT":
            return term_of(len(known))
        case "MIN":
            return known[0] if known and not has_errors else None
        case "MAX":
            return known[-1] if known else None
        case "SAMPLE":
            return known[0] if known else None
        case "GROUP_CONCAT":
            texts = [of_terms("STR", each) for each in known]
            return None if has_errors or None in texts else f'"{" ".join(each[1:-1] for each in texts if each)}"'
    if has_errors or any(number(each) is None for each in known):
        return None
    total = _sum(known)
    if name == "SUM" or not known:
        return total
    return of_terms("/", total, term_of(len(known)))


def _sum(terms: list[Term]) -> Term:
    kinds = ("integer", "decimal", "float", "double")
    widest = max((each for term in terms for each in range(4) if term.endswith(f"#{kinds[each]}>")), default=0)
    exact = full('"0"^^integer')
    doubles = []
    for term in terms:
        if term.endswith(("#double>", "#float>")):
            doubles.append(float(str(number(term))))
        else:
            exact = of_terms("+", exact, term) or ""
    if widest < 2:
        return exact
    as_widest = number(of_terms(f"xsd:{kinds[widest]}", exact) or "")
    assert isinstance(as_widest, float)
    infinite = not all(map(math.isfinite, doubles))
    total = term_of(sum(doubles) if infinite else math.fsum([*doubles, as_widest]))
    return of_terms(f"xsd:{kinds[widest]}", total) or ""


@settings(deadline=None, max_examples=5000 if WIDE else 100)
@given(
    st.sampled_from(NAMES),
    st.booleans(),
    st.sampled_from([TERMS, [*TERMS, *OTHERS]]).flatmap(
        lambda pool: st.lists(st.tuples(st.sampled_from([*pool, None]) if pool is not TERMS else st.sampled_from(pool), st.integers(-2, 3)))
    ),
    st.integers(0, 100),
)
def test_any_history_has_the_result_of_what_is_left(
    name: str, is_distinct: bool, changes: list[tuple[Term | None, int]], rest: int
) -> None:
    found = accumulator(Aggregate(name, X, is_distinct=is_distinct))
    counts: Counter[Term | None] = Counter()
    for place, (term, count) in enumerate(changes):
        # Not below zero.
        allowed = max(count, -counts[term])
        counts[term] += allowed
        if allowed:
            found.add(term, allowed)
        if (place + rest) % 3 == 0:
            check(found.result(), name, is_distinct, counts)
    check(found.result(), name, is_distinct, counts)


def check(found: Term | None, name: str, is_distinct: bool, counts: Counter[Term | None]) -> None:
    values = [each for each, count in counts.items() for _ in range(min(count, 1) if is_distinct else count)]
    assert found == recomputed(name, values)


def test_extremes_under_many_deletions() -> None:
    low, high = accumulator(Aggregate("MIN", X)), accumulator(Aggregate("MAX", X))
    for each in range(300):
        low.add(term_of(each), 1)
        high.add(term_of(each), 1)
    for each in range(299):
        low.add(term_of(each), -1)
        high.add(term_of(299 - each), -1)
        assert (low.result(), high.result()) == (term_of(each + 1), term_of(298 - each))
    low.add(term_of(299), -1)
    assert low.result() is None
    low.add(term_of(299), 1)
    assert low.result() == term_of(299)
