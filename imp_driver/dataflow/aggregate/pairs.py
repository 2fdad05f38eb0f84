"""How often each (slot, member) pair occurs: the multiset below fragment counts and distinct counts (IMP paper section 5.2.5).

Invariant: a pair that is held occurs, so what a slot holds is gone when its rows are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imp_driver.dataflow.aggregate.accumulator import Commit, nothing
from imp_driver.values.codes import BooleanArray, IntegerArray

_SHIFT = 32
_MASK = np.int64((1 << _SHIFT) - 1)


class TooFew(Exception):
    """A pair would occur less than never."""


@dataclass(frozen=True, slots=True)
class PairChange:
    """What a delta does: ``appeared`` and ``vanished`` are packed pairs; nothing has changed before ``commit``."""

    commit: Commit
    appeared: IntegerArray
    vanished: IntegerArray


class PairCounts:
    """Pairs sorted by slot, then member, both packed into one integer, which is the index too: 16 bytes a pair."""

    def __init__(self, pairs: IntegerArray, counts: IntegerArray) -> None:
        self._pairs = pairs
        self._counts = counts

    @classmethod
    def of(cls, slots: IntegerArray, members: IntegerArray, counts: IntegerArray) -> PairCounts | None:
        """Take over pairs in any order; None when one repeats or does not occur. Members are below 2**32."""
        pairs = packed(slots, members)
        order = np.argsort(pairs, kind="stable")
        pairs, counts = pairs[order], counts[order]
        return None if np.any(pairs[1:] == pairs[:-1]) or np.any(counts <= 0) else cls(pairs, counts)

    def prepare(self, slots: IntegerArray, members: IntegerArray, weights: IntegerArray) -> PairChange:
        """Compute the counts after a delta of signed occurrences, of one length. Raises TooFew."""
        distinct, inverse = np.unique(packed(slots, members), return_inverse=True)
        added = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(added, inverse, weights)
        touched = added != 0
        distinct, added = distinct[touched], added[touched]
        places = np.searchsorted(self._pairs, distinct)
        found = np.zeros(len(distinct), dtype=bool)
        within = places < len(self._pairs)
        found[within] = self._pairs[places[within]] == distinct[within]
        counts = added.copy()
        counts[found] += self._counts[places[found]]
        if np.any(counts < 0):
            raise TooFew
        return PairChange(self._commit(distinct, places, found, counts), distinct[~found], distinct[found & (counts == 0)])

    def _commit(self, distinct: IntegerArray, places: IntegerArray, found: BooleanArray, counts: IntegerArray) -> Commit:
        held = places[found]
        if not len(distinct):
            return nothing
        if np.all(found) and np.all(counts > 0):

            def overwrite() -> None:
                self._counts[held] = counts

            return overwrite
        fresh = ~found
        empty = held[counts[found] == 0]
        changed = self._counts.copy()
        changed[held] = counts[found]
        # Places count the pairs that are dropped too; insertion is into those that are kept.
        shifted = places[fresh] - np.searchsorted(empty, places[fresh])
        new_pairs = np.insert(np.delete(self._pairs, empty), shifted, distinct[fresh])
        new_counts = np.insert(np.delete(changed, empty), shifted, counts[fresh])

        def replace() -> None:
            self._pairs, self._counts = new_pairs, new_counts

        return replace

    @property
    def slots(self) -> IntegerArray:
        """Slot per pair, ascending."""
        return slots_of(self._pairs)

    @property
    def members(self) -> IntegerArray:
        return members_of(self._pairs)

    @property
    def counts(self) -> IntegerArray:
        return self._counts

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self._pairs.nbytes + self._counts.nbytes)


def packed(slots: IntegerArray, members: IntegerArray) -> IntegerArray:
    pairs: IntegerArray = (slots.astype(np.int64) << _SHIFT) | members.astype(np.int64)
    return pairs


def slots_of(pairs: IntegerArray) -> IntegerArray:
    slots: IntegerArray = pairs >> _SHIFT
    return slots


def members_of(pairs: IntegerArray) -> IntegerArray:
    members: IntegerArray = pairs & _MASK
    return members
