"""Group keys: from delta rows to groups, from groups to slots.

Invariant: two rows share a slot exactly when Spark puts them in one group: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.operators.interval import Interval, from_codes
from imp_driver.sketch.codes import BooleanArray, CodeArray, Codec, IntegerArray

_RADIX_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class KeyValues:
    """Codes and NULL mask of one key column."""

    codes: CodeArray
    nulls: BooleanArray

    def tokens(self) -> list[Hashable]:
        """Return one hashable per entry, None for NULL."""
        tokens: list[Hashable] = self.codes.tolist()
        for position in np.flatnonzero(self.nulls).tolist():
            tokens[position] = None
        return tokens


def tokens_of(keys: Sequence[KeyValues]) -> list[Hashable]:
    """Return one hashable per group over all key columns."""
    columns = [key.tokens() for key in keys]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def grouped(codecs: Sequence[Codec], keys: Sequence[pa.Array]) -> tuple[IntegerArray, tuple[KeyValues, ...]]:
    """Return (per row the position of its group, per key column the values of the distinct groups)."""
    inverses, distincts = [], []
    for codec, key in zip(codecs, keys, strict=True):
        encoded = codec.canonical(key).dictionary_encode(null_encoding="encode")
        inverses.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))
        distincts.append(KeyValues(*codec.codes_of(encoded.dictionary)))
    if len(keys) == 1:
        return inverses[0], (distincts[0],)
    inverse, count = inverses[0], len(distincts[0].codes)
    for following, distinct in zip(inverses[1:], distincts[1:], strict=True):
        cardinality = len(distinct.codes)
        if count * cardinality >= _RADIX_LIMIT:
            inverse, count = _densified(inverse)
        inverse, count = inverse * cardinality + following, count * cardinality
    inverse, count = _densified(inverse)
    sample = np.empty(count, dtype=np.int64)
    sample[inverse] = np.arange(len(inverse))
    chosen = tuple(
        KeyValues(distinct.codes[single[sample]], distinct.nulls[single[sample]])
        for distinct, single in zip(distincts, inverses, strict=True)
    )
    return inverse, chosen


def _densified(numbers: IntegerArray) -> tuple[IntegerArray, int]:
    encoded = pa.array(numbers).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary)


class KeyColumn:
    """Values of one group key over all slots, growing."""

    def __init__(self, codec: Codec, values: KeyValues) -> None:
        self.codec = codec
        self._codes = values.codes.copy()
        self._nulls = values.nulls.copy()

    def grow(self, capacity: int) -> None:
        missing = capacity - len(self._codes)
        if missing > 0:
            self._codes = np.concatenate((self._codes, np.full(missing, self.codec.zero, dtype=self.codec.dtype)))
            self._nulls = np.concatenate((self._nulls, np.zeros(missing, dtype=bool)))

    def put(self, slots: IntegerArray, values: KeyValues) -> None:
        self._codes[slots], self._nulls[slots] = values.codes, values.nulls

    def take(self, slots: IntegerArray) -> KeyValues:
        return KeyValues(self._codes[slots], self._nulls[slots])

    def interval(self, size: int) -> Interval:
        return from_codes(self.codec.type, self._codes[:size], self._nulls[:size])

    @property
    def memory(self) -> int:
        return int(self._codes.nbytes + self._nulls.nbytes)


class SlotIndex:
    """Which slot holds which group; slots of dead groups are used again."""

    def __init__(self, tokens: Iterable[Hashable]) -> None:
        self._slots = {token: slot for slot, token in enumerate(tokens)}
        self._free: list[int] = []
        self.used = len(self._slots)

    def __len__(self) -> int:
        return len(self._slots)

    def find(self, tokens: Sequence[Hashable]) -> IntegerArray:
        """Return the slot of each group, -1 where it has none."""
        find = self._slots.get
        return np.fromiter((find(token, -1) for token in tokens), dtype=np.int64, count=len(tokens))

    def vacant(self, count: int) -> IntegerArray:
        """Return ``count`` slots that hold no group, without taking them."""
        reused = self._free[: -count - 1 : -1] if count else []
        slots = reused + list(range(self.used, self.used + count - len(reused)))
        return np.array(slots, dtype=np.int64)

    def add(self, tokens: Sequence[Hashable], slots: IntegerArray) -> None:
        """Take slots that ``vacant`` returned."""
        if not len(slots):
            return
        reused = int(np.count_nonzero(slots < self.used))
        del self._free[len(self._free) - reused :]
        self.used += len(slots) - reused
        self._slots.update(zip(tokens, slots.tolist(), strict=True))

    def remove(self, tokens: Sequence[Hashable]) -> None:
        self._free.extend(self._slots.pop(token) for token in tokens)

    @property
    def memory(self) -> int:
        """Estimate in bytes: the table, and 64 for each token."""
        return sys.getsizeof(self._slots) + 64 * len(self._slots)
