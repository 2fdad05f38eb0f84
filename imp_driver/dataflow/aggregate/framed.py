"""Aggregates of runs of groups that stand in an order: differences of running sums of what accumulators hold, and running extremes.

A correlated aggregate with an inequality is one of a prefix or a suffix of the groups by what is compared (RPAI paper, section 2.2): of n
groups and m questions all are answered in O(n + m), after they were put in order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Accumulator, Parts, Values, floats, integers
from imp_driver.dataflow.aggregate.double_sums import SLACK, UNIT_ROUNDOFF
from imp_driver.dataflow.aggregate.exact_sums import MOST_VALUES
from imp_driver.dataflow.aggregate.limbs import carried, limbs_of
from imp_driver.dataflow.aggregate.load import loaded
from imp_driver.dataflow.aggregate.wide_sums import WideSums
from imp_driver.dataflow.bounds.interval import EXACT_LIMIT
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification
from imp_driver.values.codes import BooleanArray, Codec, FloatArray, IntegerArray

_ADDED = frozenset(
    {
        *(AccumulatorKind.COUNT_ROWS, AccumulatorKind.COUNT, AccumulatorKind.BOOLEAN_AND, AccumulatorKind.BOOLEAN_OR),
        *(AccumulatorKind.SUM_INTEGER, AccumulatorKind.SUM_LONG, AccumulatorKind.AVERAGE_INTEGER),
        *(AccumulatorKind.SUM_DECIMAL, AccumulatorKind.SUM_WIDE_DECIMAL, AccumulatorKind.SUM_FLOAT_EXACT),
    }
)
_EXTREMES = (AccumulatorKind.MINIMUM, AccumulatorKind.MAXIMUM)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Per question the groups from ``start`` to ``end``, which is not included; none where that comes first.

    Attributes:
        partition_start, partition_end: per group, those of the partition in which it stands.
        from_first, to_last: whether every run begins, or ends, where a partition does.
    """

    start: IntegerArray
    end: IntegerArray
    partition_start: IntegerArray
    partition_end: IntegerArray
    from_first: bool
    to_last: bool

    def widened(self, sizes: IntegerArray) -> Runs:
        """Return the same runs where each group is so many that stand side by side."""
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
        return Runs(
            start=offsets[self.start],
            end=offsets[np.maximum(self.end, self.start)],
            partition_start=np.repeat(offsets[self.partition_start], sizes),
            partition_end=np.repeat(offsets[self.partition_end], sizes),
            from_first=self.from_first,
            to_last=self.to_last,
        )

    def between(self, values: IntegerArray) -> IntegerArray:
        """Sum int64 values of each run, modulo 2**64."""
        running = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(values)))
        return running[np.maximum(self.end, self.start)] - running[self.start]

    def float_between(self, values: FloatArray) -> FloatArray:
        """Sum doubles of each run, where no sum of some of them is rounded."""
        running = np.concatenate((np.zeros(1), np.cumsum(values)))
        return running[np.maximum(self.end, self.start)] - running[self.start]


def is_framed(specification: AggregateSpecification, runs: Runs) -> bool:
    """Say whether an aggregate of such runs is computed here."""
    return specification.kind in _ADDED or (specification.kind in _EXTREMES and (runs.from_first or runs.to_last))


def framed(specification: AggregateSpecification, parts: Parts, rows: IntegerArray, runs: Runs) -> Values:
    """Return an aggregate of each run, from the parts of each group, in their order. Raises NotEvaluable."""
    if specification.kind in _EXTREMES:
        return _extremes(specification, loaded(specification, parts, rows), rows, runs)
    if specification.kind is AccumulatorKind.SUM_FLOAT_EXACT and int(rows.sum()) >= MOST_VALUES:
        raise NotEvaluable("running sums of so many doubles")
    together = runs.between(rows)
    found: Parts = {}
    for name, part in parts.items():
        if pa.types.is_decimal(part.type):
            found[name] = _decimals(part, integers(parts["count"]), runs)
        elif pa.types.is_integer(part.type):
            found[name] = pa.array(runs.between(integers(part)))
        elif name.startswith("part_"):
            # They lie on grids so coarse that no sum of them is rounded (dataflow/aggregate/exact_sums.py).
            found[name] = pa.array(runs.float_between(floats(part)))
        elif not name.endswith("error"):
            errors = parts.get(f"{name}_error" if name != "sum" else "error")
            found[name], found[f"{name}_error" if name != "sum" else "error"] = _bounded(part, errors, runs)
    return loaded(specification, found, together).values(together, np.arange(len(together)))


def _decimals(part: pa.Array, counts: IntegerArray, runs: Runs) -> pa.Array:
    """Sum decimals; NULL where one of a group with values is, which has overflowed."""
    limbs = carried(np.stack([runs.between(limb) for limb in limbs_of(part)]))
    lost = (counts > 0) & part.is_null().to_numpy(zero_copy_only=False)
    nulls: BooleanArray = runs.between(lost.astype(np.int64)) > 0
    sums = WideSums(limbs).integers(slice(None))
    if sums.dtype == object:
        nulls |= (np.abs(sums) >= 10**part.type.precision).astype(bool)
    sums[nulls] = 0
    return Codec(part.type).decode(sums, nulls)


def _bounded(part: pa.Array, errors: pa.Array | None, runs: Runs) -> tuple[pa.Array, pa.Array]:
    """Sum doubles that are rounded, with a bound for each sum: of what was known of each, and of all additions of two running sums."""
    values, own = floats(part), np.zeros(len(part)) if errors is None else floats(errors)
    with np.errstate(all="ignore"):
        sums, absolute = runs.float_between(values), float(np.abs(values).sum())
        is_exact = not own.any() and absolute < EXACT_LIMIT and bool(np.all(values == np.trunc(values)))
        if is_exact or not absolute:
            bound = np.zeros(len(sums)) if not own.any() else np.full(len(sums), float(own.sum()) * SLACK)
        else:
            bound = np.full(len(sums), (float(own.sum()) + 2 * (len(values) + 1) * UNIT_ROUNDOFF * absolute) * SLACK)
    empty = runs.end <= runs.start
    return pa.array(np.where(empty, 0.0, sums)), pa.array(np.where(empty, 0.0, bound))


def _extremes(specification: AggregateSpecification, held: Accumulator, rows: IntegerArray, runs: Runs) -> Values:
    found = held.values(rows, np.arange(len(rows)))
    if not found.exact.all():
        raise NotEvaluable("an extreme of groups of which one is not known")
    codec, is_least = Codec(found.array.type), specification.kind is AccumulatorKind.MINIMUM
    codes, nulls = codec.encode(found.array)
    distinct, own = np.unique(codes, return_inverse=True)
    count = len(distinct) + 1
    # 0 stands for NULL, and the greatest number is the one that is looked for.
    numbers = np.where(nulls, 0, count - 1 - own if is_least else own + 1)
    empty = runs.end <= runs.start
    last = max(len(rows) - 1, 0)
    if not len(rows):
        best = np.zeros(len(empty), dtype=np.int64)
    elif runs.from_first:
        offsets = runs.partition_start * count
        running = np.maximum.accumulate(numbers + offsets) - offsets
        best = running[np.clip(runs.end - 1, 0, last)]
    else:
        offsets = (len(rows) - runs.partition_end) * count
        running = np.maximum.accumulate((numbers + offsets)[::-1])[::-1] - offsets
        best = running[np.clip(runs.start, 0, last)]
    none = empty | (best <= 0)
    chosen = np.where(none, 0, count - 1 - best if is_least else best - 1)
    array = codec.decode(distinct[chosen] if len(distinct) else codes[:0], none) if len(distinct) else pa.nulls(len(none), codec.type)
    return Values(array, np.ones(len(none), dtype=bool))
