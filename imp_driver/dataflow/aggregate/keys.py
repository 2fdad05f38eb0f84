"""Group keys: from delta rows to groups, from groups to slots.

Invariant: two rows share a slot exactly when Spark puts them in one group: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.stored_codes import ObjectCodes, PlainCodes, SharedCodes, StoredCodes
from imp_driver.dataflow.bounds.interval import Interval, from_codes
from imp_driver.values.codes import BooleanArray, CodeArray, Codec, IntegerArray

_RADIX_LIMIT = 2**62
FEWER = 4
"""Times that values must be fewer than slots for a dictionary of them to be worth it."""
MANY = 10_000
"""Slots from which on a dictionary is thought of."""


@dataclass(frozen=True, slots=True)
class KeyValues:
    """Codes and NULL mask of one key column."""

    codes: CodeArray
    nulls: BooleanArray

    def take(self, places: IntegerArray) -> KeyValues:
        return KeyValues(self.codes[places], self.nulls[places])

    def tokens(self) -> list[Hashable]:
        """Return one hashable per entry, None for NULL."""
        tokens: list[Hashable] = self.codes.tolist()
        for position in np.flatnonzero(self.nulls).tolist():
            tokens[position] = None
        return tokens


Keys: TypeAlias = tuple[KeyValues, ...]
"""All key columns of some groups."""


def chosen(keys: Keys, places: IntegerArray) -> Keys:
    """Return the keys of some of the groups."""
    return tuple(key.take(places) for key in keys)


def grouped(codecs: Sequence[Codec], keys: Sequence[pa.Array]) -> tuple[IntegerArray, Keys]:
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
    """Values of one group key over all slots, growing; ``is_distinct``: hardly any of them is there twice."""

    def __init__(self, codec: Codec, values: KeyValues, *, is_distinct: bool = False) -> None:
        self.codec = codec
        self._codes = _stored(codec, values.codes, is_distinct=is_distinct)
        self._nulls = values.nulls.copy()

    def grow(self, capacity: int) -> None:
        self._codes.grow(capacity)
        missing = capacity - len(self._nulls)
        if missing > 0:
            self._nulls = np.concatenate((self._nulls, np.zeros(missing, dtype=bool)))

    def put(self, slots: IntegerArray, values: KeyValues) -> None:
        self._codes.put(slots, values.codes)
        self._nulls[slots] = values.nulls

    def take(self, slots: IntegerArray) -> KeyValues:
        return KeyValues(self._codes.take(slots), self._nulls[slots])

    def array(self, slots: IntegerArray) -> pa.Array:
        """Return the values of some slots; a dictionary of them where many have few."""
        if isinstance(self._codes, SharedCodes) and len(slots) > MANY:
            numbers, objects = self._codes.numbered(slots)
            if FEWER * len(objects) <= len(slots):
                distinct = self.codec.decode(objects, np.zeros(len(objects), dtype=bool))
                return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=self._nulls[slots]), distinct)
        values = self.take(slots)
        return self.codec.decode(values.codes, values.nulls)

    def interval(self, slots: slice | IntegerArray) -> Interval:
        return from_codes(self.codec.type, self._codes.take(slots), self._nulls[slots])

    @property
    def memory(self) -> int:
        """Bytes."""
        return self._codes.memory + int(self._nulls.nbytes)


def _stored(codec: Codec, codes: CodeArray, *, is_distinct: bool) -> StoredCodes:
    if not codec.is_object:
        return PlainCodes(codes, is_narrow=_is_narrow(codec.type))
    return ObjectCodes(codes) if is_distinct else SharedCodes(codes)


def _is_narrow(data_type: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_date32(data_type) or types.is_boolean(data_type) or (types.is_integer(data_type) and data_type.bit_width <= 32))
