"""Groups cut by one of their keys: each group lies in one fragment (IMP paper sections 4.1 and 5.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imp_driver.dataflow.aggregate.accumulator import Commit
from imp_driver.dataflow.aggregate.group import ChangedGroups, GroupState
from imp_driver.dataflow.aggregate.keys import chosen
from imp_driver.sketch.balance import Balance
from imp_driver.sketch.merge import merge
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition, equi_depth

_MOST_TOUCHED = 4
"""Times the groups, that may be remembered as touched before repetitions are left out."""


class KeyCut:
    """Follows the groups of one state, told of each change. Fragments have one entry per slot, without meaning where no group is.

    ``attribute`` is what people call the key.
    """

    def __init__(self, state: GroupState, key: int, partition: RangePartition, attribute: str) -> None:
        self.attribute = attribute
        self._state = state
        self._key = key
        self._touched: list[IntegerArray] = []
        self._partition, self._fragments, self._totals, self._balance = self._located(partition)

    @classmethod
    def equi_depth(cls, state: GroupState, key: int, fragments: int, attribute: str) -> KeyCut:
        """Cut into at most ``fragments`` ranges of about equal rows."""
        return cls(state, key, _depths(state, key, fragments), attribute)

    @property
    def partition(self) -> RangePartition:
        return self._partition

    @property
    def fragment(self) -> npt.NDArray[np.int32]:
        """Fragment per slot."""
        return self._fragments[: len(self._state.rows)]

    def prepare(self, changed: ChangedGroups) -> Commit:
        """Compute the fragments after a change of the groups; the returned commit only assigns, after that of the groups."""
        change, fresh = changed.change, changed.fresh
        slots = change.slots
        self._grow(int(slots.max()) + 1)
        added = chosen(changed.keys, fresh)[self._key]
        located = self._partition.locate(self._state.codec(self._key).decode(added.codes, added.nulls))

        def commit() -> None:
            self._fragments[slots[fresh]] = located
            np.add.at(self._totals, self._fragments[slots], change.rows)
            self._touch(slots)

        return commit

    def _grow(self, needed: int) -> None:
        missing = max(needed, len(self._fragments) * 3 // 2) - len(self._fragments)
        if needed > len(self._fragments):
            self._fragments = np.concatenate((self._fragments, np.zeros(missing, dtype=np.int32)))

    def _touch(self, slots: IntegerArray) -> None:
        self._touched.append(slots)
        # Without a query nobody takes them.
        if sum(map(len, self._touched)) > _MOST_TOUCHED * len(self._fragments):
            self._touched = [np.unique(np.concatenate(self._touched))]

    def take_touched(self) -> IntegerArray:
        """Return the slots whose groups changed since this was asked for the last time, each once."""
        touched, self._touched = self._touched, []
        return np.unique(np.concatenate(touched)) if touched else np.zeros(0, dtype=np.int64)

    def sketch(self, retained: BooleanArray) -> FragmentSet:
        """Return the fragments that hold a retained group; ``retained`` has one entry per slot."""
        return merge(retained, self.fragment, self._partition.fragments)

    def fragment_rows(self) -> IntegerArray:
        """Return rows per fragment, the NULL fragment last."""
        return self._totals.copy()

    def rebalance(self, fragments: int) -> None:
        """Cut at most ``fragments`` ranges anew where rows have piled up in one or are gone from many."""
        if self._balance.is_lost(self._totals[: self._partition.ranges]):
            located = self._located(_depths(self._state, self._key, fragments))
            # At once: interrupted in between, the groups would lie in fragments of other ranges.
            self._partition, self._fragments, self._totals, self._balance = located

    def _located(self, partition: RangePartition) -> tuple[RangePartition, npt.NDArray[np.int32], IntegerArray, Balance]:
        rows = self._state.rows
        fragments = partition.locate(self._state.key_values(self._key, np.arange(len(rows))))
        totals = np.zeros(partition.fragments, dtype=np.int64)
        np.add.at(totals, fragments, rows)
        return partition, fragments, totals, Balance.of(totals[: partition.ranges])

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self._fragments.nbytes + self._totals.nbytes) + sum(each.nbytes for each in self._touched)


def _depths(state: GroupState, key: int, fragments: int) -> RangePartition:
    slots = np.flatnonzero(state.alive)
    return equi_depth(state.key_values(key, slots), state.rows[slots], fragments)
