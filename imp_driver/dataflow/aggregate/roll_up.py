"""Groups that fall together into coarser ones (roll-up, Gray et al. 1997): what accumulators hold of each is added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from imp_driver.values.codes import BooleanArray, CodeArray, FloatArray, IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class RollUp:
    """``numbers`` says for each finer group which of ``count`` coarser ones it belongs to."""

    numbers: IntegerArray
    count: int

    @property
    def places(self) -> IntegerArray:
        return np.arange(self.count)

    def total(self, values: IntegerArray) -> IntegerArray:
        """Sum int64 values per coarser group, modulo 2**64."""
        result = np.zeros(self.count, dtype=np.int64)
        np.add.at(result, self.numbers, values)
        return result

    def float_total(self, values: FloatArray) -> FloatArray:
        """Sum doubles per coarser group, one after the other."""
        return np.bincount(self.numbers, weights=values, minlength=self.count).astype(np.float64)

    def least_codes(self, codes: CodeArray, places: IntegerArray, zero: Any) -> tuple[CodeArray, BooleanArray]:
        """Return the least code of some places for each coarser group, and which have none of them: their code is ``zero``."""
        numbers, own = self.numbers[places], codes[places]
        is_missing = np.ones(self.count, dtype=bool)
        is_missing[numbers] = False
        if codes.dtype == object:
            found = np.full(self.count, zero, dtype=object)
            least = self.least(codes, np.zeros(len(codes), dtype=bool), places)
            found[self.numbers[least]] = codes[least]
            return found, is_missing
        found = np.full(self.count, np.iinfo(np.int64).max)
        np.minimum.at(found, numbers, own)
        found[is_missing] = zero
        return found, is_missing

    def least(self, codes: CodeArray, is_bound: BooleanArray, places: IntegerArray) -> IntegerArray:
        """Return for each coarser group that has some of these places the one of the least code; of equal ones one that is no bound."""
        order = places[np.argsort(is_bound[places], kind="stable")]
        order = order[np.argsort(codes[order], kind="stable")]
        order = order[np.argsort(self.numbers[order], kind="stable")]
        return order[np.unique(self.numbers[order], return_index=True)[1]]
