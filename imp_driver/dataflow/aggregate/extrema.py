"""min and max: per group the smallest (largest) values in a short sorted buffer, the rest counted (IMP paper sections 5.2.6 and 6.2).

Maxima are minima of reversed codes. Invariant per group: every buffered value <= bound <= every unbuffered value; the bound matters only
while some value is unbuffered. A buffer that runs dry leaves the interval from the bound upwards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Commit, GroupChange, Parts, Slots, StateCorrupt, Values, integers, nothing, resized
from imp_driver.dataflow.aggregate.buffers import Changes, changed_buffers, consolidated
from imp_driver.dataflow.aggregate.null_counts import Missing
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.bounds.interval import Family, Interval, from_codes
from imp_driver.values.aggregates import BUFFER_SIZE
from imp_driver.values.codes import TOP_STRING, CodeArray, Codec, IntegerArray


class Extremum:
    """Count, buffer of shape (slots, BUFFER_SIZE) ascending and padded with the codec's top, its fill, and the bound."""

    def __init__(
        self, codec: Codec, missing: Missing, buffers: CodeArray, sizes: IntegerArray, bounds: CodeArray, *, maximum: bool
    ) -> None:
        self._codec = codec
        self._missing = missing
        self._buffers = buffers
        self._sizes = sizes
        self._bounds = bounds
        self._maximum = maximum

    @classmethod
    def load(cls, parts: Parts, rows: IntegerArray, argument_type: pa.DataType, *, maximum: bool) -> Extremum:
        """Raises StateCorrupt when a buffer holds more values than the group counted, or a bound is missing."""
        codec = Codec(argument_type)
        counts = integers(parts["count"])
        lists = parts["buffer"]
        sizes = integers(lists.value_lengths()) if len(lists) else np.zeros(0, dtype=np.int64)
        flat, nulls = codec.encode(lists.flatten())
        if nulls.any() or np.any(sizes > np.minimum(counts, BUFFER_SIZE)) or np.any((sizes == 0) & (counts > 0) & ("bound" not in parts)):
            raise StateCorrupt("a captured min/max buffer does not fit its count; the state must be captured again")
        width = BUFFER_SIZE
        buffers = _filled((len(counts), width), codec)
        holders = np.repeat(np.arange(len(counts)), sizes)
        places = np.arange(len(flat)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        buffers[holders, places] = codec.reverse(flat) if maximum else flat
        buffers.sort(axis=1)
        bounds = _filled((len(counts),), codec)
        incomplete = counts > sizes
        if "bound" in parts:
            given, _ = codec.encode(parts["bound"])
            given = codec.reverse(given) if maximum else given
            bounds[incomplete] = given[incomplete]
        else:
            bounds[incomplete] = buffers[incomplete, sizes[incomplete] - 1]
        return cls(codec, Missing(counts, rows), buffers, sizes, bounds, maximum=maximum)

    def grow(self, capacity: int) -> None:
        self._missing.grow(capacity)
        held = len(self._sizes)
        if capacity <= held:
            return
        self._sizes = resized(self._sizes, capacity)
        buffers, bounds = _filled((capacity, self._buffers.shape[1]), self._codec), _filled((capacity,), self._codec)
        buffers[:held], bounds[:held] = self._buffers, self._bounds
        self._buffers, self._bounds = buffers, bounds

    def prepare(self, change: GroupChange, argument: pa.Array | None) -> Commit:
        assert argument is not None
        counts, commit_missing = self._missing.prepare(change, argument, "values")
        commit_buffers = self._prepare_buffers(change, argument, counts)

        def commit() -> None:
            commit_missing()
            commit_buffers()

        return commit

    def _prepare_buffers(self, change: GroupChange, argument: pa.Array, counts: IntegerArray) -> Commit:
        codes, nulls = self._codec.encode(argument)
        if self._maximum:
            codes = self._codec.reverse(codes)
        incomplete = self._missing.before(change) > self._sizes[change.slots]
        bounds = self._bounds[change.slots]
        # Beyond the bound of an incomplete group a value can only be counted.
        relevant = ~nulls & (~incomplete[change.inverse] | (codes <= bounds[change.inverse]).astype(bool))
        sizes = self._sizes[change.slots]
        groups, values, weights = consolidated(change.inverse[relevant], codes[relevant], change.weights[relevant])
        if not len(groups):
            if np.any(sizes > counts):
                raise StateCorrupt(_BELOW_BUFFER)
            return nothing
        touched, positions = np.unique(groups, return_inverse=True)
        changes = Changes(positions, values, weights)
        slots = change.slots[touched]
        buffers, new_sizes, new_bounds = changed_buffers(
            self._buffers[slots], sizes[touched], bounds[touched], incomplete[touched], changes, self._codec.top
        )
        sizes[touched] = new_sizes
        if np.any(sizes > counts):
            raise StateCorrupt(_BELOW_BUFFER)

        def commit() -> None:
            self._buffers[slots] = buffers
            self._sizes[slots] = new_sizes
            self._bounds[slots] = new_bounds

        return commit

    def interval(self, rows: IntegerArray, slots: Slots) -> Interval:
        counts, sizes = self._missing.counts_at(slots, rows), self._sizes[slots]
        dry = (counts > 0) & (sizes == 0)
        codes = np.where(counts > 0, np.where(dry, self._bounds[slots], self._buffers[slots, 0]), self._zero())
        exact = from_codes(self._codec.type, self._codec.restore(codes) if self._maximum else codes, counts == 0)
        if not dry.any():
            return exact
        is_string = exact.family is Family.STRING
        lower, upper = exact.lower.copy(), exact.upper.copy()
        if self._maximum:
            lower[dry] = b"" if is_string else -np.inf
        else:
            upper[dry] = TOP_STRING if is_string else np.nan
        return replace(exact, lower=lower, upper=upper)

    def values(self, rows: IntegerArray, slots: IntegerArray) -> Values:
        counts, sizes = self._missing.counts_at(slots, rows), self._sizes[slots]
        codes = np.where(sizes > 0, self._buffers[slots, 0], self._zero())
        codes = self._codec.restore(codes) if self._maximum else codes
        return Values(self._codec.decode(codes, counts == 0), (counts == 0) | (sizes > 0))

    def rolled_up(self, rows: IntegerArray, slots: IntegerArray, groups: RollUp) -> Values:
        counts, dry = self._missing.counts_at(slots, rows), self._sizes[slots] == 0
        codes = np.where(dry, self._bounds[slots], self._buffers[slots, 0])
        least = groups.least(codes, dry, np.flatnonzero(counts), self._zero())
        found = np.where(least.is_bound, self._zero(), least.codes)
        return Values(self._codec.decode(self._codec.restore(found) if self._maximum else found, least.is_missing), ~least.is_bound)

    def _zero(self) -> Any:
        """Return a code that can be restored, for groups without a value."""
        if not self._maximum:
            return self._codec.zero
        return b"\xff" if self._codec.zero == b"" else 0

    def parts(self, slots: IntegerArray, rows: IntegerArray) -> Parts:
        sizes, buffers = self._sizes[slots], self._buffers[slots]
        flat = buffers[np.arange(buffers.shape[1]) < sizes[:, None]]
        counts = self._missing.counts_at(slots, rows)
        complete = counts <= sizes
        bounds = np.where(complete, self._zero(), self._bounds[slots])
        if self._maximum:
            flat, bounds = self._codec.restore(flat), self._codec.restore(bounds)
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
        values = self._codec.decode(flat, np.zeros(len(flat), dtype=bool))
        return {
            "count": pa.array(counts),
            "buffer": pa.ListArray.from_arrays(pa.array(offsets), values),
            "bound": self._codec.decode(bounds, complete),
        }

    @property
    def memory(self) -> int:
        """Bytes, with an estimate of 40 for each Python object that strings and wide decimals need."""
        objects = 40 * int(self._sizes.sum()) if self._codec.is_object else 0
        return self._missing.memory + int(self._sizes.nbytes + self._buffers.nbytes + self._bounds.nbytes) + objects

    def inexact(self, rows: IntegerArray) -> int:
        """Count groups whose buffer ran dry."""
        return int(np.count_nonzero((self._missing.counts_at(slice(len(rows)), rows) > 0) & (self._sizes[: len(rows)] == 0)))


_BELOW_BUFFER = "a delta deleted values of a group that a min/max buffer still holds; the state must be captured again"


def _filled(shape: tuple[int, ...], codec: Codec) -> CodeArray:
    return np.full(shape, codec.top, dtype=codec.dtype)
