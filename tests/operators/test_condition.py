"""HAVING and top-k over maintained groups, against the twin: conditions evaluated in plain Python over exact aggregates.

Soundness: whatever passes in the twin, with doubles added in any of several random orders, is retained. Precision: where every aggregate is
exact, what is retained is just what passes. The second keeps the first from passing on an evaluator that retains everything.
"""

from __future__ import annotations

import functools
import math
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.dataflow.bounds.topk import retain_top
from imp_driver.sketch.merge import merge, passing_groups
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.aggregates import AggregateSpecification, OrderKey, ValueForm
from imp_driver.values.expressions import (
    AggregateReference,
    And,
    Arithmetic,
    Comparison,
    Constant,
    Expression,
    IsNull,
    KeyReference,
    Not,
    Opaque,
    Or,
)
from imp_driver.values.ranges import RangePartition
from tests.operators.answers import answer, mixes_families
from tests.operators.model import Block, OneCut, Row, budget, operations, slots_of, step
from tests.operators.twin import aggregate, rank

MONEY = pa.decimal128(10, 2)
SPECIFICATIONS = (
    AggregateSpecification(K.COUNT_ROWS, ValueForm.TOTAL, None),
    AggregateSpecification(K.SUM_INTEGER, ValueForm.TOTAL, pa.int64()),
    AggregateSpecification(K.SUM_DECIMAL, ValueForm.TOTAL, MONEY),
    AggregateSpecification(K.MAXIMUM, ValueForm.TOTAL, pa.int64()),
    AggregateSpecification(K.AVERAGE_INTEGER, ValueForm.AVERAGE, pa.int64()),
    AggregateSpecification(K.SUM_DECIMAL, ValueForm.AVERAGE, MONEY),
    AggregateSpecification(K.SUM_FLOAT, ValueForm.TOTAL, pa.float64()),
    AggregateSpecification(K.SUM_FLOAT, ValueForm.AVERAGE, pa.float64()),
    AggregateSpecification(K.MINIMUM, ValueForm.TOTAL, pa.float64()),
    AggregateSpecification(K.MAXIMUM, ValueForm.TOTAL, pa.bool_()),
)
EXACT_AGGREGATES = [0, 1, 2, 3]
BLOCK = Block((pa.int64(), pa.string()), SPECIFICATIONS, RangePartition(pa.int64(), (1, 3)))

integers = st.none() | st.integers(-4, 4)
doubles = st.none() | st.sampled_from([0.1, 0.2, 0.3, -0.3, 1e16, -1e16, 1.0, math.nan, math.inf, -math.inf, -0.0])


decimals = st.none() | st.decimals(-2, 2, places=2)
flags = st.none() | st.booleans()
keys = st.tuples(st.none() | st.integers(0, 5), st.none() | st.sampled_from(["", "a", "b"]))


def row_of(integer: int | None, decimal: Decimal | None, double: float | None, flag: bool | None, key: tuple[Any, ...]) -> Row:
    return key, (None, integer, decimal, integer, integer, decimal, double, double, double, flag)


rows = st.builds(row_of, integers, decimals, doubles, flags, keys)


def expressions(aggregates: list[int], constants: st.SearchStrategy[Any], signs: str) -> st.SearchStrategy[Expression]:
    numbers: st.SearchStrategy[Expression] = st.sampled_from([AggregateReference(i) for i in aggregates] + [KeyReference(0)]) | st.builds(
        Constant, constants
    )
    numbers = numbers | st.builds(Arithmetic, st.sampled_from(signs), numbers, numbers)
    operator = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"])
    texts = st.just(KeyReference(1)) | st.builds(Constant, st.sampled_from(["", "a", "aa", None]))
    leaves: st.SearchStrategy[Expression] = (
        st.builds(Comparison, operator, numbers, numbers)
        | st.builds(Comparison, operator, texts, texts)
        | st.builds(IsNull, numbers)
        | st.builds(Constant, st.sampled_from([True, False, None]))
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(Not, inner)
            | st.builds(And, st.tuples(inner, inner))
            | st.builds(Or, st.tuples(inner, inner))
            | st.builds(IsNull, inner)
        ),
        max_leaves=5,
    )


exact_constants = st.none() | st.integers(-6, 6) | st.decimals(-3, 3, places=1)
any_constants = exact_constants | st.sampled_from([0.1, 0.6, math.nan, -0.0, 2.5])


def maintained(stream: list[Row], deltas: Any, chance: random.Random) -> tuple[OneCut, list[Row]]:
    state = BLOCK.capture(stream, chance)
    for changes in deltas:
        state.apply(BLOCK.delta(step(stream, changes, chance)))
    return state, stream


def results(current: list[Row], chance: random.Random) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return one possible answer of the block without HAVING."""
    return {
        key: tuple(aggregate(spec, [row[1][i] for row in group], chance) for i, spec in enumerate(SPECIFICATIONS))
        for key, group in BLOCK.groups(current).items()
    }


def keys_at(state: OneCut, mask: np.ndarray) -> set[tuple[Any, ...]]:
    return {key for key, slot in slots_of(state).items() if mask[slot]}


def test_quotients_of_counts_and_sums_decide_exactly() -> None:
    chance = random.Random(0)
    stream: list[Row] = [
        ((key, ""), (None, key * place, None, place, place, None, None, None, None, None)) for key in range(4) for place in (1, 2)
    ]
    state, current = maintained(stream, [], chance)
    ratio = Arithmetic("/", AggregateReference(1), AggregateReference(0))
    for bound in (-0.5, 1.5, 3.0, 4.5):
        truth = evaluate(Comparison(">=", ratio, Constant(bound)), state)
        passing = {key for key, values in results(current, chance).items() if values[1] / values[0] >= bound}
        assert keys_at(state, truth.broadcast(len(state.alive)).must_be_true & state.alive) == passing
        assert keys_at(state, truth.broadcast(len(state.alive)).may_be_true & state.alive) == passing
    unknown = evaluate(Comparison(">", Arithmetic("/", AggregateReference(0), AggregateReference(1)), Constant(0)), state)
    assert (0, "") in keys_at(state, unknown.broadcast(len(state.alive)).may_be_true & ~unknown.broadcast(len(state.alive)).must_be_true)


streams = {"stream": st.lists(rows, max_size=25), "deltas": operations(rows), "seed": st.integers(0, 2**32)}


@budget(150)
@given(condition=expressions(list(range(9)), any_constants, "+-*/"), **streams)
def test_having_never_loses_a_passing_group(condition: Expression, stream: list[Row], deltas: Any, seed: int) -> None:
    if mixes_families(condition):
        return
    chance = random.Random(seed)
    state, current = maintained(stream, deltas, chance)
    truth = evaluate(condition, state).broadcast(len(state.alive))
    slots = slots_of(state)
    for _ in range(4):
        for key, values in results(current, chance).items():
            outcome = answer(condition, key, values)
            possible = {True: truth.may_be_true, False: truth.may_be_false, None: truth.may_be_null}[outcome]
            assert possible[slots[key]], (condition, key, values, outcome)


@budget(150)
@given(condition=expressions(EXACT_AGGREGATES, exact_constants, "+-*"), **streams)
def test_exact_aggregates_decide_exactly(condition: Expression, stream: list[Row], deltas: Any, seed: int) -> None:
    chance = random.Random(seed)
    state, current = maintained(stream, deltas, chance)
    if mixes_families(condition) or may_exceed_digits(condition):
        return
    truth = evaluate(condition, state)
    passing = {key for key, values in results(current, chance).items() if answer(condition, key, values) is True}
    assert keys_at(state, truth.broadcast(len(state.alive)).may_be_true & state.alive) == passing
    assert keys_at(state, truth.broadcast(len(state.alive)).must_be_true & state.alive) == passing


def may_exceed_digits(expression: Expression) -> bool:
    """Say whether a multiplication may exceed 38 digits, which is then held to be unknown; a decimal constant counts as 20 at least."""
    text = repr(expression)
    return text.count("operator='*'") > 1 or ("operator='*'" in text and "Decimal(" in text)


def test_incomparable_families_and_opaque_terms_may_be_anything() -> None:
    state = BLOCK.capture([((1, "1"), (None, 1, None, 1, 1, None, None, None, None, True))], random.Random(0))
    for condition in (
        Comparison("=", KeyReference(1), Constant(5)),
        Opaque("f(x)"),
        Comparison("<", Opaque("f(x)"), Constant(1)),
        Arithmetic("+", Constant(1), Constant(2)),
    ):
        truth = evaluate(condition, state).broadcast(1)
        assert (truth.may_be_true[0], truth.may_be_false[0], truth.may_be_null[0]) == (True, True, True)


def test_bare_boolean_is_a_condition() -> None:
    flags = [True, False, None]
    state = BLOCK.capture([((i, None), (None, *[None] * 8, flag)) for i, flag in enumerate(flags)], random.Random(0))
    truth = evaluate(AggregateReference(9), state)
    assert keys_at(state, truth.must_be_true) == {(0, None)}
    assert keys_at(state, truth.may_be_null) == {(2, None)}


order_keys = st.lists(
    st.builds(
        OrderKey,
        st.sampled_from([AggregateReference(i) for i in (0, 1, 2, 3, 4, 6, 7, 8)] + [KeyReference(0), KeyReference(1)]),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
)


def place(key: OrderKey, value: Any) -> tuple[int, Any]:
    if value is None:
        return (-1 if key.nulls_first else 1, 0)
    return (
        0,
        functools.cmp_to_key(
            lambda a, b: (rank(a) > rank(b)) - (rank(a) < rank(b)) if not key.descending else (rank(b) > rank(a)) - (rank(b) < rank(a))
        )(value),
    )


@budget(150)
@given(order=order_keys, limit=st.integers(0, 6), threshold=st.integers(-3, 3), inexact=st.booleans(), **streams)
def test_top_k_keeps_the_first_and_drops_the_rest(
    order: list[OrderKey], limit: int, threshold: int, inexact: bool, stream: list[Row], deltas: Any, seed: int
) -> None:
    chance = random.Random(seed)
    state, current = maintained(stream, deltas, chance)
    condition = Comparison(">=", AggregateReference(6 if inexact else 0), Constant(threshold))
    retained = keys_at(state, retain_top(state, evaluate(condition, state), order, limit))
    total = [*order, OrderKey(KeyReference(0), False, True), OrderKey(KeyReference(1), True, False)]
    for _ in range(4):
        answers = results(current, chance)
        passing = [key for key, values in answers.items() if answer(condition, key, values) is True]
        passing.sort(key=lambda key: [place(part, answer(part.expression, key, answers[key])) for part in total])
        assert set(passing[:limit]) <= retained
    exact = all(
        part.expression in [AggregateReference(i) for i in (0, 1, 2, 3, 8)] or isinstance(part.expression, KeyReference) for part in order
    )
    if exact and not inexact:
        kept = keys_at(state, retain_top(state, evaluate(condition, state), total, limit))
        assert kept == set(passing[:limit])


@pytest.mark.parametrize("descending", [False, True])
def test_ties_with_the_last_group_are_kept(descending: bool) -> None:
    current: list[Row] = [((key, None), (None, value, *[None] * 8)) for key, value in enumerate([1, 2, 2, 2, 3])]
    state = BLOCK.capture(current, random.Random(0))
    order = [OrderKey(AggregateReference(1), descending, True)]
    retained = keys_at(state, retain_top(state, evaluate(Constant(True), state), order, 2))
    assert retained == {(key, None) for key in ((4, 1, 2, 3) if descending else (0, 1, 2, 3))}


@budget(30)
@given(**streams)
def test_merge_keeps_the_fragments_of_retained_groups(stream: list[Row], deltas: Any, seed: int) -> None:
    state, _ = maintained(stream, deltas, random.Random(seed))
    retained = state.alive & evaluate(Comparison(">", AggregateReference(1), Constant(0)), state).may_be_true
    fragments = merge(retained, state.fragment, state.partition.fragments)
    keys = keys_at(state, retained)
    located = state.partition.locate(pa.array([key[0] for key in keys], type=pa.int64()))
    assert set(fragments.members().tolist()) == set(located.tolist())
    assert passing_groups(retained, state.fragment, state.partition.fragments).sum() == len(keys)


def test_rounded_decimals_are_not_decided() -> None:
    wide = AggregateSpecification(K.SUM_DECIMAL, ValueForm.TOTAL, pa.decimal128(28, 0))
    block = Block((pa.int64(),), (wide,), RangePartition(pa.int64(), ()))
    state = block.capture([((1,), (Decimal(2),))], random.Random(0))
    # Spark compares decimal(38, 0) with decimal(2, 1) as decimal(38, 0), where 1.5 is 2.
    truth = evaluate(Comparison("=", AggregateReference(0), Constant(Decimal("1.5"))), state)
    assert truth.may_be_true.tolist() == [True]
