"""Merge on random streams: against the sets of retained groups themselves, and against merging from scratch."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.sketch.merge import Merge, merge
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm
from imp_driver.values.expressions import AggregateReference, And, Comparison, Constant, Expression, KeyReference, Or
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, Row, budget, operations, step

SPECIFICATIONS = tuple(
    AggregateSpecification(kind, form, kind_of)
    for kind, form, kind_of in (
        (AccumulatorKind.COUNT_ROWS, ValueForm.TOTAL, None),
        (AccumulatorKind.SUM_INTEGER, ValueForm.TOTAL, pa.int64()),
        (AccumulatorKind.AVERAGE_INTEGER, ValueForm.AVERAGE, pa.int64()),
        (AccumulatorKind.SUM_FLOAT, ValueForm.TOTAL, pa.float64()),
        (AccumulatorKind.SUM_DECIMAL, ValueForm.TOTAL, pa.decimal128(10, 2)),
        (AccumulatorKind.MINIMUM, ValueForm.TOTAL, pa.int64()),
        (AccumulatorKind.MAXIMUM, ValueForm.TOTAL, pa.string()),
        (AccumulatorKind.COUNT_DISTINCT, ValueForm.TOTAL, pa.int64()),
        (AccumulatorKind.COUNT, ValueForm.TOTAL, pa.int64()),
    )
)
BLOCK = Block((pa.int32(), pa.string()), SPECIFICATIONS, RangePartition(pa.int32(), (2, 4, 6)))
numbers = st.none() | st.integers(-3, 5)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    number, other = draw(numbers), draw(st.none() | st.sampled_from([0.1, -0.3, 2.0]))
    money, text = draw(st.none() | st.decimals(-2, 2, places=2)), draw(st.none() | st.sampled_from(["", "a", "b"]))
    keys = (draw(st.none() | st.integers(0, 7)), draw(st.none() | st.sampled_from(["", "x"])))
    return keys, (None, number, number, other, money, number, text, number, number)


thresholds = st.builds(
    Comparison,
    st.sampled_from([">", "<", ">=", "="]),
    st.sampled_from([AggregateReference(place) for place in (0, 1, 2, 3, 4, 5, 7, 8)] + [KeyReference(0)]),
    st.builds(Constant, st.integers(-2, 4)),
)
texts = st.builds(Comparison, st.just(">="), st.just(AggregateReference(6)), st.just(Constant("a")))
leaves: st.SearchStrategy[Expression] = thresholds | texts
conditions = leaves | st.builds(And, st.tuples(leaves, leaves)) | st.builds(Or, st.tuples(leaves, leaves))


@budget(150)
@given(condition=conditions, stream=st.lists(rows(), max_size=20), deltas=operations(rows()), seed=st.integers(0, 2**32))
def test_stream_agrees_with_sets_and_with_merging_from_scratch(condition: Expression, stream: list[Row], deltas: object, seed: int) -> None:
    chance = random.Random(seed)
    state = BLOCK.capture(stream, chance)

    def retained() -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.asarray(evaluate(condition, state).broadcast(len(state.alive)).may_be_true & state.alive, dtype=bool)

    merged = Merge(retained(), state.fragment, state.partition.fragments)
    for changes in deltas:  # type: ignore[attr-defined]
        state.apply(BLOCK.delta(step(stream, changes, chance)))
        if chance.random() < 0.3:
            # What changed is taken over with the next delta.
            continue
        touched = state.key_cut.take_touched()
        some = state.only(touched)
        kept = evaluate(condition, some).broadcast(len(touched)).may_be_true & (some.rows > 0)
        merged.update(touched, kept, state.fragment[touched])
        assert merged.fragments() == merge(retained(), state.fragment, state.partition.fragments)
        assert set(merged.fragments().members().tolist()) == set(state.fragment[retained()].tolist())
        assert state.fragment_rows().tolist() == np.bincount(state.fragment, weights=state.rows, minlength=5).astype(int).tolist()


def test_a_slot_that_holds_another_group_now_is_counted_where_it_was() -> None:
    merged = Merge(np.array([True, True]), np.array([0, 1], dtype=np.int32), 3)
    merged.update(np.array([0, 3]), np.array([True, False]), np.array([2, 1], dtype=np.int32))
    assert merged.fragments().members().tolist() == [1, 2]
    merged.update(np.array([1, 0]), np.array([False, False]), np.array([1, 0], dtype=np.int32))
    assert merged.fragments().members().tolist() == []
    assert merged.memory == 4 * 1 + 4 * 4 + 3 * 8
