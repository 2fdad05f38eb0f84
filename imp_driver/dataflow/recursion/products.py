"""Joins of many rows with many rows as products of matrices, for rules whose heads are two ends that have a middle in common (paths).

Where most rows that could be are there, each head has as many derivations as there are middles. A product of matrices of 0 and 1 has the
heads of them all for a fraction of a nanosecond each, since it uses all that a processor has.

Source: the product of Boolean matrices as the composition of relations (Munro: Efficient Determination of the Transitive Closure, 1971).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imp_driver.dataflow.recursion.dictionaries import NULL
from imp_driver.dataflow.recursion.equal_places import EqualPlaces
from imp_driver.dataflow.recursion.keys import ABSENT, GIVEN, Layout, LevelArray, distinct
from imp_driver.dataflow.recursion.recursive_rows import RecursiveRows
from imp_driver.dataflow.recursion.rules import Place
from imp_driver.values.codes import BooleanArray, IntegerArray

_MOST_BITS = 24
"""Of a matrix, whose cells have 4 bytes each."""
_FEW_KEYS, _CELLS_PER_KEY = 4_096, 256
"""From how many rows on, and up to how many cells for each, a product is faster than a look at each derivation."""
_PIECE = 1 << 20
"""Cells of a product that are had at once, so that it is faster than the memory that its factors are in."""

_Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A place at which a rule reads a relation, and the other place, where rows of a recursive relation are.

    Attributes:
        own, other: the columns of the middle.
        layout, other_layout, head_layout: of the two relations and the heads.
        rows: those of the other relation.
        is_first: whether the first column of heads is an end of the own relation.
    """

    own: int
    other: int
    layout: Layout
    other_layout: Layout
    head_layout: Layout
    rows: RecursiveRows
    is_first: bool

    def heads(self, keys: IntegerArray, level: int) -> Iterator[tuple[IntegerArray, int]] | None:
        """Return the heads of all bodies with rows of a level, with the level of the derivations, in pieces; None where it does not pay."""
        cells = self.rows.cells() if self._pays(len(keys)) else None
        return None if cells is None else self._heads(keys, level, cells)

    def lower(self, best: LevelArray, keys: IntegerArray, own_rows: RecursiveRows, below: int) -> bool:
        """Lower levels of heads to those of their derivations from rows of levels below some; return False where it does not pay.

        Args:
            best: levels of heads, which are changed.
            keys: of the heads, as many.
            own_rows: the rows of the own relation.
            below: ``ABSENT`` for rows of any levels.
        """
        mine, theirs = own_rows.cells(), self.rows.cells()
        if not self._pays(len(keys)) or mine is None or theirs is None:
            return False
        columns = self.head_layout.columns(keys)
        ends, other_ends = columns if self.is_first else columns[::-1]
        mine, theirs = self._from_ends(mine), self._to_ends(theirs)
        for level in self._levels(mine, theirs) if below == ABSENT else [below - 1]:
            left = (best > level + 1).nonzero()[0]
            partners = _matrix(theirs <= level)
            for part, factor in self._parts(distinct(ends[left]), _without_null(mine <= level)):
                here = left[(ends[left] >= part[0]) & (ends[left] <= part[-1])]
                is_found = (factor @ partners)[part.searchsorted(ends[here]), other_ends[here]] != 0
                best[here[is_found]] = level + 1
        return True

    def _heads(self, keys: IntegerArray, level: int, cells: LevelArray) -> Iterator[tuple[IntegerArray, int]]:
        columns = self.layout.columns(keys)
        mine = np.zeros((1 << self.layout.bits[1 - self.own], 1 << self.layout.bits[self.own]), dtype=np.bool_)
        mine[columns[1 - self.own], columns[self.own]] = True
        theirs = self._to_ends(cells)
        higher = [each for each in self._levels(theirs) if each > level]
        for other_level in higher if level == GIVEN else [level, *higher]:
            # All that is at no higher level gives derivations of the same level.
            partners = _matrix(theirs <= level if other_level == level else theirs == other_level)
            for part, factor in self._parts(distinct(columns[1 - self.own]), _without_null(mine)):
                places, other_ends = (factor @ partners).nonzero()
                both = part[places], other_ends
                yield self.head_layout.pack(both if self.is_first else both[::-1]), other_level + 1

    def _parts(self, ends: IntegerArray, matrix: BooleanArray) -> Iterator[tuple[IntegerArray, _Matrix]]:
        """Yield ends, which ascend, in pieces, and their rows of a matrix."""
        at_once = max(1, _PIECE >> self.other_layout.bits[1 - self.other])
        for begin in range(0, len(ends), at_once):
            part = ends[begin : begin + at_once]
            yield part, _matrix(matrix[part])

    def _pays(self, count: int) -> bool:
        return count >= _FEW_KEYS and count * _CELLS_PER_KEY >= 1 << self.layout.size

    def _from_ends(self, cells: LevelArray) -> LevelArray:
        """Return the levels of the own relation by end and middle."""
        found = cells.reshape(1 << self.layout.bits[0], 1 << self.layout.bits[1])
        return found if self.own == 1 else found.T

    def _to_ends(self, cells: LevelArray) -> LevelArray:
        """Return the levels of the other relation by middle and end."""
        found = cells.reshape(1 << self.other_layout.bits[0], 1 << self.other_layout.bits[1])
        return found if self.other == 0 else found.T

    def _levels(self, *tables: LevelArray) -> list[int]:
        """Return the levels at which there are rows, ascending."""
        found = np.zeros(ABSENT + 1, dtype=np.bool_)
        for levels in tables:
            found[levels] = True
        return found[:ABSENT].nonzero()[0].tolist()


def _matrix(cells: BooleanArray) -> _Matrix:
    return cells.astype(np.float32)


def _without_null(cells: BooleanArray) -> BooleanArray:
    """Return cells by end and middle, but for a middle that is NULL, which is equal to nothing."""
    cells[:, NULL] = False
    return cells


def product(places: EqualPlaces, read: int, layouts: tuple[Layout, Layout, Layout], rows: RecursiveRows) -> Product | None:
    """Return what multiplies a relation with the other one of a rule, None for a rule of another form.

    Args:
        places: the rule, of two relations.
        read: place of the first of the two.
        layouts: of this relation, of the other and of the heads.
        rows: of the other relation.
    """
    if [len(each.bits) for each in layouts] != [2, 2, 2] or len(places.classes) != 1 or layouts[0].size > _MOST_BITS:
        return None
    ends = {place.read: place.column for place in places.head}
    middles = {place.read: place.column for place in places.classes[0]}
    is_path = len(places.classes[0]) == 2 and len(ends) == len(middles) == 2 and all(ends[each] != middles[each] for each in ends)
    if not is_path:
        return None
    return Product(middles[read], middles[1 - read], *layouts, rows, places.head[0] == Place(read, ends[read]))
