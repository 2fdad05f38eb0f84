"""Where a top-k without a total order ends: against the twin, which sorts all groups and looks at the neighbours there.

Soundness: what is called decided is the same in every order of summation and however ties are broken. Precision: where every aggregate is
exact, it is called decided whenever the neighbours differ.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.dataflow.bounds.topk import retain_top, undecided_boundary
from imp_driver.values.aggregates import OrderKey
from imp_driver.values.expressions import AggregateReference, Comparison, Constant, Expression, KeyReference, Opaque
from tests.operators.answers import answer
from tests.operators.model import Row, budget
from tests.operators.test_condition import BLOCK, keys_at, maintained, place, results, streams

EXACT = [AggregateReference(index) for index in (0, 1, 2, 3, 8)]
YES = Constant(True)
EXPRESSIONS = [*map(AggregateReference, range(9)), KeyReference(0), KeyReference(1)]
orders = st.lists(st.builds(OrderKey, st.sampled_from(EXPRESSIONS), st.booleans(), st.booleans()), min_size=1, max_size=3)


def neighbours(passing: list[tuple[Any, ...]], places: dict[tuple[Any, ...], Any], boundaries: tuple[int, int]) -> int | None:
    """Return the first boundary between two groups of one place; None where there is none."""
    tied = [b for b in boundaries if 0 < b < len(passing) and places[passing[b - 1]] == places[passing[b]]]
    return tied[0] if tied else None


@budget(250)
@given(order=orders, offset=st.integers(0, 3), limit=st.integers(0, 4), threshold=st.integers(-3, 3), inexact=st.booleans(), **streams)
def test_decided_exactly_when_neighbours_differ(
    order: list[OrderKey], offset: int, limit: int, threshold: int, inexact: bool, stream: list[Row], deltas: Any, seed: int
) -> None:
    chance, boundaries = random.Random(seed), (offset, offset + limit)
    state, current = maintained(stream, deltas, chance)
    condition = Comparison(">=", AggregateReference(6 if inexact else 0), Constant(threshold))
    truth = evaluate(condition, state)
    found = undecided_boundary(state, truth, order, boundaries)
    retained = keys_at(state, retain_top(state, truth, order, offset + limit))
    firsts = set()
    for _ in range(4):
        answers = results(current, chance)
        passing = [key for key, values in answers.items() if answer(condition, key, values) is True]
        chance.shuffle(passing)
        places = {key: [place(part, answer(part.expression, key, answers[key])) for part in order] for key in passing}
        passing.sort(key=places.__getitem__)
        firsts.add(tuple(frozenset(passing[:boundary]) for boundary in boundaries if boundary < len(passing)))
        tied = neighbours(passing, places, boundaries)
        if found is None:
            assert tied is None
            assert set(passing[: offset + limit]) <= retained
    if found is None and not inexact:
        assert len(firsts) == 1
    if not inexact and all(part.expression in EXACT or isinstance(part.expression, KeyReference) for part in order):
        assert found == tied


def state_of(values: list[Any], aggregate: int = 1) -> Any:
    """Capture one group per value; ``aggregate`` reads it."""
    rows: list[Row] = [
        ((key, None), tuple(value if place == aggregate else None for place in range(10))) for key, value in enumerate(values)
    ]
    return BLOCK.capture(rows, random.Random(0))


@pytest.mark.parametrize(
    ("values", "boundaries", "expected"),
    [
        ([5, 4, 3], (0, 2), None),
        ([5, 4, 4], (0, 2), 2),
        ([5, 5, 4], (0, 2), None),
        ([5, 5, 4], (1, 2), 1),
        ([5, 5, 5], (1, 2), 1),
        ([5, 5, 5], (0, 3), None),
        ([5, 5, 5], (0, 7), None),
        ([5, 5, 5], (3, 7), None),
        ([5, 5, 5], (2, 7), 2),
        ([5, 5, 5], (0, 0), None),
        ([5, None, None], (0, 2), 2),
        ([5, 4, None], (0, 2), None),
        ([], (0, 1), None),
    ],
)
def test_both_boundaries(values: list[int | None], boundaries: tuple[int, int], expected: int | None) -> None:
    state = state_of(values)
    order = [OrderKey(AggregateReference(1), descending=True, nulls_first=False)]
    assert undecided_boundary(state, evaluate(YES, state), order, boundaries) == expected


def test_second_key_decides_where_the_first_ties() -> None:
    state = state_of([4, 4, 4])
    order = [OrderKey(AggregateReference(1), True, False), OrderKey(KeyReference(0), False, True)]
    assert undecided_boundary(state, evaluate(YES, state), order, (1, 2)) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.1, 0.1], 1), ([0.1, 0.1 + 1e-17], None), ([0.0, -0.0], 1), ([math.nan, math.nan], 1), ([0.5, math.nan], None)],
)
def test_doubles_tie_as_spark_compares_them(values: list[float], expected: int | None) -> None:
    state = state_of(values, 8)
    assert undecided_boundary(state, evaluate(YES, state), [OrderKey(AggregateReference(8), True, False)], (0, 1)) == expected


def test_sums_of_doubles_whose_errors_overlap_may_tie() -> None:
    rows: list[Row] = [((key, None), (*[None] * 6, value, *[None] * 3)) for key in range(2) for value in (0.1, 0.2, 0.3)]
    rows.append(((1, None), (*[None] * 6, 1e-17, *[None] * 3)))
    state = BLOCK.capture(rows, random.Random(0))
    assert undecided_boundary(state, evaluate(YES, state), [OrderKey(AggregateReference(6), True, False)], (0, 1)) == 1


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Opaque("f(x)"), 1),
        (Comparison(">", AggregateReference(1), Constant(4)), None),
        (Comparison("<", AggregateReference(1), Constant(9)), None),
    ],
)
def test_first_group_must_certainly_pass(condition: Expression, expected: int | None) -> None:
    state = state_of([7, 6, 5])
    assert undecided_boundary(state, evaluate(condition, state), [OrderKey(AggregateReference(1), True, False)], (0, 1)) == expected


def test_group_that_may_pass_behind_the_first_changes_nothing() -> None:
    state = state_of([7, 6, 5])
    condition = Comparison(">", AggregateReference(1), Constant(6))
    assert undecided_boundary(state, evaluate(condition, state), [OrderKey(AggregateReference(1), True, False)], (0, 1)) is None


def test_unknown_order_may_tie() -> None:
    state = state_of([7, 6])
    order = [OrderKey(Opaque("median(x)"), True, False), OrderKey(KeyReference(0), False, True)]
    assert undecided_boundary(state, evaluate(YES, state), order, (0, 1)) == 1
