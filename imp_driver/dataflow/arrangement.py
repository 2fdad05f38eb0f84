"""An indexed Z-set: rows that others are joined with, in memory (IMP paper section 5.2.4).

Its layers are bags of signed rows, never changed, each with an index per key that was asked for. A deleted row is one of weight -1, so
nothing is searched for when an arrangement changes, and weights multiply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.sorted_runs import SortedRun, compacted
from imp_driver.values.codes import BooleanArray, CodeArray, Codec, IntegerArray, is_orderable
from imp_driver.values.tables import ZSet

MOST_ROWS = 5_000_000
"""Rows that a join may give; beyond, the engine is the better place for it."""
MOST_CROSSED = 1_000_000
"""The same where nothing but a condition says which rows meet, so that most of them go again."""
MOST_TEXT_ROWS = 100_000
"""Rows of an arrangement whose key is text or a wide decimal: such keys are Python objects, slow to sort."""
CHANGED_SHARE = 0.2
"""Above this share of changes an arrangement is to be read anew."""


class TooManyRows(Exception):
    """The join of a delta is too large to be made here."""


def may_be_joined(one: pa.DataType, other: pa.DataType) -> bool:
    """Say whether equal codes mean that Spark finds the values equal."""
    both = (one, other)
    return all(map(pa.types.is_signed_integer, both)) or (one == other and is_orderable(one))


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """Signed rows; ``indexes`` find their places by the codes of a key, without NULL, which equals nothing."""

    zset: ZSet
    indexes: dict[str, SortedRun] = field(default_factory=dict)

    def index(self, key: str) -> SortedRun:
        if key not in self.indexes:
            column = self.zset.rows.column(key)
            codes, nulls = Codec(column.type).encode(column)
            if codes.dtype == object and len(codes) > MOST_TEXT_ROWS:
                raise TooManyRows
            places = np.flatnonzero(~nulls)
            self.indexes[key] = SortedRun.of(codes[places], places)
        return self.indexes[key]

    def __len__(self) -> int:
        return len(self.zset.weights)

    def merged(self, other: _Layer) -> _Layer:
        rows = pa.concat_tables([self.zset.rows, other.zset.rows]).combine_chunks()
        return _Layer(ZSet(rows, np.concatenate((self.zset.weights, other.zset.weights))))

    @property
    def memory(self) -> int:
        weights = self.zset.weights
        return int(self.zset.rows.nbytes + (weights.nbytes if weights.strides[0] else weights.itemsize)) + sum(
            each.memory for each in self.indexes.values()
        )


class Arrangement:
    """Rows of one occurrence of a table, or of an operator. Immutable; what comes of a change shares layers and indexes with it."""

    def __init__(self, zset: ZSet) -> None:
        self._layers: tuple[_Layer, ...] = (_Layer(ZSet(zset.rows.combine_chunks(), zset.weights)),)
        self._loaded = self._signed = len(zset.weights)

    def changed_by(self, zset: ZSet) -> Arrangement:
        """Return an arrangement with more signed rows, of the same columns in any order."""
        schema = self._layers[0].zset.rows.schema
        added = _Layer(ZSet(zset.rows.select(schema.names).cast(schema).combine_chunks(), zset.weights))
        found = Arrangement.__new__(Arrangement)
        # The rows that were loaded stay a layer of their own: their indexes took longest.
        found._layers = (self._layers[0], *compacted((*self._layers[1:], added), len, _Layer.merged))
        found._loaded, found._signed = self._loaded, self._signed + len(added)
        return found

    def rows(self, key: str, values: pa.Array) -> ZSet:
        """Return the signed rows whose ``key`` is one of the values; NULL matches nothing. Raises TooManyRows."""
        codes, nulls = Codec(values.type).encode(values)
        wanted = np.unique(codes[~nulls])
        found = [(layer.zset, places) for layer, places, _ in self._matches(wanted, np.arange(len(wanted)), key)]
        rows = pa.concat_tables([zset.rows.take(pa.array(places)) for zset, places in found])
        return ZSet(rows, np.concatenate([zset.weights[places] for zset, places in found]))

    def every(self) -> ZSet:
        """Return all signed rows."""
        return ZSet(
            pa.concat_tables([layer.zset.rows for layer in self._layers]), np.concatenate([layer.zset.weights for layer in self._layers])
        )

    def joined(self, zset: ZSet, pairs: Sequence[tuple[str, str]]) -> ZSet:
        """Return signed rows with the columns of both, where in each pair a column of ``zset`` equals one of these rows.

        The first pair finds the rows; without one all rows meet.

        Raises:
            TooManyRows: the first pair alone finds more than MOST_ROWS, or its codes are objects and there are too many rows for that; or
                all rows that meet are more than MOST_CROSSED.
        """
        parts = []
        for layer, places, positions in self._met(zset, pairs[0]) if pairs else self._crossed(len(zset.weights)):
            for left, right in pairs[1:]:
                met = _are_equal(zset.rows.column(left), positions, layer.zset.rows.column(right), places)
                places, positions = places[met], positions[met]
            table = zset.rows.take(pa.array(positions))
            found = layer.zset.rows.take(pa.array(places))
            for name in found.column_names:
                table = table.append_column(name, found.column(name))
            parts.append(ZSet(table, zset.weights[positions] * layer.zset.weights[places]))
        return ZSet(pa.concat_tables([each.rows for each in parts]), np.concatenate([each.weights for each in parts]))

    def _met(self, zset: ZSet, pair: tuple[str, str]) -> list[tuple[_Layer, IntegerArray, IntegerArray]]:
        key, own = pair
        codes, nulls = Codec(zset.rows.schema.field(key).type).encode(zset.rows.column(key))
        return self._matches(codes, np.flatnonzero(~nulls), own)

    def _crossed(self, count: int) -> list[tuple[_Layer, IntegerArray, IntegerArray]]:
        if count * len(self) > MOST_CROSSED:
            raise TooManyRows
        positions = np.arange(count)
        return [(layer, np.tile(np.arange(len(layer)), count), np.repeat(positions, len(layer))) for layer in self._layers]

    def copies(self, own: str, keys: pa.Array | pa.ChunkedArray) -> IntegerArray:
        """Return for each key how often rows have it, the sum of their weights; 0 for NULL. Raises TooManyRows."""
        codes, nulls = Codec(keys.type).encode(keys)
        found = np.zeros(len(codes), dtype=np.int64)
        for layer in self._layers:
            index = layer.index(own)
            first, last = index.extents(codes)
            totals = np.concatenate(([0], np.cumsum(layer.zset.weights[index.numbers])))
            found += totals[last] - totals[first]
        found[nulls] = 0
        return found

    def _matches(self, codes: CodeArray, wanted: IntegerArray, own: str) -> list[tuple[_Layer, IntegerArray, IntegerArray]]:
        """Return of each layer (places of rows, positions in ``codes``) of every pair of equal codes, for the positions ``wanted``."""
        matches, total = [], 0
        for layer in self._layers:
            index = layer.index(own)
            first, last = index.extents(codes[wanted])
            counts = last - first
            total += int(counts.sum())
            if total > MOST_ROWS:
                raise TooManyRows
            # The places from first to last of each code, one after the other.
            starts = np.repeat(first - np.cumsum(counts) + counts, counts)
            matches.append((layer, index.numbers[starts + np.arange(len(starts))], np.repeat(wanted, counts)))
        return matches

    def __len__(self) -> int:
        """Signed rows, of which some may take others back."""
        return self._signed

    @property
    def is_worn(self) -> bool:
        """Whether the changes have become so many that they cost more than reading the rows anew."""
        return self._signed - self._loaded > max(10_000, CHANGED_SHARE * self._loaded)

    @property
    def memory(self) -> int:
        """Bytes."""
        return sum(layer.memory for layer in self._layers)


def _are_equal(one: pa.ChunkedArray, positions: IntegerArray, other: pa.ChunkedArray, places: IntegerArray) -> BooleanArray:
    """Compare some values of two columns in pairs; NULL equals nothing."""
    left, no_left = Codec(one.type).encode(one)
    right, no_right = Codec(other.type).encode(other.take(pa.array(places)))
    left, no_left = left[positions], no_left[positions]
    equal: BooleanArray = np.asarray(left == right, dtype=bool) & ~no_left & ~no_right
    return equal
