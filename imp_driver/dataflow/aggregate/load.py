"""Captured parts of one aggregate -> its accumulator, and the parts of one that has seen no rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Accumulator, Parts, StateCorrupt, integers
from imp_driver.dataflow.aggregate.bits import Bits
from imp_driver.dataflow.aggregate.counts import Count
from imp_driver.dataflow.aggregate.decimals import DecimalSum
from imp_driver.dataflow.aggregate.distinct import DistinctCount
from imp_driver.dataflow.aggregate.distinct_sums import DistinctSum
from imp_driver.dataflow.aggregate.exact_floats import ExactFloatSum
from imp_driver.dataflow.aggregate.extrema import Extremum
from imp_driver.dataflow.aggregate.floats import FloatSum
from imp_driver.dataflow.aggregate.integers import IntegerSum
from imp_driver.dataflow.aggregate.percentiles import Percentile
from imp_driver.dataflow.aggregate.truth_counts import TruthCount
from imp_driver.dataflow.aggregate.variances import Variance, scale_of
from imp_driver.values import float_grids
from imp_driver.values.aggregates import OF_MULTISETS, PARTS, AccumulatorKind, AggregateSpecification, ValueForm
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
        case AccumulatorKind.SUM_INTEGER | AccumulatorKind.SUM_LONG | AccumulatorKind.AVERAGE_INTEGER:
            return IntegerSum.load(parts, rows, average=average)
        case AccumulatorKind.SUM_DECIMAL | AccumulatorKind.SUM_WIDE_DECIMAL:
            return DecimalSum.load(parts, rows, argument_type, average=average)
        case AccumulatorKind.SUM_FLOAT:
            return FloatSum.load(parts, rows, average=average)
        case AccumulatorKind.SUM_FLOAT_EXACT:
            return ExactFloatSum.load(parts, rows, average=average)
        case AccumulatorKind.BOOLEAN_AND | AccumulatorKind.BOOLEAN_OR:
            return TruthCount.load(parts, rows, needs_all=specification.kind is AccumulatorKind.BOOLEAN_AND)
        case AccumulatorKind.VARIANCE:
            return Variance.load(parts, rows, argument_type, specification.form)
        case _ if specification.kind in OF_MULTISETS:
            return _of_multiset(specification, parts, rows)
        case _:
            return Extremum.load(parts, rows, argument_type, maximum=specification.kind is AccumulatorKind.MAXIMUM)


def _of_multiset(specification: AggregateSpecification, parts: Parts, rows: IntegerArray) -> Accumulator:
    argument_type = specification.argument_type
    match specification.kind:
        case AccumulatorKind.COUNT_DISTINCT:
            return DistinctCount.load(parts, rows, argument_type)
        case AccumulatorKind.SUM_DISTINCT:
            return DistinctSum.load(parts, rows, argument_type, average=specification.form is ValueForm.AVERAGE)
        case AccumulatorKind.PERCENTILE:
            assert specification.share is not None
            return Percentile.load(parts, rows, argument_type, specification.share)
        case _:
            return Bits.load(parts, rows, argument_type, specification.kind)


def no_parts(specification: AggregateSpecification) -> Parts:
    """Return what ``loaded`` takes for no groups at all."""
    argument, kind = specification.argument_type, specification.kind
    types = {"count": pa.int64(), "magnitude": pa.float64(), "nonfinite": pa.int64(), "sum": pa.int64(), "copies": pa.list_(pa.int64())}
    types["true"] = pa.int64()
    if kind in (AccumulatorKind.SUM_FLOAT, AccumulatorKind.SUM_FLOAT_EXACT):
        types |= {"sum": pa.float64(), "small": pa.int64(), "below": pa.int64(), "rest": pa.float64()}
        types |= {f"part_{place}": pa.float64() for place in range(float_grids.PARTS)}
    elif argument is not None:
        types["buffer"] = types["values"] = pa.list_(argument)
        if kind in (AccumulatorKind.SUM_DECIMAL, AccumulatorKind.SUM_WIDE_DECIMAL, AccumulatorKind.VARIANCE):
            types["sum"], types["squares"] = (pa.decimal128(38, times * scale_of(argument)) for times in (1, 2))
    return {part: pa.array([], types[part]) for part in PARTS[kind]}
