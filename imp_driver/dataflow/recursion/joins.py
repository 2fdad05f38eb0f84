"""Rules over keys, in both directions: the heads that follow from rows of one relation, and the derivations that heads have.

Both come in pieces, so that what they need of memory does not grow with what they find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from imp_driver.dataflow.recursion.coded_rows import Found, GivenRows, Index
from imp_driver.dataflow.recursion.equal_places import EqualPlaces
from imp_driver.dataflow.recursion.keys import ABSENT, PIECE, Condition, Layout, LevelArray, Source, projection
from imp_driver.dataflow.recursion.products import Product, product
from imp_driver.dataflow.recursion.recursive_rows import RecursiveRows
from imp_driver.values.codes import BooleanArray, IntegerArray

_MANY, _MANY_PER_HEAD = 1 << 16, 16
"""Derivations, of all heads and of each of them, from which on it is worth to see whether there is a shorter way to them."""


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """The rows of all relations, by number, and the layouts of their keys."""

    layouts: Mapping[int, Layout]
    given: Mapping[int, GivenRows]
    made: Mapping[int, RecursiveRows]

    def rows(self, relation: int) -> GivenRows | RecursiveRows:
        return self.made[relation] if relation in self.made else self.given[relation]


class _LookUp:
    """Rows of one relation of a body, found by columns that are known from other keys."""

    def __init__(
        self, places: EqualPlaces, read: int, relations: Relations, *, known: Mapping[int, Source], layouts: Sequence[Layout]
    ) -> None:
        """Take the known columns, each with its place in other keys, and the layouts of these."""
        relation = places.rule.reads[read]
        layout, columns = relations.layouts[relation], sorted(known)
        self._index = Index(layout, columns)
        self._rows = relations.rows(relation)
        if isinstance(self._rows, RecursiveRows):
            self._rows.expect(self._index)
        self._prefix = projection(layouts, [known[column] for column in columns], self._index.prefix.shifts)
        self._condition = Condition(layout, *places.unchecked(read, known.keys()))

    def find(self, *keys: IntegerArray, below: int = ABSENT, best: LevelArray | None = None) -> Iterator[Found]:
        """Yield the rows of a level below some that meet other keys, of which all are as long; ``best`` as in ``RecursiveRows.find``."""
        for found in self._rows.find(self._index, self._prefix(*keys), below, best):
            met = self._condition.met(found.keys)
            if met is None:
                yield found
            else:
                yield Found(found.queries[met], found.keys[met], found.levels if isinstance(found.levels, int) else found.levels[met])

    def counts(self, *keys: IntegerArray) -> IntegerArray:
        """Return how many rows are looked at for each of other keys."""
        return self._rows.counts(self._index, self._prefix(*keys))


class Forward:
    """A place at which a rule reads a relation.

    Attributes:
        head: number of the relation that the rule adds rows to.
    """

    def __init__(self, places: EqualPlaces, read: int, relations: Relations) -> None:
        rule = places.rule
        self.head = rule.head
        layouts = [relations.layouts[relation] for relation in rule.reads]
        self._condition = Condition(layouts[read], *places.unchecked(read))
        self._other: _LookUp | None = None
        self._product: Product | None = None
        if len(rule.reads) == 2:
            self._product = _product(places, read, relations)
            known = {column: Source(0, own) for column, own in places.shared(read).items()}
            self._other = _LookUp(places, 1 - read, relations, known=known, layouts=[layouts[read]])
            layouts = [layouts[read], layouts[1 - read]]
        sources = [Source(int(place.read != read), place.column) for place in places.head]
        self._heads = projection(layouts, sources, relations.layouts[rule.head].shifts)

    def heads(self, keys: IntegerArray, level: int) -> Iterator[tuple[IntegerArray, LevelArray | int]]:
        """Yield the heads of all bodies with rows of a level, and the level of each derivation, or of all."""
        multiplied = None if self._product is None else self._product.heads(keys, level)
        if multiplied is not None:
            yield from multiplied
            return
        for begin in range(0, len(keys), PIECE):
            part = keys[begin : begin + PIECE]
            met = self._condition.met(part)
            if met is not None:
                part = part[met]
            if self._other is None:
                yield self._heads(part), level + 1
                continue
            for found in self._other.find(part):
                heads = self._heads(part[found.queries], found.keys)
                yield heads, level + 1 if isinstance(found.levels, int) else np.maximum(found.levels, np.int16(level)) + np.int16(1)


class _Plan:
    """An order of the relations of a rule in which rows of each are found by what heads, and rows of the one before, have."""

    def __init__(self, places: EqualPlaces, first: int, relations: Relations) -> None:
        rule = places.rule
        layout = relations.layouts[rule.head]
        known = {column: Source(0, own) for column, own in places.known(first).items()}
        self._first = _LookUp(places, first, relations, known=known, layouts=[layout])
        self._second: _LookUp | None = None
        if len(rule.reads) == 2:
            known = {column: Source(1, own) for column, own in places.shared(first).items()}
            known |= {column: Source(0, own) for column, own in places.known(1 - first).items()}
            self._second = _LookUp(places, 1 - first, relations, known=known, layouts=[layout, relations.layouts[rule.reads[first]]])

    def counts(self, keys: IntegerArray) -> IntegerArray:
        """Return how many derivations are looked at for each head."""
        return self._first.counts(keys)

    def lower(self, best: LevelArray, keys: IntegerArray, below: int) -> None:
        for found in self._first.find(keys, below=below, best=best if below < ABSENT else None):
            if self._second is None:
                np.minimum.at(best, found.queries, np.asarray(found.levels, dtype=np.int16) + np.int16(1))
                continue
            for other in self._second.find(keys[found.queries], found.keys, below=below):
                first = found.levels if isinstance(found.levels, int) else found.levels[other.queries]
                highest = np.maximum(first, np.asarray(other.levels, dtype=np.int16))
                np.minimum.at(best, found.queries[other.queries], highest + np.int16(1))


class Backward:
    """A rule that is asked for the derivations of heads.

    Attributes:
        head: number of the relation that the rule adds rows to.
        is_base: whether it reads given relations alone.
    """

    def __init__(self, places: EqualPlaces, relations: Relations) -> None:
        rule = places.rule
        self.head = rule.head
        self.is_base = all(read in relations.given for read in rule.reads)
        self._condition = Condition(relations.layouts[rule.head], places.equal_in_head(), places.not_null_in_head())
        self._plans = [_Plan(places, first, relations) for first in _firsts(places, relations)]
        self._product: tuple[RecursiveRows, Product] | None = None
        if len(rule.reads) == 2:
            rows, found = relations.rows(rule.reads[0]), _product(places, 0, relations)
            if isinstance(rows, RecursiveRows) and found is not None:
                self._product = rows, found

    def lower(self, best: LevelArray, keys: IntegerArray, below: int = ABSENT) -> None:
        """Lower levels of heads to those of their derivations, as far as these rest on rows of levels below some.

        Where there is such a level, a head has one derivation looked for, not the best of all.
        """
        met = self._condition.met(keys)
        if met is None:
            self._lower(best, keys, below)
            return
        some = best[met]
        self._lower(some, keys[met], below)
        best[met] = some

    def _lower(self, best: LevelArray, keys: IntegerArray, below: int) -> None:
        if self._product is not None:
            rows, product = self._product
            if product.lower(best, keys, rows, below):
                return
        is_more = self._is_more(keys)
        if is_more is None:
            self._plans[0].lower(best, keys, below)
            return
        for plan, is_here in zip(self._plans, (~is_more, is_more), strict=True):
            some = best[is_here]
            plan.lower(some, keys[is_here], below)
            best[is_here] = some

    def _is_more(self, keys: IntegerArray) -> BooleanArray | None:
        """Return which heads, such as those of the hubs of a graph, have more to look at by the first plan than by the second.

        None where there is one plan, or the first one has not much to look at.
        """
        if len(self._plans) == 1:
            return None
        first, second = self._plans
        counts = first.counts(keys)
        if counts.sum() <= max(_MANY, _MANY_PER_HEAD * len(keys)):
            return None
        found: BooleanArray = counts > second.counts(keys)
        return found


def _firsts(places: EqualPlaces, relations: Relations) -> list[int]:
    """Return relations of a body in which rows are found by a head, the better one first: few rows, and then at best one of the other."""
    reads, widths = places.rule.reads, places.rule.widths
    if len(reads) == 1:
        return [0]

    def is_whole(first: int) -> bool:
        return len(places.shared(first).keys() | places.known(1 - first).keys()) == widths[1 - first]

    def worth(first: int) -> tuple[bool, bool, int]:
        return is_whole(first), reads[first] in relations.given, len(places.known(first)) - widths[first]

    found = sorted([read for read in range(2) if places.known(read)], key=worth, reverse=True)
    return found[:1] + [each for each in found[1:] if is_whole(each)]


def _product(places: EqualPlaces, read: int, relations: Relations) -> Product | None:
    """Return what multiplies a relation with the other one of a rule; None where that is given or the rule is of another form."""
    rule = places.rule
    other = relations.rows(rule.reads[1 - read])
    layouts = relations.layouts[rule.reads[read]], relations.layouts[rule.reads[1 - read]], relations.layouts[rule.head]
    return product(places, read, layouts, other) if isinstance(other, RecursiveRows) else None
