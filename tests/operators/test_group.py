"""Grouped aggregation against the twin and against recomputation (the two checks of model.py), over every accumulator kind.

Precision is checked with soundness: where a kind is exact its interval must be one point, else an operator that knows nothing would pass.
"""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.values.aggregates import AccumulatorKind as K
from imp_driver.values.aggregates import AggregateSpecification, Share, ValueForm
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, OneCut, Row, applied, budget, inside, operations, slots_of, step
from tests.operators.twin import aggregate

TOTAL, AVERAGE = ValueForm.TOTAL, ValueForm.AVERAGE
MONEY = pa.decimal128(10, 2)
HUGE = pa.decimal128(38, 3)


def spec(kind: K, argument: pa.DataType | None = None, form: ValueForm = TOTAL) -> AggregateSpecification:
    return AggregateSpecification(kind, form, argument)


def percentile_of(
    argument: pa.DataType, share: float, *, is_interpolated: bool = True, is_descending: bool = False
) -> AggregateSpecification:
    return AggregateSpecification(K.PERCENTILE, TOTAL, argument, Share(share, is_interpolated, is_descending))


SPECIFICATIONS = (
    spec(K.COUNT_ROWS),
    spec(K.COUNT, pa.string()),
    spec(K.SUM_INTEGER, pa.int64()),
    spec(K.AVERAGE_INTEGER, pa.int64(), AVERAGE),
    spec(K.SUM_DECIMAL, MONEY),
    spec(K.SUM_DECIMAL, MONEY, AVERAGE),
    spec(K.SUM_WIDE_DECIMAL, HUGE),
    spec(K.SUM_FLOAT, pa.float64()),
    spec(K.SUM_FLOAT, pa.float64(), AVERAGE),
    spec(K.MINIMUM, pa.float64()),
    spec(K.MAXIMUM, pa.float64()),
    spec(K.MAXIMUM, pa.string()),
    spec(K.MINIMUM, MONEY),
    spec(K.MINIMUM, HUGE),
    spec(K.MAXIMUM, HUGE),
    spec(K.MINIMUM, pa.string()),
    spec(K.COUNT_DISTINCT, pa.int64()),
    spec(K.COUNT_DISTINCT, pa.float64()),
    spec(K.COUNT_DISTINCT, pa.string()),
    spec(K.COUNT_DISTINCT, HUGE),
    spec(K.SUM_LONG, pa.int64()),
    spec(K.SUM_FLOAT_EXACT, pa.float64()),
    spec(K.SUM_FLOAT_EXACT, pa.float64(), AVERAGE),
    spec(K.SUM_DISTINCT, pa.int64()),
    spec(K.SUM_DISTINCT, pa.int64(), AVERAGE),
    spec(K.SUM_DISTINCT, MONEY),
    spec(K.SUM_DISTINCT, MONEY, AVERAGE),
    spec(K.SUM_DISTINCT, pa.float64()),
    spec(K.SUM_DISTINCT, pa.float64(), AVERAGE),
    percentile_of(pa.int64(), 0.5),
    percentile_of(pa.float64(), 0.3, is_descending=True),
    percentile_of(MONEY, 0.75, is_interpolated=False),
    percentile_of(HUGE, 0.9),
    spec(K.BIT_AND, pa.int64()),
    spec(K.BIT_OR, pa.int64()),
    spec(K.BIT_XOR, pa.int64()),
    spec(K.BOOLEAN_AND, pa.bool_()),
    spec(K.BOOLEAN_OR, pa.bool_()),
    spec(K.VARIANCE, pa.int64(), ValueForm.POPULATION_VARIANCE),
    spec(K.VARIANCE, pa.int64(), ValueForm.SAMPLE_DEVIATION),
    spec(K.VARIANCE, MONEY, ValueForm.SAMPLE_VARIANCE),
    spec(K.VARIANCE, MONEY, ValueForm.POPULATION_DEVIATION),
)
FLOATS = {place for place, each in enumerate(SPECIFICATIONS) if each.kind in (K.SUM_FLOAT, K.SUM_FLOAT_EXACT)}
LOSABLE = {
    place
    for place, each in enumerate(SPECIFICATIONS)
    if each.kind is K.SUM_WIDE_DECIMAL or (each.kind is K.VARIANCE and each.argument_type == pa.int64())
}
"""Sums that capturing again may know where the state does not."""
EXACT = {K.COUNT_ROWS, K.COUNT, K.MINIMUM, K.MAXIMUM, K.COUNT_DISTINCT, K.PERCENTILE, K.BOOLEAN_AND, K.BOOLEAN_OR}
FLOAT_VALUES = [0.0, -0.0, 1.5, -2.25, 0.1, 1e16, -1e16, 3e-300, math.nan, math.inf, -math.inf]
integers = st.none() | st.integers(-5, 5) | st.sampled_from([2**62, -(2**62), 2**53 + 1, 2**63 - 1, -(2**63)])
decimals = st.none() | st.decimals(-10, 10, places=2) | st.sampled_from([Decimal("99999999.99"), Decimal("-99999999.99")])
floats = st.none() | st.sampled_from(FLOAT_VALUES) | st.floats(-1e6, 1e6, width=32)
strings = st.none() | st.sampled_from(["", "a", "a\0", "ab", "ä", "\U0001f600", "\uffff", "zz"])
huge = st.none() | st.decimals(-10, 10, places=3) | st.sampled_from([Decimal("9" * 35 + ".999"), Decimal("-" + "9" * 35 + ".999")])


@st.composite
def arguments(draw: st.DrawFn) -> tuple[Any, ...]:
    integer, decimal, number, text, wide = draw(integers), draw(decimals), draw(floats), draw(strings), draw(huge)
    truth = draw(st.sampled_from([None, True, False]))
    return (
        None,
        text,
        integer,
        integer,
        decimal,
        decimal,
        wide,
        number,
        number,
        number,
        number,
        text,
        decimal,
        wide,
        wide,
        text,
        integer,
        number,
        text,
        wide,
        integer,
        number,
        number,
        integer,
        integer,
        decimal,
        decimal,
        number,
        number,
        integer,
        number,
        decimal,
        wide,
        integer,
        integer,
        integer,
        truth,
        truth,
        integer,
        integer,
        decimal,
        decimal,
    )


KEYS = {
    "int": (pa.int32(), st.none() | st.integers(0, 3), (1, 2)),
    "double": (pa.float64(), st.none() | st.sampled_from([0.0, -0.0, math.nan, 1.5, math.inf]), (0.0, 1.5)),
    "string": (pa.string(), st.none() | st.sampled_from(["", "a", "b\0", "ä"]), ("a",)),
    "decimal": (pa.decimal128(20, 1), st.none() | st.sampled_from([Decimal("0.0"), Decimal("-1.5"), Decimal("1" * 19 + ".5")]), ()),
}


def block_of(kind: str) -> Block:
    key_type, _, bounds = KEYS[kind]
    return Block((key_type, pa.int64()), SPECIFICATIONS, RangePartition(key_type, bounds))


def rows_of(kind: str) -> st.SearchStrategy[Row]:
    return st.tuples(st.tuples(KEYS[kind][1], st.none() | st.integers(0, 1)), arguments())


def check_twin(block: Block, state: OneCut, rows: list[Row], chance: random.Random) -> None:
    groups = block.groups(rows)
    slots = slots_of(state)
    assert slots.keys() == groups.keys()
    assert state.groups == len(groups)
    assert state.total_rows == len(rows)
    fragments = block.partition.locate(pa.array([row[0][0] for row in rows], type=block.key_types[0]))
    assert state.fragment_rows().tolist() == np.bincount(fragments, minlength=block.partition.fragments).tolist()
    for index, specification in enumerate(block.specifications):
        interval = state.aggregate_interval(index)
        for key, group in groups.items():
            slot = slots[key]
            values = [row[1][index] for row in group]
            result = aggregate(specification, values, chance)
            if result is None:
                assert interval.may_be_null[slot]
                continue
            assert interval.may_be_value[slot]
            lower, upper = interval.lower[slot], interval.upper[slot]
            scale = interval.form.scale if interval.form else 0
            assert inside(result, lower, upper, scale), (specification, values, result, lower, upper)
            if sharp(specification, values):
                assert lower == upper or (lower != lower and upper != upper), (specification, values, lower, upper)
                assert not interval.may_be_null[slot]


def sharp(specification: AggregateSpecification, values: list[Any]) -> bool:
    """Say whether the interval must be a point: exact kind and a value that a double holds."""
    present = [value for value in values if value is not None]
    if specification.argument_type == HUGE or specification.kind in (K.SUM_FLOAT, K.SUM_FLOAT_EXACT) or specification.form is AVERAGE:
        return False
    if specification.kind is K.VARIANCE or (specification.kind is K.SUM_DISTINCT and pa.types.is_floating(specification.argument_type)):
        return False
    if specification.kind in (K.SUM_INTEGER, K.SUM_LONG, K.SUM_DISTINCT, K.BIT_AND, K.BIT_OR, K.BIT_XOR):
        return all(abs(value) <= 5 for value in present)
    return specification.kind in EXACT or specification.kind is K.SUM_DECIMAL


def comparable_parts(state: GroupState | OneCut) -> dict[Any, dict[str, Any]]:
    """Return the exact parts of a state by key."""
    columns = {name: column.to_pylist() for name, column in state.snapshot().items()}
    result = {}
    for position, key in enumerate(zip(columns["key_0"], columns["key_1"], strict=True)):
        parts = {}
        for name, column in columns.items():
            if (
                name == "rows"
                or name.endswith(("_count", "_nonfinite", "_buffer", "_bound", "_values", "_copies", "_small", "_true"))
                or "_part_" in name
                or (name.endswith(("_sum", "_squares")) and int(name.split("_")[1]) not in FLOATS | LOSABLE)
            ):
                parts[name] = repr(column[position]) if column[position] not in (None, 0) else "0"
        result[repr(key)] = parts
    return result


@pytest.mark.parametrize("kind", sorted(KEYS))
@budget(15)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_stream_agrees_with_twin_and_recomputation(kind: str, data: st.DataObject, seed: int) -> None:
    block, chance = block_of(kind), random.Random(seed)
    rows = data.draw(st.lists(rows_of(kind), max_size=12))
    state = block.capture(rows, chance)
    check_twin(block, state, rows, chance)
    for changes in data.draw(operations(rows_of(kind))):
        before = list(rows)
        signed = step(rows, changes, chance)
        state = applied(block, state, before, signed, chance)
        check_twin(block, state, rows, chance)
        again = block.capture(rows, chance)
        assert comparable_parts(state) == comparable_parts(again)
        columns = state.snapshot()
        restored = block.restore(columns)
        assert {name: column.to_pylist() for name, column in restored.snapshot().items()}.__repr__() == {
            name: column.to_pylist() for name, column in columns.items()
        }.__repr__()
        if chance.random() < 0.5:
            state = restored
            check_twin(block, state, rows, chance)


INT_BLOCK = Block(
    (pa.int32(),),
    (spec(K.COUNT_ROWS), spec(K.SUM_INTEGER, pa.int64()), spec(K.MINIMUM, pa.int64()), spec(K.COUNT_DISTINCT, pa.int64())),
    RangePartition(pa.int32(), (5,)),
)


def int_row(key: int | None, value: int | None) -> Row:
    return ((key,), (None, value, value, value))


@pytest.mark.parametrize(
    "signed",
    [
        [(int_row(1, 7), -1), (int_row(1, 7), -1)],
        [(int_row(2, 7), -1)],
        [(int_row(1, 8), -1)],
        [(int_row(1, None), -1)],
        [(int_row(3, 1), 1), (int_row(3, 2), -1)],
    ],
    ids=["more rows than held", "unknown group", "other value", "value that was not NULL", "other value of a new group"],
)
def test_contradicting_delta_is_refused_and_changes_nothing(signed: list[tuple[Row, int]]) -> None:
    state = INT_BLOCK.capture([int_row(1, 7)], random.Random(0))
    before = state.snapshot()
    with pytest.raises(StateCorrupt):
        state.apply(INT_BLOCK.delta([(int_row(4, 4), 1), *signed]))
    assert state.snapshot() == before
    state.apply(INT_BLOCK.delta([(int_row(1, 7), -1)]))
    assert state.groups == 0


def test_empty_delta_touches_nothing() -> None:
    state = INT_BLOCK.capture([int_row(1, 7)], random.Random(0))
    assert state.state.prepare(INT_BLOCK.delta([])) is None
    state.apply(INT_BLOCK.delta([]))
    assert state.total_rows == 1


def test_slots_of_dead_groups_are_used_again() -> None:
    state = INT_BLOCK.capture([int_row(key, key) for key in range(100)], random.Random(0))
    for round_number in range(1, 5):
        signed = [(int_row(100 * (round_number - 1) + key, key), -1) for key in range(100)]
        state.apply(INT_BLOCK.delta(signed))
        state.apply(INT_BLOCK.delta([(int_row(100 * round_number + key, key), 1) for key in range(100)]))
    assert len(state.alive) == 100
    assert state.fragment_rows().tolist() == [0, 100, 0]


def test_update_of_the_sketch_key_moves_rows_between_fragments() -> None:
    state = INT_BLOCK.capture([int_row(1, 7), int_row(9, 3)], random.Random(0))
    state.apply(INT_BLOCK.delta([(int_row(1, 7), -1), (int_row(None, 7), 1)]))
    assert state.fragment_rows().tolist() == [0, 1, 1]


def test_weights_beyond_one() -> None:
    state = INT_BLOCK.capture([int_row(1, 7)], random.Random(0))
    state.apply(INT_BLOCK.delta([(int_row(1, 3), 40), (int_row(1, 7), 2)]))
    state.apply(INT_BLOCK.delta([(int_row(1, 3), -40), (int_row(1, 7), -1)]))
    assert state.rows.tolist() == [2]
    assert state.aggregate_interval(1).lower.tolist() == [14.0]
    interval = state.aggregate_interval(2)
    assert inside(7, interval.lower[0], interval.upper[0])


def test_repeated_group_in_capture_is_refused() -> None:
    keys, counts = pa.array([1, 1], type=pa.int32()), pa.array([1, 1], type=pa.int64())
    with pytest.raises(StateCorrupt):
        GroupState.capture([keys], counts, {}, (spec(K.COUNT_ROWS),), (pa.int32(),))


def test_overflowed_decimal_sum_is_unknown_until_the_group_is_empty() -> None:
    block = Block((pa.int32(),), (spec(K.SUM_DECIMAL, HUGE),), RangePartition(pa.int32(), ()))
    big = ((1,), (Decimal("9" * 35 + ".000"),))
    state = block.capture([big, big], random.Random(0))
    interval = state.aggregate_interval(0)
    assert interval.may_be_null[0]
    assert interval.lower[0] == -math.inf
    state.apply(block.delta([(big, -1), (big, -1), (((1,), (Decimal("2.000"),)), 1)]))
    assert state.aggregate_interval(0).lower[0] == -math.inf
    state.apply(block.delta([(((1,), (Decimal("2.000"),)), -1)]))
    state.apply(block.delta([(((1,), (Decimal("2.000"),)), 1)]))
    assert state.aggregate_interval(0).lower[0] == 2000.0


def test_a_sum_that_leaves_64_bits_has_the_groups_captured_again() -> None:
    # With ANSI mode Spark raises for the group; a wrapped sum could say that it does not pass, and Spark would never see it.
    block = Block((pa.int32(),), (spec(K.SUM_INTEGER, pa.int64()),), RangePartition(pa.int32(), (5,)))
    state = block.capture([((5,), (1,)), ((6,), (2**63 - 2,))], random.Random(1))
    with pytest.raises(StateCorrupt, match="leaves 64 bits"):
        state.apply(block.delta([(((5,), (2**63 - 1,)), 1)]))
    state.apply(block.delta([(((6,), (1,)), 1), (((5,), (-(2**63) + 5,)), 1)]))
    assert sorted(state.snapshot()["aggregate_0_sum"].to_pylist()) == [-(2**63) + 6, 2**63 - 1]
    for value, weight in ((1, 1), (-1, -1), (-(2**63), -1)):
        with pytest.raises(StateCorrupt, match="leaves 64 bits"):
            state.apply(block.delta([(((6,), (value,)), weight), (((6,), (None,)), 1), (((6,), (None,)), 1)]))
