"""Bloom filters of a column of one data file: which of some values the file surely does not hold (IMP paper section 6.2).

Values are whole numbers, dates or text. A file is never changed, so its filter stays right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.values.codes import Codec, is_string
from imp_driver.values.mixing import HashArray, mixed

BITS_PER_VALUE = 10
PROBES = 5
"""Bits that each value sets; with ten bits for each value about one absent value of a hundred is taken for present."""

_BASE = 0x100000001B3


def hashes(values: pa.Array) -> HashArray:
    """Return a hash of each value, none of which is NULL; equal values have equal hashes whatever the width of the integers."""
    if is_string(values.type):
        return mixed(_text_hashes(values.cast(pa.large_binary())))
    codes, _ = Codec(values.type).encode(values)
    return mixed(np.asarray(codes, dtype=np.int64).view(np.uint64))


@dataclass(frozen=True, slots=True, eq=False)
class Bloom:
    """``bits`` are packed, eight in a byte; their number is a power of two."""

    bits: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, values: pa.Array) -> Bloom:
        """Make the filter of all values of a column; NULL is not in it, since a join finds nothing by NULL."""
        distinct = hashes(pc.unique(values).drop_null())
        size = 1 << max(6, int(BITS_PER_VALUE * len(distinct) - 1).bit_length())
        bits = np.zeros(size, dtype=np.bool_)
        for places in _places(distinct, size):
            bits[places] = True
        return cls(np.packbits(bits, bitorder="little"))

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(self.bits.nbytes)

    def may_hold(self, wanted: HashArray) -> npt.NDArray[np.bool_]:
        """Say of each hash whether its value may be there; False is sure."""
        found = np.ones(len(wanted), dtype=np.bool_)
        for places in _places(wanted, 8 * len(self.bits)):
            found &= (self.bits[places >> 3] >> (places & 7).astype(np.uint8)) & 1 == 1
        return found


def _places(wanted: HashArray, size: int) -> list[npt.NDArray[np.int64]]:
    """Return PROBES places of each hash among ``size`` bits (double hashing)."""
    step = mixed(wanted) | np.uint64(1)
    return [((wanted + np.uint64(probe) * step) & np.uint64(size - 1)).astype(np.int64) for probe in range(PROBES)]


def _text_hashes(texts: pa.Array) -> HashArray:
    """Return for each text the sum of its bytes times powers of a prime, modulo 2**64."""
    if not len(texts):
        return np.zeros(0, dtype=np.uint64)
    _, offsets, stored = texts.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(stored or b"", dtype=np.uint8)[bounds[0] : bounds[-1]].astype(np.uint64)
    lengths = np.diff(bounds)
    ends = np.cumsum(lengths)
    powers = np.ones(int(lengths.max(initial=0)) + 1, dtype=np.uint64)
    powers[1:] = _BASE
    powers = np.cumprod(powers, dtype=np.uint64)
    within = np.arange(len(content)) - np.repeat(ends - lengths, lengths)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum((content + np.uint64(1)) * powers[within], dtype=np.uint64)))
    found: HashArray = sums[ends] - sums[ends - lengths] + lengths.astype(np.uint64)
    return found
