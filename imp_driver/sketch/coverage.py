"""Which files a set of fragments touches, from the file statistics of one snapshot: an estimate of what Spark will read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from imp_driver.values.ranges import RangePartition
from imp_driver.values.tables import FileStatistics


@dataclass(frozen=True, slots=True)
class Coverage:
    """Files and bytes that a set of fragments touches, of all."""

    files_kept: int
    files_total: int
    bytes_kept: int
    bytes_total: int


def total_coverage(parts: Iterable[Coverage]) -> Coverage:
    """Add up the coverage of several tables."""
    every = list(parts)
    return Coverage(
        sum(each.files_kept for each in every),
        sum(each.files_total for each in every),
        sum(each.bytes_kept for each in every),
        sum(each.bytes_total for each in every),
    )


@dataclass(frozen=True, slots=True, eq=False)
class FileFragments:
    """First and last fragment of each file of one snapshot; files without statistics count as touching everything.

    Computed once per snapshot and partition; testing one sketch is then a difference of prefix sums.
    """

    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.bool_]

    @classmethod
    def locate(cls, files: FileStatistics, column: str, partition: RangePartition) -> FileFragments:
        lower, upper, nulls = files.bounds(column)
        unknown = np.asarray(pc.or_(pc.is_null(lower), pc.is_null(upper)).to_numpy(zero_copy_only=False), dtype=bool)
        first, last = partition.locate(lower), partition.locate(upper)
        first = np.where(unknown, 0, first).astype(np.int32)
        last = np.where(unknown, partition.ranges - 1, last).astype(np.int32)
        return cls(first, last, files.sizes, nulls != 0)

    def coverage(self, kept: npt.NDArray[np.bool_], has_null: bool) -> Coverage:
        """``kept`` has one entry per non-NULL fragment."""
        sums = np.concatenate(([0], np.cumsum(kept)))
        touched = sums[self.last + 1] > sums[self.first]
        if has_null:
            touched = touched | self.nulls
        return Coverage(int(touched.sum()), len(touched), int(self.sizes[touched].sum()), int(self.sizes.sum()))
