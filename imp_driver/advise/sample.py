"""A stratified sample of a block's groups: its SQL, and what the groups may be, given the sample (sketch-safety rules 4, item 4).

Two phases: every row of the table with one probability (TABLESAMPLE), then at most DRAWN_ROWS rows of each group. Spark returns the moments
of what was drawn, one row per group; counts and sums are scaled up per group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.advise.estimate import Shares, Unseen, shares
from imp_driver.capture.capture import column
from imp_driver.dataflow.bounds.interval import Family, Interval, from_codes
from imp_driver.maintain.derive import retained_groups
from imp_driver.plan.bind import BoundBlock
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm
from imp_driver.values.codes import BooleanArray, Codec, FloatArray
from imp_driver.values.quoting import qualified
from imp_driver.values.tables import at_version

SAMPLED_ROWS = 1_000_000
"""Rows that TABLESAMPLE takes of larger tables; smaller ones are taken whole."""
DRAWN_ROWS = 64
"""Rows drawn of each group: means are then known to an eighth of a standard deviation."""
DRAWS = 24
"""Cases in which the conditions are evaluated; the standard error of a share is at most 0.5 / sqrt(DRAWS)."""
_SEED = 7
_OF_SAMPLE = {
    AccumulatorKind.MINIMUM: "min",
    AccumulatorKind.MAXIMUM: "max",
    AccumulatorKind.COUNT_DISTINCT: "collect_set",
    AccumulatorKind.BIT_AND: "bit_and",
    AccumulatorKind.BIT_OR: "bit_or",
    AccumulatorKind.BIT_XOR: "bit_xor",
    AccumulatorKind.BOOLEAN_AND: "bool_and",
    AccumulatorKind.BOOLEAN_OR: "bool_or",
    AccumulatorKind.PERCENTILE: "median",
    AccumulatorKind.VARIANCE: "var_pop",
}
"""Aggregates that are taken to be those of all sampled rows, and the function that finds them, or one like it."""
_RESULTS = {
    AccumulatorKind.COUNT_DISTINCT: pa.int64(),
    AccumulatorKind.PERCENTILE: pa.float64(),
    AccumulatorKind.VARIANCE: pa.float64(),
}
"""Types of those whose type is not their argument's."""
_COUNTS = (AccumulatorKind.COUNT_ROWS, AccumulatorKind.COUNT)


def fraction_for(row_count: int | None) -> float:
    """Return the probability with which TABLESAMPLE takes a row of a table of so many rows; 1 where the number is unknown."""
    return 1.0 if row_count is None else min(1.0, SAMPLED_ROWS / max(row_count, 1))


def sample_sql(block: BoundBlock, table: tuple[str, ...], version: int, fraction: float) -> str:
    """Return the query of the sample, one row per group.

    Columns: ``key_{i}``; ``sampled``, rows of the group that TABLESAMPLE took; ``drawn`` of these, ``matching`` of these by WHERE; for each
    aggregate with an argument ``aggregate_{i}_count``, ``_mean`` and ``_variance`` (of the non-NULL matching drawn arguments), or for a
    minimum, maximum or count of distinct values ``_sampled``, that of all sampled ones.
    """
    keys = [f"key_{index}" for index in range(len(block.keys_sql))]
    inner = [f"{sql} AS {name}" for name, sql in zip(keys, block.keys_sql, strict=True)]
    inner.append(f"coalesce({block.where_sql}, false) AS matches" if block.where_sql else "true AS matches")
    outer = ["max(sampled) AS sampled", "count(*) AS drawn", "count_if(matches) AS matching"]
    windows = [f"count(*) OVER (PARTITION BY {', '.join(keys)}) AS sampled"]
    windows.append(f"row_number() OVER (PARTITION BY {', '.join(keys)} ORDER BY chance) AS place")
    for index, aggregate in enumerate(block.aggregates):
        if aggregate.argument_sql is None:
            continue
        name, kind = f"aggregate_{index}", aggregate.specification.kind
        inner.append(f"{aggregate.argument_sql} AS argument_{index}")
        argument = f"if(matches, argument_{index}, NULL)"
        if kind in _OF_SAMPLE:
            function = aggregate.specification.form.value if kind is AccumulatorKind.VARIANCE else _OF_SAMPLE[kind]
            over = f"{function}({argument}) OVER (PARTITION BY {', '.join(keys)})"
            windows.append(f"{f'size({over})' if kind is AccumulatorKind.COUNT_DISTINCT else over} AS {name}_sampled")
            outer.append(f"max({name}_sampled) AS {name}_sampled")
            continue
        outer.append(f"count({argument}) AS {name}_count")
        if kind is not AccumulatorKind.COUNT:
            outer += [f"{one}(CAST({argument} AS DOUBLE)) AS {name}_{part}" for one, part in (("avg", "mean"), ("var_pop", "variance"))]
    sampling = "" if fraction >= 1 else f" TABLESAMPLE ({100 * fraction:.8f} PERCENT) REPEATABLE ({_SEED})"
    rows = f"SELECT {', '.join(inner)}, rand({_SEED}) AS chance FROM {at_version(qualified(table), version)}{sampling}"
    placed = f"SELECT *, {', '.join(windows)} FROM ({rows})"
    return f"SELECT {', '.join([*keys, *outer])} FROM ({placed}) WHERE place <= {DRAWN_ROWS} GROUP BY {', '.join(keys)}"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What the query of ``sample_sql`` returned: one entry per group. ``keys`` have the types of the table's columns."""

    keys: tuple[pa.Array, ...]
    specifications: tuple[AggregateSpecification, ...]
    columns: pa.Table
    fraction: float

    def numbers(self, name: str) -> FloatArray:
        """Return a column as doubles, 0 where NULL."""
        return np.asarray(column(self.columns, name).cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False), dtype=np.float64)

    @property
    def rows(self) -> FloatArray:
        """Estimated rows of the table per group, whether they pass WHERE or not."""
        return self.numbers("sampled") / self.fraction

    def total(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Scale the mean and the variance (divisor: drawn rows) of one number per drawn row up to the group.

        Returns:
            the estimated sum over the group's rows and its variance: that of drawing some of the sampled rows without replacement, and that
            of sampling (Horvitz-Thompson for independent rows).
        """
        sampled, drawn, share = self.numbers("sampled"), self.numbers("drawn"), self.fraction
        spread = variance * drawn / np.maximum(drawn - 1, 1)
        second = (sampled / share) ** 2 * spread / drawn * (1 - drawn / sampled)
        first = (1 - share) / share**2 * sampled * (variance + mean**2)
        return sampled / share * mean, second + first

    def proportion(self, part: str) -> tuple[FloatArray, FloatArray]:
        """Return the estimated number of rows behind a count of drawn rows, and its variance."""
        mean = self.numbers(part) / self.numbers("drawn")
        return self.total(mean, mean * (1 - mean))

    def sum(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return the estimated sum of an argument and its variance; rows that are NULL or do not match count as 0."""
        present = self.numbers(f"{name}_count") / self.numbers("drawn")
        mean, variance = self.numbers(f"{name}_mean"), self.numbers(f"{name}_variance")
        return self.total(present * mean, present * (variance + mean**2) - (present * mean) ** 2)

    def average(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return the estimated average of an argument and its variance, by linearisation of the ratio."""
        present = self.numbers(f"{name}_count") / self.numbers("drawn")
        rows = np.maximum(self.rows * present, 1.0)
        _, spread = self.total(np.zeros_like(present), present * self.numbers(f"{name}_variance"))
        return self.numbers(f"{name}_mean"), spread / rows**2

    def unseen_groups(self) -> float:
        """Return how many groups TABLESAMPLE missed, from those it met once and twice (Chao)."""
        sampled = self.numbers("sampled")
        once, twice = int(np.count_nonzero(sampled == 1)), int(np.count_nonzero(sampled == 2))
        return 0.0 if self.fraction >= 1 else once * max(once - 1, 0) / (2 * (twice + 1))


class DrawnGroups:
    """One case of what the groups of a sample may be: every count, sum and average drawn from its normal approximation.

    Minima, maxima and counts of distinct values are taken to be those of the sample.
    """

    def __init__(self, sample: Sample, chance: np.random.Generator) -> None:
        self._sample = sample
        matching, variance = sample.proportion("matching")
        self._matching = np.where(variance > 0, np.rint(chance.normal(matching, np.sqrt(variance))), np.rint(matching))
        self._aggregates = [self._drawn(index, each, chance) for index, each in enumerate(sample.specifications)]

    @property
    def alive(self) -> BooleanArray:
        # A group of which a matching row was seen exists, whatever was drawn for its size.
        result: BooleanArray = (self._matching > 0) | (self._sample.numbers("matching") > 0)
        return result

    def key_interval(self, index: int) -> Interval:
        return _exact(self._sample.keys[index])

    def aggregate_interval(self, index: int) -> Interval:
        return self._aggregates[index]

    def _drawn(self, index: int, specification: AggregateSpecification, chance: np.random.Generator) -> Interval:
        name, sample = f"aggregate_{index}", self._sample
        if specification.kind in _OF_SAMPLE:
            kind = _RESULTS.get(specification.kind, specification.argument_type)
            return _exact(column(sample.columns, f"{name}_sampled").cast(kind))
        if specification.kind is AccumulatorKind.COUNT_ROWS:
            return _numbers(np.maximum(self._matching, 1.0), np.zeros(len(self._matching), dtype=bool))
        if specification.kind is AccumulatorKind.COUNT:
            mean, variance = sample.proportion(f"{name}_count")
        elif specification.form is ValueForm.AVERAGE:
            mean, variance = sample.average(name)
        else:
            mean, variance = sample.sum(name)
        values = np.where(variance > 0, chance.normal(mean, np.sqrt(np.maximum(variance, 0.0))), mean)
        if specification.kind in _COUNTS:
            return _numbers(np.maximum(np.rint(values), 0.0), np.zeros(len(values), dtype=bool))
        return _numbers(values, sample.numbers(f"{name}_count") == 0)


def estimated_shares(sample: Sample, block: BoundBlock, indexes: tuple[int, ...]) -> dict[int, Shares]:
    """Return the expected shares for each of some keys, by index; reproducible."""
    chance = np.random.default_rng(_SEED)
    is_exact = sample.fraction >= 1 and bool(np.all(sample.numbers("drawn") == sample.numbers("sampled")))
    draws = [retained_groups(DrawnGroups(sample, chance), block) for _ in range(1 if is_exact else DRAWS)]
    single = sample.numbers("sampled") == 1
    unseen = Unseen(sample.unseen_groups(), float(np.mean([passes[single].mean() for passes in draws])) if single.any() else 0.0)
    return {index: shares(sample.keys[index], sample.rows, draws, unseen) for index in indexes}


def _exact(values: pa.Array) -> Interval:
    codes, nulls = Codec(values.type).encode(values)
    return from_codes(values.type, codes, nulls)


def _numbers(values: FloatArray, nulls: BooleanArray) -> Interval:
    return Interval(Family.NUMBER, values, values, nulls, ~nulls)
