"""Whole numbers beyond 64 bits as four limbs of 32 bits (the top one signed, in 64), so that sums are vectorised and never overflow."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.values.codes import BooleanArray, FloatArray, IntegerArray, decimal_halves

Limbs: TypeAlias = npt.NDArray[np.int64]
"""Of shape (4, numbers), the lowest first."""
_MASK = np.int64(0xFFFF_FFFF)


def limbs_of(array: pa.Array) -> Limbs:
    """Split the unscaled values of a decimal128 array; zeros where NULL."""
    high, low = decimal_halves(array)
    mask = np.uint64(_MASK)
    return np.stack([(low & mask).astype(np.int64), (low >> np.uint64(32)).astype(np.int64), high & _MASK, high >> 32])


def limbs_of_integers(values: IntegerArray) -> Limbs:
    """Split int64 values."""
    sign = values >> 63
    return np.stack([values & _MASK, (values >> 32) & _MASK, sign & _MASK, sign])


def fit_in_64_bits(limbs: Limbs) -> BooleanArray:
    """Say which of some numbers, carried, are int64 values."""
    sign = limbs[1] >> 31
    fits: BooleanArray = (limbs[3] == -sign) & (limbs[2] == sign * _MASK)
    return fits


def lower_64_bits(limbs: Limbs) -> IntegerArray:
    """Return the numbers themselves where they fit in 64 bits."""
    numbers: IntegerArray = (limbs[1] << 32) | limbs[0]
    return numbers


def squares_of(values: IntegerArray) -> Limbs:
    """Split the squares of int64 values; the lower limbs are not carried, and below 2**34."""
    # The least integer is its own negative, and 2**63 without a sign.
    magnitude = np.abs(values).view(np.uint64)
    mask, shift = np.uint64(_MASK), np.uint64(32)
    low, high = magnitude & mask, magnitude >> shift
    first, middle, last = low * low, low * high, high * high
    limbs = [
        first & mask,
        (first >> shift) + np.uint64(2) * (middle & mask),
        np.uint64(2) * (middle >> shift) + (last & mask),
        last >> shift,
    ]
    return np.stack([limb.astype(np.int64) for limb in limbs])


def carried(limbs: Limbs) -> Limbs:
    """Bring the lower limbs back into 0..2**32-1, in place."""
    for position in range(3):
        limbs[position + 1] += limbs[position] >> 32
        limbs[position] &= _MASK
    return limbs


def as_floats(limbs: Limbs) -> FloatArray:
    """Return nearby doubles: exact below 2**53, else within 4 neighbours (each step from the top rounds at most once)."""
    result: FloatArray = limbs[3].astype(np.float64)
    for position in (2, 1, 0):
        result = result * 2.0**32 + limbs[position]
    return result


def as_integers(limbs: Limbs) -> npt.NDArray[np.object_]:
    words = limbs.astype(object)
    result: npt.NDArray[np.object_] = words[0] + words[1] * 2**32 + words[2] * 2**64 + words[3] * 2**96
    return result
