"""sum(DISTINCT argument) and avg(DISTINCT argument): the sum of those values of a multiset that occur.

A value that appears in a group is added once and taken away when its last copy is gone; adding is that of the same sum without DISTINCT
(integers.py, decimals.py, exact_floats.py), so types, overflow and rounding are too.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, Values
from imp_driver.dataflow.aggregate.decimals import DecimalSum
from imp_driver.dataflow.aggregate.exact_floats import ExactFloatSum
from imp_driver.dataflow.aggregate.integers import IntegerSum
from imp_driver.dataflow.aggregate.multiset import Multiset, Occurrences
from imp_driver.dataflow.aggregate.pairs import slots_of
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval
from imp_driver.values.codes import CodeArray, Codec, IntegerArray
from imp_driver.values.float_grids import PARTS

Sum: TypeAlias = IntegerSum | DecimalSum | ExactFloatSum


class DistinctSum:
    """The values of each group, and the sum of the different ones."""

    def __init__(self, held: Multiset, added: Sum, *, average: bool) -> None:
        self._held = held
        self._sum = added
        self._average = average

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType, *, average: bool) -> DistinctSum:
        """Raises StateCorrupt when a group's values repeat or do not add up to its count."""
        held = Multiset.load(parts, rows, argument_type)
        return cls(held, _sum_of(held.occurrences(np.arange(len(rows))), held.codec, average=average), average=average)

    def grow(self, capacity: int) -> None:
        self._held.grow(capacity)
        self._sum.grow(capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        found = self._held.prepare(change, argument)
        pairs = np.concatenate((found.appeared, found.vanished))
        slots, places = np.unique(slots_of(pairs), return_inverse=True)
        weights = np.repeat(np.array([1, -1], dtype=np.int64), [len(found.appeared), len(found.vanished)])
        rows = np.zeros(len(slots), dtype=np.int64)
        np.add.at(rows, places, weights)
        values = _decoded(self._held.codec, found.codes_at(pairs & 0xFFFF_FFFF))
        remaining = self._held.distinct_at(slots) + rows
        commit_sum = self._sum.prepare(GroupChange(slots, places, weights, rows, remaining, signs_only=True), values)

        def commit() -> None:
            found.commit()
            commit_sum()

        return commit

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        return self._sum.interval(self._held.distinct_at(slots), slots)

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        return self._sum.values(self._held.distinct_at(slots), slots)

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        found = self._held.occurrences(slots, groups)
        return _sum_of(found, self._held.codec, average=self._average).values(found.counts, groups.places)

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        return self._held.parts(slots, rows)

    @property
    def memory(self) -> int:
        return self._held.memory + self._sum.memory

    def inexact(self, rows: IntegerArray) -> int:
        return self._sum.inexact(self._held.distinct_at(slice(len(rows))))


def _sum_of(found: Occurrences, codec: Codec, *, average: bool) -> Sum:
    """Return the sums of the values of each group, each taken once."""
    counts, values = found.counts, _decoded(codec, found.codes)
    if pa.types.is_integer(codec.type):
        return _integers(found, counts, average=average)
    empty = _no_decimals(codec.type, average=average) if pa.types.is_decimal(codec.type) else _no_floats(average=average)
    empty.grow(found.groups)
    slots, places = np.unique(found.places, return_inverse=True)
    weights = np.ones(len(found.places), dtype=np.int64)
    empty.prepare(GroupChange(slots, places, weights, counts[slots], counts[slots], signs_only=True), values)()
    return empty


def _integers(found: Occurrences, counts: IntegerArray, *, average: bool) -> IntegerSum:
    """A sum may have left 64 bits, as Spark's own may that is captured."""
    sums = np.zeros(found.groups, dtype=np.int64)
    np.add.at(sums, found.places, found.codes)
    magnitude = np.bincount(found.places, weights=np.abs(found.codes.astype(np.float64)), minlength=found.groups)
    parts = {"count": pa.array(counts), "sum": pa.array(sums), "magnitude": pa.array(magnitude.astype(np.float64))}
    return IntegerSum.load(parts, counts, average=average)


def _no_decimals(argument_type: pa.DataType, *, average: bool) -> DecimalSum:
    none = pa.array([], pa.int64())
    parts = {"count": none, "sum": pa.array([], pa.decimal128(38, argument_type.scale)), "magnitude": pa.array([], pa.float64())}
    return DecimalSum.load(parts, np.zeros(0, dtype=np.int64), argument_type, average=average)


def _no_floats(*, average: bool) -> ExactFloatSum:
    none, number = pa.array([], pa.int64()), pa.array([], pa.float64())
    parts = {"count": none, "nonfinite": none, "small": none, "below": none, "sum": number, "magnitude": number, "rest": number}
    parts |= {f"part_{place}": number for place in range(PARTS)}
    return ExactFloatSum.load(parts, np.zeros(0, dtype=np.int64), average=average)


def _decoded(codec: Codec, codes: CodeArray) -> pa.Array:
    return codec.decode(codes, np.zeros(len(codes), dtype=bool))
