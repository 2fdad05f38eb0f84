"""Rows as single numbers: the codes of all columns side by side in 63 bits, so that a row is found, compared and kept as one int64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from imp_driver.values.codes import BooleanArray, IntegerArray

MOST_BITS = 63
PIECE = 1 << 16
"""Rows that are looked at in one go, at most, but for those that one row finds: what they need stays in the caches of a processor."""

LevelArray: TypeAlias = npt.NDArray[np.int16]
ABSENT = 32_766
"""The level of what is not there; one more is still an int16."""
GIVEN = -1
"""The level of rows that no rule makes."""


class NotPacked(Exception):
    """Rows have more different values than fit in one number."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the code of each column stands in a key; the first column has the highest bits.

    Attributes:
        bits: how many bits each column has.
        shifts: how many bits stand below each column.
    """

    bits: tuple[int, ...]
    shifts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Raises NotPacked."""
        if self.size > MOST_BITS:
            raise NotPacked(f"the values of {len(self.bits)} columns need {self.size} bits of {MOST_BITS}")
        object.__setattr__(self, "shifts", tuple(accumulate(reversed(self.bits), initial=0))[-2::-1])

    @property
    def size(self) -> int:
        """Bits."""
        return sum(self.bits)

    def mask(self, column: int) -> int:
        """Return the bits of a column at its place."""
        return ((1 << self.bits[column]) - 1) << self.shifts[column]

    def pack(self, columns: Sequence[IntegerArray]) -> IntegerArray:
        """Return the keys of rows, from the codes of each column."""
        keys = columns[0] << self.shifts[0]
        for column, shift in zip(columns[1:], self.shifts[1:], strict=True):
            keys |= column << shift
        return keys

    def columns(self, keys: IntegerArray) -> list[IntegerArray]:
        """Invert ``pack``."""
        return [(keys >> shift) & ((1 << bits) - 1) for bits, shift in zip(self.bits, self.shifts, strict=True)]


@dataclass(frozen=True, slots=True)
class Source:
    """A column of one of several keys."""

    key: int
    column: int


Projection: TypeAlias = Callable[..., IntegerArray]
"""Takes keys of some layouts, all as long, and returns keys of another."""


def projection(layouts: Sequence[Layout], sources: Sequence[Source], shifts: Sequence[int]) -> Projection:
    """Return what makes keys of which each column is one of others; columns are moved together where they can be.

    Args:
        sources: where each column is.
        shifts: how many bits stand below each in the new key.
    """
    masks: dict[tuple[int, int], int] = {}
    for source, shift in zip(sources, shifts, strict=True):
        layout = layouts[source.key]
        moved = source.key, shift - layout.shifts[source.column]
        masks[moved] = masks.get(moved, 0) | layout.mask(source.column)
    moves = [_move(key, _needed(mask, shift, layouts[key].size), shift) for (key, shift), mask in masks.items()]
    return reduce(_both, moves)


def _both(one: Projection, other: Projection) -> Projection:
    return lambda *keys: one(*keys) | other(*keys)


def _move(key: int, mask: int | None, shift: int) -> Projection:
    # A few microseconds each time are most of what a step takes that finds little.
    if mask is None:
        if not shift:
            return lambda *keys: keys[key]
        return (lambda *keys: keys[key] << shift) if shift > 0 else (lambda *keys: keys[key] >> -shift)
    if not shift:
        return lambda *keys: keys[key] & mask
    return (lambda *keys: (keys[key] & mask) << shift) if shift > 0 else (lambda *keys: (keys[key] & mask) >> -shift)


def _needed(mask: int, shift: int, size: int) -> int | None:
    """Return a mask; None where a shift leaves no other bits anyway."""
    return None if mask == ((1 << size) - 1) & ~((1 << max(-shift, 0)) - 1) else mask


class Condition:
    """What keys have to meet: columns that are equal, and columns that are not NULL, whose code is 0."""

    def __init__(self, layout: Layout, equal: Sequence[tuple[int, int]], not_null: Sequence[int]) -> None:
        self._masks = [layout.mask(column) for column in not_null]
        self._equal = [
            (layout.shifts[one], layout.shifts[other], (1 << min(layout.bits[one], layout.bits[other])) - 1) for one, other in equal
        ]

    def met(self, keys: IntegerArray) -> BooleanArray | None:
        """Return which keys meet it; None where all do."""
        found: BooleanArray | None = None
        for mask in self._masks:
            part = (keys & mask) != 0
            found = part if found is None else found & part
        for one, other, mask in self._equal:
            part = ((keys >> one) ^ (keys >> other)) & mask == 0
            found = part if found is None else found & part
        return None if found is None or found.all() else found


def distinct(keys: IntegerArray) -> IntegerArray:
    """Return each key once, ascending."""
    if len(keys) < 2:
        return keys
    found = np.sort(keys)
    is_first = np.empty(len(found), dtype=np.bool_)
    is_first[0] = True
    np.not_equal(found[1:], found[:-1], out=is_first[1:])
    return found[is_first]


def taken_out(array: IntegerArray, places: IntegerArray) -> IntegerArray:
    """Return an array without the values at some places."""
    if len(places) != 1:
        return np.delete(array, places)
    place = int(places[0])
    return np.concatenate((array[:place], array[place + 1 :]))


def put_in(array: IntegerArray, places: IntegerArray, values: IntegerArray) -> IntegerArray:
    """Return an array with values before those at some places."""
    if len(places) != 1:
        return np.insert(array, places, values)
    place = int(places[0])
    return np.concatenate((array[:place], values, array[place:]))


def contains(ascending: IntegerArray, keys: IntegerArray) -> BooleanArray:
    """Return which keys are among others, which ascend."""
    if not len(ascending):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.minimum(ascending.searchsorted(keys), len(ascending) - 1)
    found: BooleanArray = ascending[places] == keys
    return found


def extended(begins: IntegerArray, ends: IntegerArray) -> Iterator[tuple[IntegerArray, IntegerArray]]:
    """Yield queries, by their places, and the places of what each finds, which are those from ``begins`` to before ``ends``.

    Together they are no more than ``PIECE`` in one go, unless one query has more.
    """
    if len(begins) == 1:
        begin, end = int(begins[0]), int(ends[0])
        if end > begin:
            yield np.zeros(end - begin, dtype=np.int64), np.arange(begin, end)
        return
    counts = ends - begins
    totals = counts.cumsum()
    begin, done = 0, 0
    while begin < len(counts):
        end = len(counts)
        if totals[-1] - done > PIECE:
            end = max(begin + 1, int(np.searchsorted(totals, done + PIECE, side="right")))
        part = counts[begin:end]
        total = int(totals[end - 1]) - done
        if total:
            queries = np.arange(begin, end).repeat(part)
            shifts = begins[begin:end] - totals[begin:end] + part + done
            yield queries, shifts.repeat(part) + np.arange(total)
        begin, done = end, done + total
