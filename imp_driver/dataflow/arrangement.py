"""Rows that others are joined with, in memory (IMP paper section 5.2.4).

A side is a multiset of signed rows: a base with an index per key, and the changes since, which are few. A deleted row is one of weight -1,
so nothing is searched for when a side changes, and weights multiply.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.values.codes import Codec, IntegerArray, is_orderable
from imp_driver.values.tables import ZSet

MOST_ROWS = 5_000_000
"""Rows that a join may give; beyond, the engine is the better place for it."""
MOST_TEXT_ROWS = 100_000
"""Rows of a side whose key is text or a wide decimal: such keys are Python objects, slow to sort."""
CHANGED_SHARE = 0.2
"""Above this share of changes a side is to be read anew."""


class TooManyRows(Exception):
    """The join of a delta is too large to be made here."""


def may_be_joined(one: pa.DataType, other: pa.DataType) -> bool:
    """Say whether equal codes mean that Spark finds the values equal."""
    both = (one, other)
    return all(map(pa.types.is_signed_integer, both)) or (one == other and is_orderable(one))


@dataclass(frozen=True, slots=True)
class _Index:
    """Codes of a key, sorted, without NULL, which equals nothing; ``places`` are the rows that they are of."""

    codes: npt.NDArray[np.generic]
    places: IntegerArray

    @classmethod
    def of(cls, rows: pa.Table, key: str) -> _Index:
        codes, nulls = Codec(rows.schema.field(key).type).encode(rows.column(key))
        places = np.flatnonzero(~nulls)
        places = places[np.argsort(codes[places], kind="stable")]
        return cls(codes[places], places)

    def pairs(self, codes: npt.NDArray[np.generic], wanted: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
        """Return (position in ``codes``, row) of every pair of equal codes, for the positions ``wanted``."""
        first = np.searchsorted(self.codes, codes[wanted], side="left")
        counts = np.searchsorted(self.codes, codes[wanted], side="right") - first
        total = int(counts.sum())
        if total > MOST_ROWS:
            raise TooManyRows
        starts = np.repeat(first - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) if total else np.zeros(0, dtype=np.int64)
        return np.repeat(wanted, counts), self.places[starts + np.arange(total)]


class Arrangement:
    """Rows of one occurrence of a table, or of an operator."""

    def __init__(self, rows: pa.Table) -> None:
        self._base = rows.combine_chunks()
        self._changes = rows.schema.empty_table()
        self._weights: IntegerArray = np.zeros(0, dtype=np.int64)
        self._indexes: dict[str, _Index] = {}

    @classmethod
    def of(cls, zset: ZSet) -> Arrangement:
        side = cls(zset.rows.schema.empty_table())
        side.apply(zset.rows, zset.weights)
        return side

    def changed_by(self, zset: ZSet) -> Arrangement:
        """Return a side with more signed rows; this one stays as it is, and both use the same base and indexes."""
        side = Arrangement.__new__(Arrangement)
        side._base, side._indexes, side._changes, side._weights = self._base, self._indexes, self._changes, self._weights
        side.apply(zset.rows, zset.weights)
        return side

    def apply(self, rows: pa.Table, weights: IntegerArray) -> None:
        """Add signed rows; they have the columns of the side."""
        self._changes = pa.concat_tables(
            [self._changes, rows.select(self._changes.column_names).cast(self._changes.schema)]
        ).combine_chunks()
        self._weights = np.concatenate((self._weights, weights))

    def matching(self, key: str, values: pa.Array) -> ZSet:
        """Return the signed rows whose ``key`` is one of the values; NULL matches nothing. Raises TooManyRows."""
        codes, nulls = Codec(values.type).encode(values)
        wanted = np.unique(codes[~nulls])
        _, rows, weights = self._found(wanted, np.arange(len(wanted)), key)
        return ZSet(rows, weights)

    def joined(self, rows: pa.Table, weights: IntegerArray, key: str, own: str) -> tuple[pa.Table, IntegerArray]:
        """Return signed rows with the columns of both, where ``key`` of ``rows`` equals ``own`` of the side.

        Raises:
            TooManyRows: there would be more than MOST_ROWS, or the key's codes are objects and the side is too long for that.
        """
        codes, nulls = Codec(rows.schema.field(key).type).encode(rows.column(key))
        places, found, copies = self._found(codes, np.flatnonzero(~nulls), own)
        table = rows.take(pa.array(places))
        for name in found.column_names:
            table = table.append_column(name, found.column(name))
        return table, weights[places] * copies

    def _found(self, codes: npt.NDArray[np.generic], wanted: IntegerArray, own: str) -> tuple[IntegerArray, pa.Table, IntegerArray]:
        """Return (position in ``codes``, row of the side, its weight) of every pair of equal codes, for the positions ``wanted``."""
        if codes.dtype == object and len(self._base) > MOST_TEXT_ROWS:
            raise TooManyRows
        if own not in self._indexes:
            self._indexes[own] = _Index.of(self._base, own)
        left, right = self._indexes[own].pairs(codes, wanted)
        newer_left, newer_right = _Index.of(self._changes, own).pairs(codes, wanted)
        rows = pa.concat_tables([self._base.take(pa.array(right)), self._changes.take(pa.array(newer_right))])
        copies = np.concatenate((np.ones(len(left), dtype=np.int64), self._weights[newer_right]))
        return np.concatenate((left, newer_left)), rows, copies

    @property
    def is_worn(self) -> bool:
        """Whether the changes have become so many that they cost more than reading the side anew."""
        return len(self._weights) > max(10_000, CHANGED_SHARE * len(self._base))

    @property
    def memory(self) -> int:
        """Bytes."""
        indexes = sum(each.codes.nbytes + each.places.nbytes for each in self._indexes.values())
        return int(self._base.nbytes + self._changes.nbytes + self._weights.nbytes + indexes)
