"""Comparison and three-valued logic, exhaustively over a small domain: the possible outcomes are exactly those that some value gives.

Twin: enumeration of every value inside every interval. Sound and sharp at once, so neither "anything" nor a lost outcome passes. Stateless,
hence no recomputation.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from imp_driver.dataflow.bounds.interval import Family, Interval, constant
from imp_driver.dataflow.bounds.truth import Truth, compare, conjunction, disjunction, is_null, negation, truth_of
from tests.operators.answers import compared, negated
from tests.operators.answers import conjunction as twin_conjunction
from tests.operators.twin import canonical

DOMAIN = [-math.inf, -1.0, 0.0, 1.0, math.inf, math.nan]
RANGES = [(low, high) for low in range(len(DOMAIN)) for high in range(low, len(DOMAIN))]
FLAGS = [(False, True), (True, True), (True, False)]
OUTCOMES = (True, False, None)


def intervals() -> tuple[Interval, list[set[Any]]]:
    """Return all intervals over the domain and the values that each stands for."""
    cases = list(itertools.product(RANGES, FLAGS))
    interval = Interval(
        Family.NUMBER,
        np.array([DOMAIN[low] for (low, _), _ in cases]),
        np.array([DOMAIN[high] for (_, high), _ in cases]),
        np.array([null for _, (null, _) in cases]),
        np.array([value for _, (_, value) in cases]),
    )
    meanings = [
        ({canonical(DOMAIN[i]) for i in range(low, high + 1)} if value else set()) | ({None} if null else set())
        for (low, high), (null, value) in cases
    ]
    return interval, meanings


def possible(truth: Truth, position: int) -> set[Any]:
    parts = (truth.may_be_true, truth.may_be_false, truth.may_be_null)
    return {outcome for outcome, part in zip(OUTCOMES, parts, strict=True) if part[position]}


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">=", "<=>"])
def test_comparison_allows_just_the_outcomes_of_its_values(operator: str) -> None:
    every, meanings = intervals()
    size = len(meanings)
    left_index, right_index = (index.ravel() for index in np.meshgrid(np.arange(size), np.arange(size)))
    left, right = taken(every, left_index), taken(every, right_index)
    truth = compare(operator, left, right).broadcast(size * size)
    for position, (i, j) in enumerate(zip(left_index.tolist(), right_index.tolist(), strict=True)):
        expected = {compared(operator, a, b) for a in meanings[i] for b in meanings[j]}
        assert possible(truth, position) == expected, (meanings[i], meanings[j])


def taken(interval: Interval, index: np.ndarray[Any, Any]) -> Interval:
    return Interval(
        interval.family, interval.lower[index], interval.upper[index], interval.may_be_null[index], interval.may_be_value[index]
    )


def test_logic_allows_just_the_outcomes_of_its_operands() -> None:
    sets = [set(chosen) for count in (1, 2, 3) for chosen in itertools.combinations(OUTCOMES, count)]
    pairs = list(itertools.product(sets, sets))
    left, right = (Truth(*(np.array([outcome in pair[side] for pair in pairs]) for outcome in OUTCOMES)) for side in (0, 1))
    both, either, inverse = conjunction([left, right]), disjunction([left, right]), negation(left)
    for position, (first, second) in enumerate(pairs):
        assert possible(both, position) == {twin_conjunction([a, b]) for a in first for b in second}
        assert possible(either, position) == {negated(twin_conjunction([negated(a), negated(b)])) for a in first for b in second}
        assert possible(inverse, position) == {negated(a) for a in first}
        assert possible(truth_of(left.as_interval()), position) == first
        assert possible(is_null(left.as_interval()).broadcast(len(pairs)), position) == {a is None for a in first}


def test_null_constant_makes_a_comparison_null() -> None:
    truth = compare("<", constant(None), constant("a"))
    assert possible(truth, 0) == {None}
    assert possible(compare("<=>", constant(None), constant(None)), 0) == {True}
    assert possible(compare("<=>", constant(None), constant(1)), 0) == {False}
    assert possible(truth_of(constant(None)), 0) == {None}
    assert possible(truth_of(constant(1)), 0) == {True, False, None}


def test_unknown_operator_is_refused() -> None:
    with pytest.raises(ValueError, match="comparison operator"):
        compare("!=", constant(1), constant(1))
