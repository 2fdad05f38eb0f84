"""Rows that one file lost and another one got, told from those that changed.

A writer without deletion vectors copies the rows of a file that it does not change. Rows are the same here when their values have the same
bits: what a state keeps may tell 0.0 from -0.0, which are equal in SQL.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.values.codes import decimal_halves, one_array

Weights = npt.NDArray[np.int64]
_Words = npt.NDArray[np.uint64]
_MIXERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))
_SHIFT = np.uint64(32)


def without_copies(rows: pa.Table, weights: Weights) -> tuple[pa.Table, Weights]:
    """Return rows with weight 1 or -1 and the same sum, without those that cancel, as far as their types have a form to compare.

    Args:
        weights: 1 or -1 each.
    """
    words = _words_of(rows)
    if words is None or not (weights > 0).any() or not (weights < 0).any():
        return rows, weights
    # Rows of one hash that are not next to each other after sorting only cancel less: which are the same is asked of the words.
    order = np.argsort(_hashes(words))
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = False
    for column in words:
        sorted_column = column[order]
        is_first[1:] |= sorted_column[1:] != sorted_column[:-1]
    starts = np.flatnonzero(is_first)
    total = np.add.reduceat(weights[order], starts)
    left = np.flatnonzero(total)
    places = np.repeat(order[starts[left]], np.abs(total[left]))
    return rows.take(pa.array(places)), np.repeat(np.sign(total[left]), np.abs(total[left]))


def _words_of(rows: pa.Table) -> list[_Words] | None:
    """Return columns of 64 bits that are equal in two rows only where all values are; None where a type has no such form."""
    words: list[_Words] = []
    for column in rows.columns:
        found = list(_column_words(one_array(column)))
        if not found:
            return None
        words += found
    return words or None


def _column_words(array: pa.Array) -> Iterator[_Words]:
    kind = array.type
    if array.null_count:
        yield array.is_null().to_numpy(zero_copy_only=False).astype(np.uint64)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        # NULL has the code of the empty text, and is told from it by its mark.
        filled = array.fill_null(b"" if pa.types.is_binary(kind) else "")
        yield filled.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.uint64)
    elif pa.types.is_decimal128(kind):
        high, low = decimal_halves(array)
        yield high.view(np.uint64)
        yield low
    elif pa.types.is_floating(kind):
        bits = array.fill_null(0.0).to_numpy(zero_copy_only=False).astype(np.float64)
        yield bits.view(np.uint64)
    elif pa.types.is_boolean(kind) or pa.types.is_signed_integer(kind) or pa.types.is_temporal(kind):
        yield _whole_numbers(array).view(np.uint64)


def _whole_numbers(array: pa.Array) -> npt.NDArray[np.int64]:
    kind = array.type
    if pa.types.is_date32(kind):
        array = array.view(pa.int32())
    elif pa.types.is_temporal(kind):
        array = array.view(pa.int64())
    return np.asarray(pc.fill_null(array.cast(pa.int64()), 0), dtype=np.int64)


def _hashes(words: list[_Words]) -> _Words:
    hashes = np.zeros(len(words[0]), dtype=np.uint64)
    for word in words:
        hashes = (hashes ^ word) * _MIXERS[0]
        hashes = (hashes ^ (hashes >> _SHIFT)) * _MIXERS[1]
    return hashes
