"""What capture, delta and the operators agree on: kinds of accumulators, their captured parts, and projected signed rows.

Source: IMP paper sections 5.1, 5.2.5, 5.2.6 and 6.2. Sizes are rows; weights are +1 per inserted and -1 per deleted row, or sums of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.values.cuts import CutName
from imp_driver.values.expressions import Expression

DIGITS_OF_DOUBLES = 11
"""Decimals of at most so many digits Spark averages with doubles, which have the four digits more of an average for certain."""
BUFFER_SIZE = 16
"""How many of the smallest (largest) values of a group are kept for min (max); IMP paper section 6.2, top-l."""


class AccumulatorKind(Enum):
    """One kind of maintained state of an aggregate; PARTS names the columns in which capture delivers it."""

    COUNT_ROWS = "count(*)"
    COUNT = "count of non-NULL arguments"
    SUM_INTEGER = "sum of integers"
    SUM_LONG = "sum of integers of 64 bits, of which few may leave these"
    AVERAGE_INTEGER = "average of integers"
    SUM_DECIMAL = "sum or average of decimals"
    SUM_WIDE_DECIMAL = "sum of decimals of so many digits that few may leave 38, or average of few digits"
    SUM_FLOAT = "sum or average of floats"
    SUM_FLOAT_EXACT = "sum or average of floats, rounded once"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    COUNT_DISTINCT = "count of distinct arguments"
    SUM_DISTINCT = "sum or average of distinct arguments"
    PERCENTILE = "value at a share of the arguments in order"
    BIT_AND = "bits of all integers"
    BIT_OR = "bits of any integer"
    BIT_XOR = "bits of an odd number of integers"
    BOOLEAN_AND = "whether all conditions hold"
    BOOLEAN_OR = "whether any condition holds"
    VARIANCE = "variance or standard deviation"


OF_MULTISETS = frozenset(
    {
        AccumulatorKind.COUNT_DISTINCT,
        AccumulatorKind.SUM_DISTINCT,
        AccumulatorKind.PERCENTILE,
        AccumulatorKind.BIT_AND,
        AccumulatorKind.BIT_OR,
        AccumulatorKind.BIT_XOR,
    }
)
"""Kinds whose state is how often each value occurs in each group; a query of their own captures it."""

PARTS: dict[AccumulatorKind, tuple[str, ...]] = {
    AccumulatorKind.COUNT_ROWS: (),
    AccumulatorKind.COUNT: ("count",),
    AccumulatorKind.SUM_INTEGER: ("count", "sum"),
    AccumulatorKind.SUM_LONG: ("count", "sum", "magnitude"),
    AccumulatorKind.AVERAGE_INTEGER: ("count", "sum", "magnitude"),
    AccumulatorKind.SUM_DECIMAL: ("count", "sum"),
    AccumulatorKind.SUM_WIDE_DECIMAL: ("count", "sum", "magnitude"),
    AccumulatorKind.SUM_FLOAT: ("count", "sum", "magnitude", "nonfinite"),
    AccumulatorKind.SUM_FLOAT_EXACT: (
        *("count", "sum", "magnitude", "nonfinite", "small", "below"),
        *("part_0", "part_1", "part_2", "part_3", "part_4", "rest"),
    ),
    AccumulatorKind.MINIMUM: ("count", "buffer"),
    AccumulatorKind.MAXIMUM: ("count", "buffer"),
    **dict.fromkeys(sorted(OF_MULTISETS, key=lambda kind: kind.name), ("count", "values", "copies")),
    AccumulatorKind.BOOLEAN_AND: ("count", "true"),
    AccumulatorKind.BOOLEAN_OR: ("count", "true"),
    AccumulatorKind.VARIANCE: ("count", "sum", "squares"),
}
"""Parts of the capture result per aggregate i, in columns named ``aggregate_{i}_{part}``.

count: non-NULL arguments (int64). sum: integers (int64, wraps modulo 2**64 like Spark without ANSI), decimals (decimal128(38, s), NULL
where it overflowed) or the finite doubles (float64, NULL where there are none). magnitude: sum of absolute (finite) values (float64, may
be NULL where count is 0), which bounds the rounding error, and every partial sum, of any order of summation. nonfinite: arguments that are
NaN or infinite (int64).
small, part_0 .. part_4, rest: how many values are split into parts, and the sums of these (dataflow/aggregate/exact_sums.py; float64).
Where no value is too large to be split, small and sum may be left out: they follow from the others.
below: how many values have anything left for the rest (int64).
buffer: list of at most BUFFER_SIZE smallest (largest) non-NULL values with duplicates, in any order; NULL or empty where count is 0.
values: list of the distinct non-NULL values, in any order. copies: list of how often each of them occurs (int64).
true: arguments that are TRUE (int64). squares: sum of the squares (decimal128(38, 2 s), NULL where it overflowed or count is 0).
The sum of a VARIANCE is a decimal, of integers too.
"""


class ValueForm(Enum):
    """How an aggregate's value is derived from its accumulator."""

    TOTAL = "the accumulator's own value: count, sum, minimum or maximum"
    AVERAGE = "sum / count"
    POPULATION_VARIANCE = "var_pop"
    SAMPLE_VARIANCE = "var_samp"
    POPULATION_DEVIATION = "stddev_pop"
    SAMPLE_DEVIATION = "stddev_samp"


@dataclass(frozen=True, slots=True)
class Share:
    """Which of some ordered values is asked for: the ``value``, between 0 and 1, as a part of their number."""

    value: float
    is_interpolated: bool = True
    is_descending: bool = False


@dataclass(frozen=True, slots=True)
class AggregateSpecification:
    """One aggregate of a block.

    ``argument_type`` is the Arrow type of the argument column in ProjectedRows (None for count(*)); ``share`` belongs to a PERCENTILE.
    """

    kind: AccumulatorKind
    form: ValueForm
    argument_type: pa.DataType | None
    share: Share | None = None

    @property
    def is_rounded(self) -> bool:
        """Whether values are the correctly rounded ones, from which Spark's own may differ."""
        is_distinct = self.kind is AccumulatorKind.SUM_DISTINCT and pa.types.is_floating(self.argument_type)
        return is_distinct or self.kind in (AccumulatorKind.SUM_FLOAT_EXACT, AccumulatorKind.VARIANCE)


@dataclass(frozen=True, slots=True)
class ProjectedRows:
    """Signed rows after selection and projection: one array per group key, one per aggregate (None for count(*)), and int64 weights.

    ``fragments`` is the fragment of each row in the attributes that are cut and no group keys.
    """

    keys: tuple[pa.Array, ...]
    arguments: tuple[pa.Array | None, ...]
    weights: npt.NDArray[np.int64]
    fragments: Mapping[CutName, npt.NDArray[np.int32]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of ORDER BY above the groups; the expression refers to group keys and aggregates of the block."""

    expression: Expression
    descending: bool
    nulls_first: bool
