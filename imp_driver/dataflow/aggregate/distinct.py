"""count(DISTINCT argument): how often each value occurs in each group (IMP paper section 5.2.5).

Values are numbered as they appear, and a number is free again when no group holds its value. Exact at all times.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, StateCorrupt, Values, integers, resized
from imp_driver.dataflow.aggregate.index import SlotIndex
from imp_driver.dataflow.aggregate.keys import KeyColumn, chosen, grouped
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.pairs import PairCounts, TooFew, members_of, packed, slots_of
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.values.codes import Codec, IntegerArray

_COUNT_TYPE = pa.int64()


class DistinctCount:
    """Per slot the non-NULL arguments and the distinct ones; per number its value and in how many groups it occurs."""

    def __init__(self, missing: Missing, capacity: int, occurrences: PairCounts, values: KeyColumn, numbers: SlotIndex) -> None:
        self._missing = missing
        self._occurrences = occurrences
        self._values = values
        self._numbers = numbers
        slots, members, _ = occurrences.pairs()
        self._distinct = _tally(slots, capacity)
        self._groups = _tally(members, numbers.used)

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType) -> DistinctCount:
        """Raises StateCorrupt when a group's values repeat or do not add up to its count."""
        codec, counts = Codec(argument_type), integers(parts["count"])
        lists = parts["values"]
        sizes = integers(lists.value_lengths()) if len(lists) else np.zeros(0, dtype=np.int64)
        slots = np.repeat(np.arange(len(counts)), sizes)
        numbers, (values,) = grouped([codec], [lists.flatten()])
        copies = integers(parts["copies"].flatten())
        totals = np.zeros(len(counts), dtype=np.int64)
        if len(copies) == len(slots):
            np.add.at(totals, slots, copies)
        occurrences = PairCounts.of(slots, numbers, copies) if len(copies) == len(slots) else None
        if occurrences is None or np.any(values.nulls) or np.any(totals != counts):
            raise StateCorrupt("the captured values of a group do not add up to their count; the state must be captured again")
        return cls(Missing(counts, rows), len(rows), occurrences, KeyColumn(codec, values), SlotIndex((values,)))

    def grow(self, capacity: int) -> None:
        self._missing.grow(capacity)
        if capacity > len(self._distinct):
            self._distinct = resized(self._distinct, capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        assert argument is not None
        _, commit_missing = self._missing.prepare(change, argument, "values")
        valid = argument.is_valid().to_numpy(zero_copy_only=False)
        inverse, (values,) = grouped([self._values.codec], [argument.filter(pa.array(valid))])
        numbers = self._numbers.find((values,))
        fresh = np.flatnonzero(numbers < 0)
        numbers[fresh] = self._numbers.vacant(len(fresh))
        try:
            pairs = self._occurrences.prepare(change.slots[change.inverse][valid], numbers[inverse], change.weights[valid])
        except TooFew:
            message = "a delta deleted a value of a group more often than it was there; the state must be captured again"
            raise StateCorrupt(message) from None

        def commit() -> None:
            pairs.commit()
            commit_missing()
            np.add.at(self._distinct, slots_of(pairs.appeared), 1)
            np.subtract.at(self._distinct, slots_of(pairs.vanished), 1)
            added = chosen((values,), fresh)
            self._numbers.add(added, numbers[fresh])
            self._values.grow(self._numbers.used)
            self._values.put(numbers[fresh], added[0])
            self._groups = resized(self._groups, max(self._numbers.used, len(self._groups)))
            np.add.at(self._groups, members_of(pairs.appeared), 1)
            np.subtract.at(self._groups, members_of(pairs.vanished), 1)
            self._numbers.remove(chosen((values,), np.flatnonzero(self._groups[numbers] == 0)))

        return commit

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        exact = from_codes(_COUNT_TYPE, self._distinct[slots], np.zeros(len(rows), dtype=bool))
        return replace(exact, may_be_value=np.ones(len(rows), dtype=bool))

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        return Values(pa.array(self._distinct[slots]), np.ones(len(slots), dtype=bool))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        coarser = np.full(len(self._distinct), -1, dtype=np.int64)
        coarser[slots] = groups.numbers
        held, members, _ = self._occurrences.pairs()
        chosen_pairs = coarser[held] >= 0
        pairs = np.unique(packed(coarser[held][chosen_pairs], members[chosen_pairs]))
        return Values(pa.array(_tally(slots_of(pairs), groups.count)), np.ones(groups.count, dtype=bool))

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        """``slots`` must be all with a group, ascending: the pairs of others are not left out. The values of a group are sorted."""
        offsets = pa.array(np.concatenate(([0], np.cumsum(self._distinct[slots]))).astype(np.int32))
        held, members, counts = self._occurrences.pairs()
        values = self._values.take(members)
        order = np.argsort(values.codes, kind="stable")
        order = order[np.argsort(held[order], kind="stable")]
        return {
            "count": pa.array(self._missing.counts_at(slots, rows)),
            "values": pa.ListArray.from_arrays(offsets, self._values.codec.decode(values.codes[order], values.nulls[order])),
            "copies": pa.ListArray.from_arrays(offsets, pa.array(counts[order])),
        }

    @property
    def memory(self) -> int:
        arrays = self._missing.memory + int(self._distinct.nbytes + self._groups.nbytes)
        return arrays + self._occurrences.memory + self._values.memory + self._numbers.memory

    def inexact(self, rows: IntegerArray) -> int:
        return 0


def _tally(numbers: IntegerArray, capacity: int) -> IntegerArray:
    return np.bincount(numbers, minlength=capacity).astype(np.int64)
