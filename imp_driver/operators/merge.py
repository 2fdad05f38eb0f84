"""Merge: groups that pass -> fragments of the sketch (IMP paper section 5.1).

Under the aligned rule each group lies in one fragment; a fragment is kept while it has at least one passing group.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imp_driver.sketch.codes import BooleanArray, IntegerArray
from imp_driver.sketch.fragments import FragmentSet


def passing_groups(retained: BooleanArray, fragments: npt.NDArray[np.int32], total: int) -> IntegerArray:
    """Return the number of retained groups per fragment, ``total`` entries."""
    counts: IntegerArray = np.bincount(fragments[retained], minlength=total).astype(np.int64)
    return counts


def merge(retained: BooleanArray, fragments: npt.NDArray[np.int32], total: int) -> FragmentSet:
    """Return the fragments that hold a retained group.

    Args:
        retained: per slot, whether its group is (or may be) needed.
        fragments: per slot, the fragment of its group.
        total: number of fragments, the NULL fragment included.
    """
    return FragmentSet.of(np.flatnonzero(passing_groups(retained, fragments, total)).tolist(), total)
