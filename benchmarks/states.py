"""Operator states over random groups, made without Spark, for the workloads that measure the operators alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.values.aggregates import PARTS, AccumulatorKind, AggregateSpecification, ProjectedRows, ValueForm
from imp_driver.values.cuts import CutName

Values: TypeAlias = npt.NDArray[Any]

AVERAGE_DOUBLE = AggregateSpecification(AccumulatorKind.SUM_FLOAT, ValueForm.AVERAGE, pa.float64())
SUM_DOUBLE = AggregateSpecification(AccumulatorKind.SUM_FLOAT, ValueForm.TOTAL, pa.float64())
AVERAGE_BIGINT = AggregateSpecification(AccumulatorKind.AVERAGE_INTEGER, ValueForm.AVERAGE, pa.int64())
SUM_BIGINT = AggregateSpecification(AccumulatorKind.SUM_INTEGER, ValueForm.TOTAL, pa.int64())
COUNT_ROWS = AggregateSpecification(AccumulatorKind.COUNT_ROWS, ValueForm.TOTAL, None)
COUNT_DISTINCT = AggregateSpecification(AccumulatorKind.COUNT_DISTINCT, ValueForm.TOTAL, pa.int64())
MINIMUM_DOUBLE = AggregateSpecification(AccumulatorKind.MINIMUM, ValueForm.TOTAL, pa.float64())
MAXIMUM_DOUBLE = AggregateSpecification(AccumulatorKind.MAXIMUM, ValueForm.TOTAL, pa.float64())
FRAGMENTS = 10_000
KEY = CutName(FRAGMENTS, 0)


@dataclass(frozen=True, slots=True)
class Rows:
    """Unsigned rows: the group of each, and one array per aggregate (None for count(*))."""

    keys: Values
    arguments: tuple[Values | None, ...]

    def signed(self, deleted: Rows | None = None) -> ProjectedRows:
        """Return these rows as inserted ones, and others as deleted ones behind them."""
        parts = [self] if deleted is None else [self, deleted]
        arguments = tuple(
            None if argument is None else pa.array(np.concatenate([each.arguments[place] for each in parts]))
            for place, argument in enumerate(self.arguments)
        )
        weights = np.concatenate([np.full(len(each.keys), sign, dtype=np.int64) for each, sign in zip(parts, (1, -1), strict=False)])
        return ProjectedRows((pa.array(np.concatenate([each.keys for each in parts])),), arguments, weights)


def random_rows(chance: np.random.Generator, specifications: tuple[AggregateSpecification, ...], groups: int, count: int) -> Rows:
    """Return rows of groups drawn uniformly."""
    keys = chance.integers(0, groups, count).astype(np.int32)
    return Rows(keys, tuple(_values(chance, specification, count) for specification in specifications))


def make(chance: np.random.Generator, specifications: tuple[AggregateSpecification, ...], groups: int) -> CutGroups:
    """Return the state of ``groups`` groups of one row each, under an INT key that the ranges are over."""
    keys = pa.array(np.arange(groups, dtype=np.int32))
    ones = np.ones(groups, dtype=np.int64)
    parts = {}
    for place, specification in enumerate(specifications):
        values = _values(chance, specification, groups)
        for part in PARTS[specification.kind]:
            parts[place, part] = _part(part, values)
    state = GroupState.capture((keys,), pa.array(ones), parts, specifications, (pa.int32(),))
    return CutGroups(state, {KEY: KeyCut.equi_depth(state, 0, FRAGMENTS, "g")})


def _values(chance: np.random.Generator, specification: AggregateSpecification, count: int) -> Values | None:
    if specification.argument_type is None:
        return None
    return chance.normal(1_000, 50, count) if pa.types.is_floating(specification.argument_type) else chance.integers(0, 1_000, count)


def _part(part: str, values: Values | None) -> pa.Array:
    """Return one part of PARTS for groups of one row each."""
    assert values is not None
    size = len(values)
    match part:
        case "count":
            return pa.array(np.ones(size, dtype=np.int64))
        case "nonfinite":
            return pa.array(np.zeros(size, dtype=np.int64))
        case "magnitude":
            return pa.array(np.abs(values).astype(np.float64))
        case "sum":
            return pa.array(values)
    items = np.ones(size, dtype=np.int64) if part == "copies" else values
    return pa.ListArray.from_arrays(pa.array(np.arange(size + 1, dtype=np.int32)), pa.array(items))
