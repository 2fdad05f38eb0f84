"""One aggregate of rows that numbers put into groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.values.aggregates import AggregateSpecification, ProjectedRows
from imp_driver.values.codes import IntegerArray


def by_number(
    specification: AggregateSpecification, numbers: IntegerArray, argument: pa.Array | None, weights: IntegerArray
) -> tuple[GroupState, IntegerArray]:
    """Return groups under their numbers as keys, and the slots of those that have rows, by ascending numbers. Raises NotEvaluable.

    Args:
        weights: how often each row counts.
    """
    state = GroupState.empty((specification,), [pa.int64()])
    try:
        state.apply(ProjectedRows((pa.array(numbers),), (argument,), weights))
    except StateCorrupt as error:
        raise NotEvaluable("a sum of integers leaves 64 bits") from error
    slots = np.flatnonzero(state.alive)
    return state, slots[np.argsort(state.key_values(0, slots).to_numpy())]
