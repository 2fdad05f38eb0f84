"""Range partitions of one attribute: the fragments that sketches are made of (IMP paper section 4.2, 6.4).

In: values of the attribute with weights. Out: bounds b1 < ... < b(n-1) that cut the whole domain into n half-open ranges with open ends,
and one more fragment for NULL. Invariant: every value, seen or not, lies in exactly one fragment, by Spark's own comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.values.codes import CodeArray, Codec, IntegerArray, float_codes

_DAY_LIMITS = (-719_162, 2_932_896)
_MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class RangePartition:
    """Fragments 0..n-1 are ranges in ascending order, fragment n is NULL.

    Attributes:
        type: Arrow type of the attribute.
        bounds: inner bounds as exact Python values of that type, strictly ascending, never NULL or NaN; fragment i starts at bounds[i - 1].

    Raises ValueError when the bounds do not ascend, TypeError when the type has no order.
    """

    type: pa.DataType
    bounds: tuple[Any, ...]
    _codes: CodeArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        codes, nulls = Codec(self.type).encode(pa.array(self.bounds, type=self.type))
        is_nan = [bound != bound for bound in self.bounds]
        if nulls.any() or any(is_nan) or not bool(np.all(codes[1:] > codes[:-1])):
            raise ValueError(f"bounds of a range partition over {self.type} must ascend strictly without NULL or NaN, not {self.bounds!r}")
        object.__setattr__(self, "_codes", codes)

    @property
    def ranges(self) -> int:
        """Number of ranges, the NULL fragment not counted."""
        return len(self.bounds) + 1

    @property
    def null_fragment(self) -> int:
        return self.ranges

    @property
    def fragments(self) -> int:
        """Number of fragments, the NULL fragment included."""
        return self.ranges + 1

    def locate(self, values: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int32]:
        """Return the fragment of each value."""
        codes, nulls = Codec(self.type).encode(values)
        found = np.searchsorted(self._codes, codes, side="right").astype(np.int32)
        found[nulls] = self.null_fragment
        return found

    def interval(self, first: int, last: int) -> tuple[Any | None, Any | None]:
        """Return (lower, upper) of the run of ranges first..last: lower <= x < upper, None where open. Raises IndexError."""
        if not 0 <= first <= last < self.ranges:
            raise IndexError(f"ranges {first}..{last} are not a run of the {self.ranges} ranges of this partition")
        lower = self.bounds[first - 1] if first > 0 else None
        upper = self.bounds[last] if last < self.ranges - 1 else None
        return lower, upper


def equi_depth(values: pa.Array | pa.ChunkedArray, weights: IntegerArray, fragments: int) -> RangePartition:
    """Cut the domain into at most ``fragments`` ranges of about equal weight.

    Args:
        values: any values of the attribute, repeated or not; NULLs are ignored.
        weights: non-negative int64, one per value.
        fragments: at least 1; no more distinct values than this give one value per range.
    """
    if fragments < 1:
        raise ValueError(f"a partition needs at least one range, not {fragments}")
    codec = Codec(values.type)
    codes, nulls = codec.encode(values)
    distinct, inverse = np.unique(codes[~nulls], return_inverse=True)
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, inverse, np.asarray(weights, dtype=np.int64)[~nulls])
    starts = _starts(totals, fragments)
    bounds = distinct[starts]
    bounds = bounds[_writable(bounds, values.type)]
    decoded = codec.decode(bounds, np.zeros(len(bounds), dtype=bool))
    return RangePartition(values.type, tuple(decoded.to_pylist()))


def _starts(totals: IntegerArray, fragments: int) -> IntegerArray:
    """Return positions of distinct values that start the second and later ranges."""
    if len(totals) <= fragments:
        return np.arange(1, len(totals), dtype=np.int64)
    if not totals.any():
        totals = np.ones_like(totals)
    cumulative = np.cumsum(totals.astype(np.float64))
    targets = cumulative[-1] * np.arange(1, fragments) / fragments
    starts = np.unique(np.searchsorted(cumulative, targets, side="left") + 1)
    return starts[starts < len(totals)]


def _writable(codes: CodeArray, data_type: pa.DataType) -> npt.NDArray[np.bool_]:
    """Say which codes have an exact typed literal: no NaN or infinity, no date beyond the years 1 to 9999."""
    if pa.types.is_floating(data_type):
        low, high = (int(code) for code in float_codes(np.array([-np.inf, np.inf])))
        return (codes > low) & (codes < high)
    if pa.types.is_date32(data_type):
        return (codes >= _DAY_LIMITS[0]) & (codes <= _DAY_LIMITS[1])
    if pa.types.is_timestamp(data_type):
        # A day inside either end leaves room for every time zone offset.
        return (codes >= (_DAY_LIMITS[0] + 1) * _MICROSECONDS_PER_DAY) & (codes < _DAY_LIMITS[1] * _MICROSECONDS_PER_DAY)
    return np.ones(len(codes), dtype=bool)
