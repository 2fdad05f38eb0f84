"""How often each value occurs in each group (IMP paper section 5.2.5): what aggregates of distinct or ordered values are made from.

Values are numbered as they appear, and a number is free again when no group holds its value. Exact at all times; 0.0 stands for -0.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, StateCorrupt, integers, resized
from imp_driver.dataflow.aggregate.index import SlotIndex
from imp_driver.dataflow.aggregate.keys import KeyColumn, KeyValues, chosen, grouped
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.pairs import PairChange, PairCounts, TooFew, members_of, packed, slots_of
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.values.codes import CodeArray, Codec, IntegerArray

_MARKS = 64
"""Marks for each pair that cost no more than to order the pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Values of some groups, ordered by group, then value: each (group, value) once, with its copies, which are positive.

    Attributes:
        places: the group of each value, ascending, as a position among the groups that were asked for.
        codes: the values, by the codec of their type.
        groups: how many groups were asked for.
    """

    places: IntegerArray
    codes: CodeArray
    copies: IntegerArray
    groups: int

    @property
    def counts(self) -> IntegerArray:
        """Distinct values per group."""
        return np.bincount(self.places, minlength=self.groups).astype(np.int64)

    @property
    def totals(self) -> IntegerArray:
        """Values per group."""
        totals = np.zeros(self.groups, dtype=np.int64)
        np.add.at(totals, self.places, self.copies)
        return totals


@dataclass(frozen=True, slots=True, eq=False)
class HeldValues:
    """Which values some groups hold: pairs of a group's place and a value's number, each once. Nothing changes them.

    Attributes:
        used: the numbers are below it.
    """

    places: npt.NDArray[np.int32]
    members: npt.NDArray[np.uint32]
    groups: int
    used: int

    def distinct_in(self, places: IntegerArray, coarser: RollUp) -> IntegerArray:
        """Return how many distinct values the coarser groups hold that some groups fall into."""
        numbers = np.full(self.groups, -1, dtype=np.int64)
        numbers[places] = coarser.numbers
        found = numbers[self.places]
        asked = found >= 0
        found, members = found[asked], self.members[asked].astype(np.int64)
        if coarser.count * self.used > _MARKS * len(found):
            return _tally(slots_of(np.unique(packed(found, members))), coarser.count)
        # A mark for each value that a group may have takes less time than putting the pairs in order.
        marks = np.zeros(coarser.count * self.used, dtype=np.bool_)
        marks[found * self.used + members] = True
        counts: IntegerArray = np.count_nonzero(marks.reshape(coarser.count, self.used), axis=1).astype(np.int64)
        return counts

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self.places.nbytes + self.members.nbytes)


@dataclass(frozen=True, slots=True, eq=False)
class MultisetChange:
    """What a delta does; nothing has changed before ``commit``.

    ``appeared`` and ``vanished`` are packed pairs of slot and number, and ``codes_at`` gives the values of numbers among them.
    """

    commit: Commit
    appeared: IntegerArray
    vanished: IntegerArray
    codes_at: Callable[[IntegerArray], CodeArray]


class Multiset:
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
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType) -> Multiset:
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
        column = KeyColumn(codec, values, is_distinct=True)
        return cls(Missing(counts, rows), len(rows), occurrences, column, SlotIndex((column,), (values,)))

    @property
    def codec(self) -> Codec:
        return self._values.codec

    def grow(self, capacity: int) -> None:
        self._missing.grow(capacity)
        if capacity > len(self._distinct):
            self._distinct = resized(self._distinct, capacity)

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> MultisetChange:
        """Compute the values after a delta. Raises StateCorrupt."""
        assert argument is not None
        _, commit_missing = self._missing.prepare(change, argument, "values")
        valid = argument.is_valid().to_numpy(zero_copy_only=False)
        inverse, (values,) = grouped([self.codec], [argument.filter(pa.array(valid))])
        numbers = self._numbers.find((values,))
        fresh = np.flatnonzero(numbers < 0)
        numbers[fresh] = self._numbers.vacant(len(fresh))
        try:
            pairs = self._occurrences.prepare(change.slots[change.inverse][valid], numbers[inverse], change.weights[valid])
        except TooFew:
            message = "a delta deleted a value of a group more often than it was there; the state must be captured again"
            raise StateCorrupt(message) from None
        order = np.argsort(numbers)

        def codes_at(members: IntegerArray) -> CodeArray:
            return values.codes[order[np.searchsorted(numbers[order], members)]]

        def commit() -> None:
            commit_missing()
            self._take(pairs, values, numbers, fresh)

        return MultisetChange(commit, pairs.appeared, pairs.vanished, codes_at)

    def _take(self, pairs: PairChange, values: KeyValues, numbers: IntegerArray, fresh: IntegerArray) -> None:
        pairs.commit()
        np.add.at(self._distinct, slots_of(pairs.appeared), 1)
        np.subtract.at(self._distinct, slots_of(pairs.vanished), 1)
        added = chosen((values,), fresh)
        self._numbers.add(added, numbers[fresh])
        self._values.grow(self._numbers.used)
        self._values.put(numbers[fresh], added[0])
        self._groups = resized(self._groups, max(self._numbers.used, len(self._groups)))
        np.add.at(self._groups, members_of(pairs.appeared), 1)
        np.subtract.at(self._groups, members_of(pairs.vanished), 1)
        gone = np.flatnonzero(self._groups[numbers] == 0)
        self._numbers.remove(chosen((values,), gone), numbers[gone])

    def distinct_at(self, slots: Slots) -> IntegerArray:
        """Return how many distinct values some slots hold."""
        return self._distinct[slots]

    def counts_at(self, slots: Slots, rows: IntegerArray) -> IntegerArray:
        """Return how many values some slots hold, given their rows."""
        return self._missing.counts_at(slots, rows)

    def held(self, slots: IntegerArray) -> HeldValues:
        """Return which values some slots hold."""
        places, members, _ = self._pairs_of(slots, RollUp(np.arange(len(slots)), len(slots)))
        return HeldValues(places.astype(np.int32), members.astype(np.uint32), len(slots), self._numbers.used)

    def occurrences(self, slots: IntegerArray, groups: RollUp | None = None) -> Occurrences:
        """Return the values of some slots, each once, or of the groups that they fall into."""
        groups = RollUp(np.arange(len(slots)), len(slots)) if groups is None else groups
        places, members, copies = self._pairs_of(slots, groups)
        pairs, inverse = np.unique(packed(places, members), return_inverse=True)
        together = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(together, inverse, copies)
        places, codes = slots_of(pairs), self._values.take(members_of(pairs)).codes
        order = np.argsort(codes, kind="stable")
        order = order[np.argsort(places[order], kind="stable")]
        return Occurrences(places[order], codes[order], together[order], groups.count)

    def _pairs_of(self, slots: IntegerArray, groups: RollUp) -> tuple[IntegerArray, IntegerArray, IntegerArray]:
        """Return (group, number, copies) of what some slots hold."""
        coarser = np.full(len(self._distinct), -1, dtype=np.int64)
        coarser[slots] = groups.numbers
        held, members, copies = self._occurrences.pairs()
        asked = coarser[held] >= 0
        return coarser[held][asked], members[asked], copies[asked]

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        """Return what ``load`` takes. The values of a group are sorted."""
        found = self.occurrences(slots)
        offsets = pa.array(np.concatenate(([0], np.cumsum(found.counts))).astype(np.int32))
        values = self.codec.decode(found.codes, np.zeros(len(found.codes), dtype=bool))
        return {
            "count": pa.array(self._missing.counts_at(slots, rows)),
            "values": pa.ListArray.from_arrays(offsets, values),
            "copies": pa.ListArray.from_arrays(offsets, pa.array(found.copies)),
        }

    @property
    def memory(self) -> int:
        arrays = self._missing.memory + int(self._distinct.nbytes + self._groups.nbytes)
        return arrays + self._occurrences.memory + self._values.memory + self._numbers.memory


def _tally(numbers: IntegerArray, capacity: int) -> IntegerArray:
    return np.bincount(numbers, minlength=capacity).astype(np.int64)
