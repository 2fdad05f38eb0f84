"""Where the values of a column lie in one file, by value: for columns whose files do not have them in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.values.codes import CodeArray, IntegerArray

Numbers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class SortedPlaces:
    """Ascending numbers, each with its position in the file; NULL is left out."""

    numbers: Numbers
    places: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, stored: pa.Array) -> SortedPlaces:
        """Sort whole numbers."""
        present = stored.is_valid().to_numpy(zero_copy_only=False)
        numbers = stored.drop_null().to_numpy(zero_copy_only=False)
        order = np.argsort(numbers, kind="stable")
        return cls(numbers[order], np.flatnonzero(present)[order].astype(np.uint32))

    def places_of(self, wanted: CodeArray) -> IntegerArray:
        """Return the positions of some ascending numbers, ascending."""
        return np.sort(self.places[places_in(self.numbers, wanted)]).astype(np.int64)

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.numbers.nbytes + self.places.nbytes


def places_in(numbers: Numbers, wanted: CodeArray) -> IntegerArray:
    """Return the positions in ascending numbers of some others, distinct and ascending."""
    limits = np.iinfo(numbers.dtype)
    fitting = wanted[(wanted >= limits.min) & (wanted <= limits.max)].astype(numbers.dtype)
    first = np.searchsorted(numbers, fitting, side="left")
    counts = np.searchsorted(numbers, fitting, side="right") - first
    return np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
