"""How often each (slot, member) pair occurs: the multiset below fragment counts and distinct counts (IMP paper section 5.2.5).

Invariant: a pair that is held occurs, so what a slot holds is gone when its rows are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from imp_driver.dataflow.aggregate.accumulator import Commit, nothing
from imp_driver.dataflow.sorted_runs import OrderedNumbers
from imp_driver.values.codes import IntegerArray

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
    """Pairs ordered by slot, then member, both packed into one integer: 16 bytes a pair."""

    def __init__(self, counts: OrderedNumbers) -> None:
        self._counts = counts

    @classmethod
    def of(cls, slots: IntegerArray, members: IntegerArray, counts: IntegerArray) -> PairCounts | None:
        """Take over pairs in any order; None when one repeats or does not occur. Members are below 2**32."""
        pairs = packed(slots, members)
        if np.any(counts <= 0) or len(np.unique(pairs)) < len(pairs):
            return None
        return cls(OrderedNumbers(pairs, counts, absent=0))

    def prepare(self, slots: IntegerArray, members: IntegerArray, weights: IntegerArray) -> PairChange:
        """Compute the counts after a delta of signed occurrences, of one length. Raises TooFew."""
        distinct, inverse = np.unique(packed(slots, members), return_inverse=True)
        added = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(added, inverse, weights)
        distinct, added = distinct[added != 0], added[added != 0]
        before = self._counts.find(distinct)
        counts = before + added
        if np.any(counts < 0):
            raise TooFew
        commit = partial(self._counts.put, distinct, counts) if len(distinct) else nothing
        return PairChange(commit, distinct[before == 0], distinct[counts == 0])

    def pairs(self) -> tuple[IntegerArray, IntegerArray, IntegerArray]:
        """Return (slot, member, count) of each pair, in their order."""
        found = self._counts.items()
        return slots_of(found.codes), members_of(found.codes), found.numbers.astype(np.int64, copy=False)

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def memory(self) -> int:
        """Bytes."""
        return self._counts.memory


def packed(slots: IntegerArray, members: IntegerArray) -> IntegerArray:
    pairs: IntegerArray = (slots.astype(np.int64) << _SHIFT) | members.astype(np.int64)
    return pairs


def slots_of(pairs: IntegerArray) -> IntegerArray:
    slots: IntegerArray = pairs >> _SHIFT
    return slots


def members_of(pairs: IntegerArray) -> IntegerArray:
    members: IntegerArray = pairs & _MASK
    return members
