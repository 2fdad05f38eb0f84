"""Hashes of 64-bit numbers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

HashArray: TypeAlias = npt.NDArray[np.uint64]
_FIRST, _SECOND, _STEP = (np.uint64(number) for number in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15))


def mixed(numbers: HashArray) -> HashArray:
    """Spread 64-bit numbers over all bits, one to one (the finaliser of SplitMix64)."""
    found = numbers + _STEP
    found = (found ^ (found >> np.uint64(30))) * _FIRST
    found = (found ^ (found >> np.uint64(27))) * _SECOND
    return found ^ (found >> np.uint64(31))
