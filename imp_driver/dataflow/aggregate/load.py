"""Captured parts of one aggregate -> its accumulator."""

from __future__ import annotations

import numpy as np

from imp_driver.dataflow.aggregate.accumulator import Accumulator, Parts, StateCorrupt, integers
from imp_driver.dataflow.aggregate.counts import Count
from imp_driver.dataflow.aggregate.decimals import DecimalSum
from imp_driver.dataflow.aggregate.distinct import DistinctCount
from imp_driver.dataflow.aggregate.extrema import Extremum
from imp_driver.dataflow.aggregate.floats import FloatSum
from imp_driver.dataflow.aggregate.integers import IntegerSum
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm
from imp_driver.values.codes import IntegerArray


def loaded(specification: AggregateSpecification, parts: Parts, rows: IntegerArray) -> Accumulator:
    """Raises StateCorrupt when a part contradicts the rows of its group."""
    average = specification.form is ValueForm.AVERAGE
    if specification.kind is AccumulatorKind.COUNT_ROWS:
        return Count(None)
    if np.any(integers(parts["count"]) > rows):
        raise StateCorrupt("a captured count exceeds the rows of its group; the state must be captured again")
    argument_type = specification.argument_type
    match specification.kind:
        case AccumulatorKind.COUNT:
            return Count.load(parts, rows)
        case AccumulatorKind.SUM_INTEGER | AccumulatorKind.AVERAGE_INTEGER:
            return IntegerSum.load(parts, rows, average=average)
        case AccumulatorKind.SUM_DECIMAL:
            return DecimalSum.load(parts, rows, argument_type, average=average)
        case AccumulatorKind.SUM_FLOAT:
            return FloatSum.load(parts, rows, average=average)
        case AccumulatorKind.COUNT_DISTINCT:
            return DistinctCount.load(parts, rows, argument_type)
        case _:
            return Extremum.load(parts, rows, argument_type, maximum=specification.kind is AccumulatorKind.MAXIMUM)
