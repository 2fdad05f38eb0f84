"""Merge: groups that pass -> fragments of the sketch (IMP paper section 5.1).

Under the aligned rule each group lies in one fragment; a fragment is kept while it has at least one passing group.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.fragments import FragmentSet


def passing_groups(retained: BooleanArray, fragments: npt.NDArray[np.int32], total: int) -> IntegerArray:
    """Return the number of retained groups per fragment, ``total`` entries."""
    counts: IntegerArray = np.bincount(fragments[retained], minlength=total).astype(np.int64)
    return counts


class Merge:
    """Which groups are retained and how many of them lie in each fragment, changed along with the groups.

    It remembers the fragment in which it counted a group: a slot may hold another group by now.
    """

    def __init__(self, retained: BooleanArray, fragments: npt.NDArray[np.int32], total: int) -> None:
        self._retained = retained.copy()
        self._fragments = fragments.copy()
        self._counts = passing_groups(retained, fragments, total)

    def update(self, slots: IntegerArray, retained: BooleanArray, fragments: npt.NDArray[np.int32]) -> None:
        """Take over whether the groups of some slots, each given once, are retained now, and their fragments."""
        missing = int(slots.max(initial=-1)) + 1 - len(self._retained)
        if missing > 0:
            self._retained = np.concatenate((self._retained, np.zeros(missing, dtype=bool)))
            self._fragments = np.concatenate((self._fragments, np.zeros(missing, dtype=np.int32)))
        before = slots[self._retained[slots]]
        np.subtract.at(self._counts, self._fragments[before], 1)
        np.add.at(self._counts, fragments[retained], 1)
        self._retained[slots], self._fragments[slots] = retained, fragments

    def fragments(self) -> FragmentSet:
        """Return the fragments that hold a retained group."""
        return FragmentSet.of(np.flatnonzero(self._counts).tolist(), len(self._counts))

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self._retained.nbytes + self._fragments.nbytes + self._counts.nbytes)


def merge(retained: BooleanArray, fragments: npt.NDArray[np.int32], total: int) -> FragmentSet:
    """Return the fragments that hold a retained group.

    Args:
        retained: per slot, whether its group is (or may be) needed.
        fragments: per slot, the fragment of its group.
        total: number of fragments, the NULL fragment included.
    """
    return FragmentSet.of(np.flatnonzero(passing_groups(retained, fragments, total)).tolist(), total)
