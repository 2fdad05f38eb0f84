"""Groups that fall together into coarser ones (roll-up, Gray et al. 1997): what accumulators hold of each is added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from imp_driver.values.codes import BooleanArray, CodeArray, FloatArray, IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class Least:
    """The least code of each coarser group, which of these have none, and of which it is a bound alone."""

    codes: CodeArray
    is_missing: BooleanArray
    is_bound: BooleanArray


@dataclass(frozen=True, slots=True, eq=False)
class RollUp:
    """``numbers`` says for each finer group which of ``count`` coarser ones it belongs to."""

    numbers: IntegerArray
    count: int

    @property
    def places(self) -> IntegerArray:
        return np.arange(self.count)

    @property
    def sizes(self) -> IntegerArray:
        """How many finer groups each coarser one has."""
        return np.bincount(self.numbers, minlength=self.count)

    def total(self, values: IntegerArray) -> IntegerArray:
        """Sum int64 values per coarser group, modulo 2**64."""
        result = np.zeros(self.count, dtype=np.int64)
        np.add.at(result, self.numbers, values)
        return result

    def float_total(self, values: FloatArray) -> FloatArray:
        """Sum doubles per coarser group, one after the other."""
        return np.bincount(self.numbers, weights=values, minlength=self.count).astype(np.float64)

    def least(self, codes: CodeArray, is_bound: BooleanArray, places: IntegerArray, zero: Any) -> Least:
        """Return the least code of some places for each coarser group; ``is_bound`` says which codes are only below others.

        Args:
            zero: the code of a group that has none of the places.
        """
        numbers, own = self.numbers[places], codes[places]
        is_missing = np.ones(self.count, dtype=bool)
        is_missing[numbers] = False
        if codes.dtype == object:
            found = np.full(self.count, zero, dtype=object)
            order = np.argsort(own, kind="stable")[::-1]
            found[numbers[order]] = own[order]
        else:
            found = np.full(self.count, np.iinfo(np.int64).max)
            np.minimum.at(found, numbers, own)
            found[is_missing] = zero
        has_only_bound = ~is_missing
        has_only_bound[numbers[~is_bound[places] & (own == found[numbers])]] = False
        return Least(found, is_missing, has_only_bound)
