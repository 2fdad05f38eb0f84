"""Exact sums of decimals over slots: whole numbers of 64 bits while all of them fit, in limbs from the first on that does not."""

from __future__ import annotations

import numpy as np

from imp_driver.dataflow.aggregate.accumulator import Slots
from imp_driver.dataflow.aggregate.limbs import Limbs, as_floats, as_integers, carried, fit_in_64_bits, limbs_of_integers, lower_64_bits
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.values.codes import CodeArray, FloatArray, IntegerArray

_MOST_TOTAL = 2**62


class WideSums:
    """A number for each slot, of up to 128 bits."""

    def __init__(self, sums: Limbs | IntegerArray) -> None:
        """Take over limbs, or whole numbers of 64 bits."""
        is_narrow = sums.ndim == 1
        if not is_narrow and fit_in_64_bits(sums).all():
            sums, is_narrow = lower_64_bits(sums), True
        self._sums, self._is_narrow = sums, is_narrow

    def at(self, slots: Slots) -> Limbs:
        """Return a copy of some of the numbers."""
        return limbs_of_integers(self._sums[slots]) if self._is_narrow else self._sums[:, slots].copy()

    def integers(self, slots: Slots) -> CodeArray:
        """Return a copy of some of the numbers: int64, or Python's integers where these do not fit."""
        return self._sums[slots].copy() if self._is_narrow else as_integers(self._sums[:, slots])

    def floats(self, slots: Slots) -> FloatArray:
        """Return nearby doubles: exact below 2**53, else within 4 neighbours."""
        return self._sums[slots].astype(np.float64) if self._is_narrow else as_floats(self._sums[:, slots])

    def put(self, slots: IntegerArray, limbs: Limbs) -> None:
        if not self._is_narrow:
            self._sums[:, slots] = limbs
        elif fit_in_64_bits(limbs).all():
            self._sums[slots] = lower_64_bits(limbs)
        else:
            wide = limbs_of_integers(self._sums)
            wide[:, slots] = limbs
            self._sums, self._is_narrow = wide, False

    def grow(self, capacity: int) -> None:
        missing = capacity - self._sums.shape[-1]
        if missing > 0:
            more = np.zeros((*self._sums.shape[:-1], missing), dtype=np.int64)
            self._sums = np.concatenate((self._sums, more), axis=-1)

    def rolled_up(self, slots: IntegerArray, groups: RollUp) -> WideSums:
        """Return the sums of coarser groups."""
        if self._is_narrow:
            sums = self._sums[slots]
            if not len(sums) or max(int(sums.max()), -int(sums.min())) * len(sums) < _MOST_TOTAL:
                return WideSums(groups.total(sums))
        return WideSums(carried(np.stack([groups.total(limb) for limb in self.at(slots)])))

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self._sums.nbytes)
