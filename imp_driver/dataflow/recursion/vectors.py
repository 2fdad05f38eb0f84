"""Recursive relations of many rows, which follow their tables: what ``Levels`` does row by row, here for arrays of keys.

It has the rows of ``Levels`` at the same levels, for rules whose heads are copies of columns, of one relation or of two that have values
in common. Each value has a code, each row is one number (``keys``), and what is kept of it is its level alone, in two bytes for each row
that there could be (``cell_rows``) or some forty for each that there is (``hashed_rows``). How changes are followed is in ``settling``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from imp_driver.dataflow.recursion.coded_rows import GivenRows
from imp_driver.dataflow.recursion.dictionaries import NULL, Columns
from imp_driver.dataflow.recursion.equal_places import EqualPlaces
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.joins import Relations
from imp_driver.dataflow.recursion.keys import ABSENT, Layout, contains, distinct
from imp_driver.dataflow.recursion.levels import MOST_LEVELS, MOST_ROWS, RowChanges
from imp_driver.dataflow.recursion.recursive_rows import RecursiveRows
from imp_driver.dataflow.recursion.rules import Rule
from imp_driver.dataflow.recursion.settling import KeyChanges, Settling
from imp_driver.values.codes import IntegerArray

_NO_KEYS = np.empty(0, dtype=np.int64)
_MOST_FILLED = 0.75
"""Part of the codes of a column that may be in use when the values that are gone leave their codes to others."""

_Codes: TypeAlias = Mapping[int, Sequence[IntegerArray]]
"""By relation, the codes of the columns of some rows."""


class VectorLevels:
    """Recursive relations under rules; all other relations that these read are given.

    Attributes:
        generation: other than before, when keys stand for other rows than before.
    """

    def __init__(self, rules: Sequence[Rule], *, most_rows: int = MOST_ROWS, most_levels: int = MOST_LEVELS) -> None:
        """Raises NotVectorised."""
        assert most_levels < ABSENT
        self._places = [EqualPlaces.of(rule) for rule in rules]
        self._columns = Columns(rules)
        self._most_rows, self._most_levels = most_rows, most_levels
        self._made = sorted({rule.head for rule in rules})
        self._bits = [1] * len(self._columns.dictionaries)
        self._touched = 0
        self.generation = 0
        layouts = self._layouts()
        given = {relation: GivenRows(_NO_KEYS) for relation in layouts if relation not in self._made}
        self._relations = Relations(layouts, given, {relation: RecursiveRows(layouts[relation]) for relation in self._made})
        self._settling = self._settle_over(self._relations)

    def rows(self, relation: int) -> Collection[Row]:
        """Return the rows of a recursive relation, made for the call."""
        return self.rows_of(relation, self.keys(relation))

    def level(self, relation: int, row: Row) -> int | None:
        """Return the level of a row of a recursive relation; None for one that is not there."""
        key = self._relations.layouts[relation].pack(self._columns.find(relation, [[value] for value in row]))
        found = self._relations.made[relation].levels(key)
        return int(found[0]) if len(found) and found[0] != ABSENT else None

    @property
    def touched(self) -> int:
        """How many derivations were looked at."""
        return self._touched + self._settling.touched

    @property
    def memory(self) -> int:
        """Bytes, but for those of the values."""
        given, made = self._relations.given.values(), self._relations.made.values()
        return sum(each.memory for each in given) + sum(each.memory for each in made)

    def keys(self, relation: int) -> IntegerArray:
        """Return the keys of the rows of a recursive relation, ascending."""
        return self._relations.made[relation].items()[0]

    def codes(self, relation: int, keys: IntegerArray) -> list[IntegerArray]:
        """Return the codes of each column of rows, each as long as ``keys``."""
        return self._relations.layouts[relation].columns(keys)

    def values(self, relation: int, column: int) -> Sequence[object]:
        """Return the values of a column by their codes, NULL first; more follow in the same generation, and none change."""
        return self._columns.dictionaries[self._columns.of_relation[relation][column]].values

    def rows_of(self, relation: int, keys: IntegerArray) -> list[Row]:
        """Return rows as Python values."""
        return self._columns.rows(relation, self.codes(relation, keys))

    def apply(self, changes: Mapping[int, RowChanges]) -> Mapping[int, KeyChanges]:
        """Change given relations, and return what changed of the recursive ones, under the keys of the generation that is then.

        Raises:
            Endless, NotPacked: it cannot be followed; the object is of no use afterwards.
        """
        known = {relation: change for relation, change in changes.items() if relation in self._relations.given}
        removed = {
            relation: self._columns.find(relation, zip(*each.removed, strict=True)) for relation, each in known.items() if each.removed
        }
        added = {relation: self._columns.add(relation, zip(*each.added, strict=True)) for relation, each in known.items() if each.added}
        away, put = self._packed(removed, added)
        for relation in away.keys() & put.keys():
            # What is removed and added is there in the end.
            away[relation] = np.setdiff1d(away[relation], put[relation], assume_unique=True)
        given = self._relations.given
        away = {relation: keys[contains(given[relation].keys, keys)] for relation, keys in away.items()}
        put = {relation: keys[~contains(given[relation].keys, keys)] for relation, keys in put.items()}
        return self._settling.change(away, put)

    def replace(self, columns: Mapping[int, Sequence[Sequence[object]]]) -> Mapping[int, KeyChanges]:
        """Have given relations with these columns of rows, which may repeat, in the place of what they had; else as ``apply``."""
        given = {relation: self._columns.add(relation, values) for relation, values in columns.items() if relation in self._relations.given}
        _, put = self._packed({}, given)
        before = {relation: self._relations.given[relation].keys for relation in put}
        away = {relation: keys[~contains(put[relation], keys)] for relation, keys in before.items()}
        return self._settling.change(away, {relation: keys[~contains(before[relation], keys)] for relation, keys in put.items()})

    def _packed(self, removed: _Codes, added: _Codes) -> tuple[dict[int, IntegerArray], dict[int, IntegerArray]]:
        """Return the keys of rows, ascending, each once."""
        if any(len(dictionary) > 1 << bits for dictionary, bits in zip(self._columns.dictionaries, self._bits, strict=True)):
            removed, added = self._widened(removed, added)
        layouts = self._relations.layouts
        return (
            {relation: distinct(layouts[relation].pack(codes)) for relation, codes in removed.items()},
            {relation: distinct(layouts[relation].pack(codes)) for relation, codes in added.items()},
        )

    def _layouts(self) -> dict[int, Layout]:
        return {relation: Layout(tuple(self._bits[each] for each in numbers)) for relation, numbers in self._columns.of_relation.items()}

    def _settle_over(self, relations: Relations) -> Settling:
        return Settling(self._places, relations, most_rows=self._most_rows, most_levels=self._most_levels)

    def _widened(self, removed: _Codes, added: _Codes) -> tuple[_Codes, _Codes]:
        """Have room for all codes, and return the codes of some rows as they are then."""
        new_codes = {
            number: self._with_room(number, [removed, added])
            for number, dictionary in enumerate(self._columns.dictionaries)
            if len(dictionary) > 1 << self._bits[number]
        }

        def moved(relation: int, codes: Sequence[IntegerArray]) -> list[IntegerArray]:
            numbers = self._columns.of_relation[relation]
            return [each if (new := new_codes.get(number)) is None else new[each] for each, number in zip(codes, numbers, strict=True)]

        before, layouts = self._relations, self._layouts()
        given = {
            relation: GivenRows(np.sort(layouts[relation].pack(moved(relation, self.codes(relation, rows.keys)))))
            for relation, rows in before.given.items()
        }
        self._touched += self._settling.touched
        self._relations = Relations(layouts, given, {relation: RecursiveRows(layouts[relation]) for relation in self._made})
        self._settling = self._settle_over(self._relations)
        for relation, rows in before.made.items():
            keys, levels = rows.items()
            codes = moved(relation, before.layouts[relation].columns(keys))
            self._relations.made[relation].fill(layouts[relation].pack(codes), levels)
        self.generation += 1
        return (
            {relation: moved(relation, codes) for relation, codes in removed.items()},
            {relation: moved(relation, codes) for relation, codes in added.items()},
        )

    def _with_room(self, number: int, rows: Sequence[_Codes]) -> IntegerArray | None:
        """Have room in a dictionary, at best by values that are gone: return the new codes by the old ones, None where they stay."""
        given = {relation: self.codes(relation, each.keys) for relation, each in self._relations.given.items()}
        parts = [
            codes
            for some in (given, *rows)
            for relation, columns in some.items()
            for each, codes in zip(self._columns.of_relation[relation], columns, strict=True)
            if each == number
        ]
        living = distinct(np.concatenate(parts))
        living = living[living != NULL]
        if len(living) < _MOST_FILLED * (1 << self._bits[number]):
            self._columns.dictionaries[number], new_codes = self._columns.dictionaries[number].kept(living)
            return new_codes
        self._bits[number] = (len(self._columns.dictionaries[number]) - 1).bit_length()
        return None
