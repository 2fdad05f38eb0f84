"""How much of a table a sketch would keep if the table were clustered by one of its group keys (sketch-safety rules 4, item 4).

In: groups with their rows, and which of them pass. Out: for tables of 1, 2, 4 .. 4096 equal files sorted by the key, the share of files
that hold a passing group. A group's key decides where its rows lie, so given the passing groups the share is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.values.codes import BooleanArray, Codec, FloatArray

PIECES = tuple(1 << power for power in range(13))
"""Numbers of files for which a share is kept."""
_ROUNDING = 1e-9
"""A group that ends where a file ends may seem to reach into the next one by so much of the table."""

Shares = tuple[float, ...]
"""One share (0 to 1) per entry of PIECES."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Groups that a sample missed: how many there may be, and the chance that one of them passes."""

    groups: float = 0.0
    chance: float = 0.0


def shares(values: pa.Array, rows: FloatArray, draws: Sequence[BooleanArray], unseen: Unseen | None = None) -> Shares:
    """Return the expected share of files to read for each number of files.

    Args:
        values: per group, the key that the files would be sorted by; groups of one value lie together.
        rows: per group, rows of the table (not only those that pass WHERE).
        draws: which groups pass, one or more equally likely cases.
        unseen: what a sample missed, spread evenly over the table (Good-Turing).
    """
    codes, nulls = Codec(values.type).encode(values)
    distinct, inverse = np.unique(codes[~nulls], return_inverse=True)
    place = np.zeros(len(codes), dtype=np.int64)
    place[~nulls] = inverse + 1
    totals = np.bincount(place, weights=rows, minlength=len(distinct) + 1)
    if not totals.sum():
        return (0.0,) * len(PIECES)
    ends = np.cumsum(totals) / totals.sum()
    starts = np.concatenate(([0.0], ends[:-1]))
    kept = [np.bincount(place[passes], minlength=len(totals)) > 0 for passes in draws]
    missed = unseen or Unseen()
    return tuple(float(np.mean([_touched(starts[each], ends[each], pieces, missed) for each in kept])) for pieces in PIECES)


def share_at(known: Shares, files: int) -> float:
    """Return the share for a number of files: that of the next smaller number in PIECES, which is the larger share."""
    power = min(max(files, 1).bit_length() - 1, len(PIECES) - 1)
    return known[power]


def _touched(starts: FloatArray, ends: FloatArray, pieces: int, unseen: Unseen) -> float:
    first = np.clip(np.floor(starts * pieces + _ROUNDING), 0, pieces - 1).astype(np.int64)
    last = np.clip(np.ceil(ends * pieces - _ROUNDING) - 1, first, pieces - 1).astype(np.int64)
    steps = np.bincount(first, minlength=pieces + 1) - np.bincount(last + 1, minlength=pieces + 1)
    share = float(np.count_nonzero(np.cumsum(steps)[:pieces]) / pieces)
    return float(1 - (1 - share) * (1 - 1 / pieces) ** (unseen.groups * unseen.chance))
