"""What a state takes beyond its raw numbers: nothing for NULL, NaN and rounding that never occur."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ProjectedRows, ValueForm
from imp_driver.values.cuts import CutName

GROUPS = 10_000
RAW = 4 + 8 + 8
"""Bytes of a key, a count and a sum."""


def captured(kind: AccumulatorKind, argument: pa.DataType, nulls: int = 0) -> CutGroups:
    keys, rows = pa.array(np.arange(GROUPS), pa.int32()), np.full(GROUPS, 10)
    values = pa.array(np.arange(GROUPS)).cast(argument)
    counts = rows.copy()
    counts[:nulls] -= 1
    parts = {(0, "count"): pa.array(counts), (0, "sum"): values, (0, "magnitude"): values.cast(pa.float64())}
    parts[0, "nonfinite"] = pa.array(np.zeros(GROUPS, np.int64))
    specification = AggregateSpecification(kind, ValueForm.AVERAGE, argument)
    state = GroupState.capture((keys,), pa.array(rows), parts, (specification,), (keys.type,))
    return CutGroups(state, {CutName(100, 0): KeyCut.equi_depth(state, 0, 100, "key")})


@pytest.mark.parametrize(
    ("kind", "argument", "most"), [(AccumulatorKind.AVERAGE_INTEGER, pa.int64(), 2.3), (AccumulatorKind.SUM_FLOAT, pa.float64(), 2.7)]
)
def test_one_average_takes_little_more_than_its_numbers(kind: AccumulatorKind, argument: pa.DataType, most: float) -> None:
    state = captured(kind, argument)
    assert RAW * GROUPS < state.memory <= most * RAW * GROUPS


def test_nulls_take_memory_from_the_first_one_on() -> None:
    kind, argument = AccumulatorKind.AVERAGE_INTEGER, pa.int64()
    without, one = captured(kind, argument), captured(kind, argument, nulls=1)
    assert one.memory == without.memory + 8 * GROUPS
    delta = ProjectedRows((pa.array([7], pa.int32()),), (pa.array([None], argument),), np.array([1]))
    without.apply(delta)
    assert without.state.memory == one.state.memory
    assert without.snapshot()["aggregate_0_count"].to_pylist() == [10] * GROUPS
