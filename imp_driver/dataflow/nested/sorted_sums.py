"""Keys in ascending order with sums: sums up to a key, and the first key up to which a sum passes a threshold, both by one descent.

Keys lie in blocks, blocks in bundles, and both levels have their sums, so that a question adds up some hundred numbers at the speed of
``sum`` and a change writes three. Splitting a block moves no more than the blocks' own sums.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import Any, TypeAlias

import numpy as np

from imp_driver.dataflow.nested.descent import descended
from imp_driver.dataflow.nested.keys import Cut, Key
from imp_driver.dataflow.nested.marks import Mark, remember
from imp_driver.dataflow.nested.vectors import Column, consolidated, vector

Sums: TypeAlias = tuple[Any, ...]
"""A sum for each column, exact, and the number of rows last."""
BLOCK = 96
"""Keys of a block, at most; measured with 1,000 to 100,000 keys."""
BUNDLE = 24
"""Blocks of a bundle."""
FEW = 10
"""Changes from which on they are consolidated by vectors before they meet the blocks."""
_UNCHANGED: tuple[Column, ...] = ()


class _Block:
    """Some keys, each with the values of all columns; the last column counts rows."""

    __slots__ = ("columns", "keys", "vectors")

    def __init__(self, keys: list[Key], columns: list[list[Any]]) -> None:
        self.keys, self.columns = keys, columns
        self.vectors = _UNCHANGED


class SortedSums:
    """Sums by key, in the order of keys. A key is there while it has rows, whatever their sums are.

    Attributes:
        negatives: for each column, how many keys have a negative sum; where there is none, sums up to a key grow with the key.
    """

    def __init__(self, columns: int, block: int = BLOCK) -> None:
        self.negatives = [0] * (columns + 1)
        self._width, self._limit = columns + 1, block
        self._blocks: list[_Block] = []
        self._last: list[Key] = []
        self._sums: list[list[Any]] = [[] for _ in range(self._width)]
        self._bundles: list[list[Any]] = [[] for _ in range(self._width)]
        self._totals: list[Any] = [0] * self._width
        self._size = 0
        self._marks: list[Mark] = []

    def __len__(self) -> int:
        """Return the number of keys."""
        return self._size

    @property
    def total(self) -> Sums:
        return tuple(self._totals)

    def total_of(self, index: int) -> Any:
        """Return one column's sum of all keys."""
        return self._totals[index]

    @property
    def memory(self) -> int:
        """Bytes, of which those of numbers and keys are estimated by the first key."""
        if not self._size:
            return sys.getsizeof(self)
        entry = sys.getsizeof(self._blocks[0].keys[0]) + 8 + self._width * 36
        return self._size * entry + len(self._blocks) * (200 + 72 * self._width)

    def add(self, key: Key, amounts: Sequence[Any], rows: int = 1) -> None:
        """Add signed amounts, one a column, and signed rows to a key."""
        self.add_sums(key, (*amounts, rows))

    def add_sums(self, key: Key, amounts: Sequence[Any]) -> None:
        """Add signed amounts to a key, one a column and the signed rows last."""
        if not self._blocks:
            if any(amounts):
                self._rebuilt([key], [[amount] for amount in amounts])
            return
        for mark in self._marks:
            if key < mark.key:
                mark.before += amounts[mark.index]
            elif key == mark.key:
                mark.own += amounts[mark.index]
        number = bisect_left(self._last, key)
        if number == len(self._last):
            number -= 1
        block = self._blocks[number]
        keys = block.keys
        place = bisect_left(keys, key)
        block.vectors = _UNCHANGED
        if place == len(keys) or keys[place] != key:
            if any(amounts):
                self._insert(number, place, key, amounts)
            return
        bundle, columns = number // BUNDLE, block.columns
        for index, amount in enumerate(amounts):
            if amount:
                column = columns[index]
                old = column[place]
                column[place] = new = old + amount
                if old < 0 or new < 0:
                    self.negatives[index] += (new < 0) - (old < 0)
                self._sums[index][number] += amount
                self._bundles[index][bundle] += amount
                self._totals[index] += amount
        # Sums that are not 0 wait for the rest of their batch: in the end they are 0 where there are no rows.
        if not block.columns[-1][place] and not any(column[place] for column in block.columns):
            self._remove(number, place)

    def _insert(self, number: int, place: int, key: Key, amounts: Sequence[Any]) -> None:
        block, bundle = self._blocks[number], number // BUNDLE
        block.keys.insert(place, key)
        for index, amount in enumerate(amounts):
            block.columns[index].insert(place, amount)
            if amount < 0:
                self.negatives[index] += 1
            self._sums[index][number] += amount
            self._bundles[index][bundle] += amount
            self._totals[index] += amount
        self._size += 1
        self._last[number] = block.keys[-1]
        if len(block.keys) > self._limit:
            self._split(number)

    def _remove(self, number: int, place: int) -> None:
        block = self._blocks[number]
        del block.keys[place]
        for column in block.columns:
            del column[place]
        self._size -= 1
        if len(block.keys) > self._limit // 4:
            self._last[number] = block.keys[-1]
        else:
            self._shrink(number)

    def _split(self, number: int) -> None:
        block = self._blocks[number]
        middle = len(block.keys) // 2
        other = _Block(block.keys[middle:], [column[middle:] for column in block.columns])
        del block.keys[middle:]
        for column in block.columns:
            del column[middle:]
        self._blocks.insert(number + 1, other)
        self._last.insert(number, block.keys[-1])
        for sums, column in zip(self._sums, other.columns, strict=True):
            part = sum(column)
            sums[number] -= part
            sums.insert(number + 1, part)
        self._bundle_again()

    def _shrink(self, number: int) -> None:
        """Put a small block to its neighbour where both fit into one, and take an empty one out."""
        block = self._blocks[number]
        first = number - 1 if number else 0
        if first + 1 < len(self._blocks):
            left, right = self._blocks[first], self._blocks[first + 1]
            if len(left.keys) + len(right.keys) <= self._limit * 3 // 4:
                left.keys += right.keys
                for column, more in zip(left.columns, right.columns, strict=True):
                    column += more
                left.vectors = _UNCHANGED
                del self._blocks[first + 1], self._last[first + 1]
                for sums in self._sums:
                    sums[first] += sums.pop(first + 1)
                self._bundle_again()
                self._last[first] = left.keys[-1]
                return
        if block.keys:
            self._last[number] = block.keys[-1]
            return
        del self._blocks[number], self._last[number]
        for sums in self._sums:
            del sums[number]
        self._bundle_again()

    def _bundle_again(self) -> None:
        begins = range(0, len(self._blocks), BUNDLE)
        self._bundles = [[sum(sums[begin : begin + BUNDLE]) for begin in begins] for sums in self._sums]

    def _rebuilt(self, keys: list[Key], columns: list[list[Any]]) -> None:
        """Begin anew with ascending keys."""
        step = max(self._limit * 2 // 3, 1)
        begins = range(0, len(keys), step)
        self._blocks = [_Block(keys[at : at + step], [column[at : at + step] for column in columns]) for at in begins]
        self._last = [block.keys[-1] for block in self._blocks]
        self._sums = [[sum(block.columns[index]) for block in self._blocks] for index in range(self._width)]
        self._totals = [sum(sums) for sums in self._sums]
        self.negatives = [sum([value < 0 for value in column]) for column in columns]
        self._size, self._marks = len(keys), []
        self._bundle_again()

    def add_many(self, keys: Sequence[Key], columns: Sequence[Sequence[Any]], rows: Sequence[int]) -> None:
        """Add many changes at once: a column of signed amounts for each column, and signed rows. The result is that of ``add`` for each."""
        if len(keys) < FEW and self._size:
            for key, *amounts in zip(keys, *columns, rows, strict=True):
                self.add_sums(key, amounts)
            return
        distinct, summed = consolidated(keys, [*columns, rows])
        if len(distinct) * 8 < self._size:
            for key, *amounts in zip(distinct, *summed, strict=True):
                self.add_sums(key, amounts)
            return
        self._merge(distinct, summed)

    def _merge(self, keys: list[Key], columns: list[list[Any]]) -> None:
        if self._size:
            own_keys, *own = zip(*self._entries(), strict=True)
            keys, columns = consolidated([*own_keys, *keys], [[*one, *two] for one, two in zip(own, columns, strict=True)])
        present = [any(values) for values in zip(*columns, strict=True)]
        self._rebuilt(list(compress(keys, present)), [list(compress(column, present)) for column in columns])

    def at(self, key: Key) -> Sums | None:
        """Return the sums of one key; None where it has no rows."""
        number = bisect_left(self._last, key)
        if number == len(self._last):
            return None
        block = self._blocks[number]
        place = bisect_left(block.keys, key)
        return tuple(column[place] for column in block.columns) if block.keys[place] == key else None

    def prefix(self, key: Key, *, is_inclusive: bool = True) -> Sums:
        """Return the sums of all keys below one, and its own where ``is_inclusive``."""
        return self.before((key, 1 if is_inclusive else 0))

    def before(self, cut: Cut) -> Sums:
        """Return the sums of all keys before a place."""
        number, place = self._find(cut)
        return tuple(self._before(index, number, place) for index in range(self._width))

    def before_in(self, index: int, cut: Cut) -> Any:
        """Return one column's sum of all keys before a place."""
        for mark in self._marks:
            if mark.key == cut[0] and mark.index == index:
                return mark.before + mark.own if cut[1] else mark.before
        return self._before(index, *self._find(cut))

    def between(self, low: Cut | None, high: Cut | None) -> Sums:
        """Return the sums between two places, None for an end; those the other way round, negated, where ``low`` is after ``high``."""
        if low is None and high is None:
            return tuple(self._totals)
        if low is None:
            return self.before(high)  # type: ignore[arg-type]
        first, begin = self._find(low)
        if high is None:
            return tuple([total - self._before(index, first, begin) for index, total in enumerate(self._totals)])
        second, end = self._find(high)
        if first == second and first < len(self._blocks):
            if begin <= end:
                return tuple([sum(column[begin:end]) for column in self._blocks[first].columns])
            return tuple([-sum(column[end:begin]) for column in self._blocks[first].columns])
        return tuple([self._before(index, second, end) - self._before(index, first, begin) for index in range(self._width)])

    def _find(self, cut: Cut) -> tuple[int, int]:
        key, is_after = cut
        number = (bisect_right if is_after else bisect_left)(self._last, key)
        if number == len(self._last):
            return number, 0
        return number, (bisect_right if is_after else bisect_left)(self._blocks[number].keys, key)

    def _before(self, index: int, number: int, place: int) -> Any:
        bundle = number // BUNDLE
        whole = sum(self._bundles[index][:bundle]) + sum(self._sums[index][bundle * BUNDLE : number])
        return whole + sum(self._blocks[number].columns[index][:place]) if place else whole

    def first_passing(self, index: int, threshold: Any, *, is_strict: bool) -> Key | None:
        """Return the first key up to which (with itself) the sum of a column is above a threshold, or at it where not ``is_strict``.

        None where no key's is. One descent from the bundles to a key.

        Raises:
            ValueError: a key has a negative sum in this column, so that sums up to keys do not grow.
        """
        if self.negatives[index]:
            raise ValueError("sums up to a key do not grow with the key: a key has a negative sum")
        for mark in self._marks:
            if mark.index == index and mark.passes(threshold, is_strict):
                return mark.key
        total = self._totals[index]
        if not self._blocks or (total <= threshold if is_strict else total < threshold):
            return None
        bundles, sums, begin, left = self._bundles[index], self._sums[index], 0, threshold
        if len(bundles) > 1:
            bundle, left = descended(bundles, 0, len(bundles), left, is_strict)
            begin = bundle * BUNDLE
        number, left = descended(sums, begin, min(begin + BUNDLE, len(sums)), left, is_strict)
        block = self._blocks[number]
        place, left = descended(block.columns[index], 0, len(block.keys), left, is_strict)
        remember(self._marks, Mark(index, block.keys[place], threshold - left, block.columns[index][place]))
        return block.keys[place]

    def first_where(self, holds: Callable[[Key], bool]) -> Key | None:
        """Return the first key for which a condition holds that holds for all keys after it too; None where it holds for none."""
        number = bisect_left(self._last, True, key=holds)
        if number == len(self._last):
            return None
        keys = self._blocks[number].keys
        return keys[bisect_left(keys, True, key=holds)]

    def first(self) -> Key | None:
        """Return the least key."""
        return self._blocks[0].keys[0] if self._blocks else None

    def last(self) -> Key | None:
        """Return the greatest key."""
        return self._last[-1] if self._last else None

    def keys_between(self, low: Cut, high: Cut, most: int) -> list[Key] | None:
        """Return the keys between two places, in their order; None where they are more than ``most``, or not near each other."""
        first, begin = self._find(low)
        second, end = self._find(high)
        if first == len(self._blocks):
            return []
        if first == second:
            return self._blocks[first].keys[begin:end] if end - begin <= most else None
        if second > first + 1:
            return None
        found = self._blocks[first].keys[begin:]
        if second < len(self._blocks):
            found += self._blocks[second].keys[:end]
        return found if len(found) <= most else None

    def items(self) -> Iterator[tuple[Key, Sums]]:
        """Return keys in their order, each with its sums."""
        return ((key, tuple(values)) for key, *values in self._entries())

    def _entries(self) -> Iterator[tuple[Any, ...]]:
        for block in self._blocks:
            yield from zip(block.keys, *block.columns, strict=True)

    def vectors(self) -> tuple[Column, ...]:
        """Return keys and columns as vectors: int64 where all fits, else Python's numbers; only changed blocks are read anew."""
        if not self._blocks:
            return tuple(np.zeros(0, dtype=np.int64) for _ in range(self._width + 1))
        for block in self._blocks:
            if not block.vectors:
                block.vectors = (vector(block.keys), *map(vector, block.columns))
        return tuple(np.concatenate(parts) for parts in zip(*(block.vectors for block in self._blocks), strict=True))
