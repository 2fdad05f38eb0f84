"""Columns of tables of groups as whole numbers, by which rows are told apart from one reading to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.dataflow.aggregate.limbs import fit_in_64_bits, limbs_of, lower_64_bits
from imp_driver.values.codes import BooleanArray, Codec, IntegerArray, is_orderable, one_array


class NotDescribed(Exception):
    """What is asked for is not followed by descents; all of it is evaluated at each reading instead."""


class Tokens:
    """Numbers for the values of a column, the same at each reading."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self.values: list[object] = []

    def of(self, array: pa.Array) -> IntegerArray:
        """Return a number for each value; what stands for NULL means nothing."""
        encoded = array.dictionary_encode()
        known = []
        for value in encoded.dictionary.to_pylist():
            if value not in self._numbers:
                self._numbers[value] = len(self.values)
                self.values.append(value)
            known.append(self._numbers[value])
        places = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        found: IntegerArray = np.array([*known, 0], dtype=np.int64)[places]
        return found


@dataclass(slots=True, eq=False)
class Relation:
    """Rows of groups, each with a name that no other has and that it keeps; ``columns`` are whole numbers with where they are NULL."""

    table: pa.Table
    names: IntegerArray
    columns: list[tuple[IntegerArray, BooleanArray]] = field(default_factory=list)

    def add(self, values: IntegerArray, nulls: BooleanArray) -> int:
        """Return the place of a column."""
        self.columns.append((np.where(nulls, 0, values), nulls))
        return len(self.columns) - 1

    def add_codes(self, array: pa.Array) -> int:
        """Add what orders values as Spark does. Raises NotDescribed."""
        if not is_orderable(array.type) or Codec(array.type).is_object:
            raise NotDescribed(f"keys of type {array.type}")
        codes, nulls = Codec(array.type).encode(array)
        return self.add(codes.astype(np.int64, copy=False), nulls)

    def add_numbers(self, array: pa.Array) -> int:
        """Add integers, or the unscaled values of decimals. Raises NotDescribed where these need more than 64 bits."""
        nulls: BooleanArray = array.is_null().to_numpy(zero_copy_only=False)
        if pa.types.is_signed_integer(array.type):
            return self.add(array.fill_null(0).cast(pa.int64()).to_numpy(zero_copy_only=False), nulls)
        if not pa.types.is_decimal(array.type):
            raise NotDescribed(f"values of type {array.type}")
        limbs = limbs_of(array)
        if not np.all(fit_in_64_bits(limbs) | nulls):
            raise NotDescribed("decimals beyond 64 bits")
        return self.add(lower_64_bits(limbs), nulls)

    def add_tokens(self, array: pa.Array, tokens: Tokens) -> int:
        return self.add(tokens.of(array), array.is_null().to_numpy(zero_copy_only=False))

    def rows(self) -> Numbers:
        count = len(self.names)
        values = np.stack([each for each, _ in self.columns]) if self.columns else np.zeros((0, count), dtype=np.int64)
        nulls = np.stack([each for _, each in self.columns]) if self.columns else np.zeros((0, count), dtype=bool)
        if np.all(self.names[1:] > self.names[:-1]):
            return Numbers(self.names, values, nulls)
        order = np.argsort(self.names)
        return Numbers(self.names[order], values[:, order], nulls[:, order])


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The columns of a relation at one reading: arrays of shape (columns, rows), by ascending names."""

    names: IntegerArray
    values: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.bool_]

    @classmethod
    def none(cls, columns: int) -> Numbers:
        return cls(np.zeros(0, dtype=np.int64), np.zeros((columns, 0), dtype=np.int64), np.zeros((columns, 0), dtype=bool))

    def changes_to(self, other: Numbers) -> list[tuple[tuple[int | None, ...], int]]:
        """Return the rows that are no longer as they were, with weight -1, and those that are new or others, with 1."""
        places = np.searchsorted(self.names, other.names)
        within = np.minimum(places, max(len(self.names) - 1, 0))
        stays = (self.names[within] == other.names) if len(self.names) else np.zeros(len(other.names), dtype=bool)
        both = np.flatnonzero(stays)
        before = places[both]
        differs = np.any((self.values[:, before] != other.values[:, both]) | (self.nulls[:, before] != other.nulls[:, both]), axis=0)
        is_gone = np.ones(len(self.names), dtype=bool)
        is_gone[before[~differs]] = False
        is_new = ~stays
        is_new[both[differs]] = True
        return [*self._signed(np.flatnonzero(is_gone), -1), *other._signed(np.flatnonzero(is_new), 1)]

    def _signed(self, places: IntegerArray, weight: int) -> list[tuple[tuple[int | None, ...], int]]:
        values, nulls = self.values[:, places].T, self.nulls[:, places].T
        rows: Sequence[Sequence[int | None]] = values.tolist()
        if nulls.any():
            flags = zip(rows, nulls.tolist(), strict=True)
            rows = [[None if is_null else each for each, is_null in zip(row, own, strict=True)] for row, own in flags]
        return [(tuple(row), weight) for row in rows]


def single(array: pa.Array | pa.ChunkedArray) -> Relation:
    """Return the relation of one value, or of none."""
    values = one_array(array)
    return Relation(pa.table({"value": values}), np.arange(len(values)))
