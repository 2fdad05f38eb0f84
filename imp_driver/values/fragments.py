"""Sets of fragments: what a sketch keeps of a table (IMP paper section 4.2). Immutable once made, so that readers never see a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from pyroaring import FrozenBitMap

Run = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FragmentSet:
    """A subset of the fragments 0..total-1, of which total-1 is the NULL fragment.

    ``members_of`` is a bitmap, or one bit per fragment where that is smaller: a random half of many fragments, say. The choice depends on
    the set alone, so equal sets are equal objects.
    """

    members_of: FrozenBitMap | bytes
    total: int

    @classmethod
    def of(cls, fragments: Iterable[int], total: int) -> FragmentSet:
        """Raises ValueError when a fragment is not in 0..total-1."""
        bitmap = FrozenBitMap(fragments)
        if total < 1 or (len(bitmap) and bitmap.max() >= total):
            raise ValueError(f"fragments must lie in 0..{total - 1}")
        return cls._smaller(bitmap, total)

    @classmethod
    def all(cls, total: int) -> FragmentSet:
        return cls._smaller(FrozenBitMap(range(total)), total)

    @classmethod
    def _smaller(cls, bitmap: FrozenBitMap, total: int) -> FragmentSet:
        if (total + 7) // 8 >= len(bitmap.serialize()):
            return cls(bitmap, total)
        mask = np.zeros(total, dtype=bool)
        mask[np.fromiter(bitmap, dtype=np.int64, count=len(bitmap))] = True
        return cls(np.packbits(mask).tobytes(), total)

    @property
    def _bitmap(self) -> FrozenBitMap:
        return FrozenBitMap(self.members()) if isinstance(self.members_of, bytes) else self.members_of

    def _mask(self, packed: bytes) -> npt.NDArray[np.bool_]:
        return np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=self.total).view(bool)

    def __contains__(self, fragment: int) -> bool:
        if isinstance(self.members_of, bytes):
            return 0 <= fragment < self.total and bool(self.members_of[fragment // 8] & (0x80 >> fragment % 8))
        return fragment in self.members_of

    @property
    def count(self) -> int:
        return int.from_bytes(self.members_of).bit_count() if isinstance(self.members_of, bytes) else len(self.members_of)

    @property
    def is_empty(self) -> bool:
        return self.count == 0

    @property
    def is_all(self) -> bool:
        return self.count == self.total

    @property
    def has_null(self) -> bool:
        return self.total - 1 in self

    @property
    def memory(self) -> int:
        """Size in bytes, serialised."""
        return len(self.members_of) if isinstance(self.members_of, bytes) else len(self.members_of.serialize())

    def members(self) -> npt.NDArray[np.int64]:
        """Return the fragments in ascending order."""
        if isinstance(self.members_of, bytes):
            return np.flatnonzero(self._mask(self.members_of))
        return np.fromiter(self.members_of, dtype=np.int64, count=len(self.members_of))

    def runs(self) -> list[Run]:
        """Return maximal runs (first, last) of adjacent ranges, ascending; the NULL fragment is not part of any."""
        members = self.members()
        members = members[members < self.total - 1]
        if not len(members):
            return []
        breaks = np.flatnonzero(np.diff(members) > 1)
        firsts = members[np.concatenate(([0], breaks + 1))]
        lasts = members[np.concatenate((breaks, [len(members) - 1]))]
        return list(zip(firsts.tolist(), lasts.tolist(), strict=True))

    def union(self, other: FragmentSet) -> FragmentSet:
        """Raises ValueError when the sets belong to partitions of different size."""
        self._check(other)
        return self._smaller(self._bitmap | other._bitmap, self.total)

    def delta(self, newer: FragmentSet) -> tuple[FragmentSet, FragmentSet]:
        """Return (added, removed) on the way from this set to ``newer``. Raises ValueError as ``union``."""
        self._check(newer)
        old, new = self._bitmap, newer._bitmap
        return self._smaller(new - old, self.total), self._smaller(old - new, self.total)

    def _check(self, other: FragmentSet) -> None:
        if self.total != other.total:
            raise ValueError(f"fragment sets of {self.total} and {other.total} fragments cannot be combined")


def fill_gaps(runs: Sequence[Run], maximum: int, fragment_rows: npt.NDArray[np.int64]) -> list[Run]:
    """Return at most ``maximum`` runs that cover ``runs``, by filling the gaps with the fewest rows; a superset of a sketch stays sound.

    Args:
        runs: ascending, disjoint, not adjacent.
        maximum: at least 1.
        fragment_rows: rows per fragment, which a filled gap adds to the scan.
    """
    if maximum < 1:
        raise ValueError(f"at least one run must be allowed, not {maximum}")
    if len(runs) <= maximum:
        return list(runs)
    before = np.concatenate(([0], np.cumsum(fragment_rows)))
    costs = np.array([before[following[0]] - before[run[1] + 1] for run, following in pairwise(runs)])
    filled = set(np.argsort(costs, kind="stable")[: len(runs) - maximum].tolist())
    result = [runs[0]]
    for index, run in enumerate(runs[1:]):
        if index in filled:
            result[-1] = (result[-1][0], run[1])
        else:
            result.append(run)
    return result
