"""Values of recursive relations as small numbers: columns that have values of each other share a dictionary, and no others do.

So the number 1 of one column is never taken for the TRUE of another, which Python has as equal, and a column of few values takes few bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.rules import Copied, Place, Rule
from imp_driver.values.codes import IntegerArray

NULL = 0
_UNKNOWN = -1


class NotVectorised(Exception):
    """A rule has another form than ``VectorLevels`` knows."""


class Dictionary:
    """Values and their codes 0, 1, 2 and so on, of which 0 is NULL."""

    def __init__(self, values: Iterable[object] = ()) -> None:
        self.values: list[object] = [None, *values]
        self._codes = {value: code for code, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values)

    def code(self, value: object) -> int | None:
        """Return the code of a value; None where it has none."""
        return self._codes.get(value)

    def add(self, values: Iterable[object]) -> list[int]:
        """Return the codes of values, of which new ones get the next code."""
        codes, known = self._codes, self.values
        found = []
        for value in values:
            code = codes.get(value)
            if code is None:
                code = codes[value] = len(known)
                known.append(value)
            found.append(code)
        return found

    def find(self, values: Iterable[object]) -> list[int]:
        """Return the codes of values, -1 where there is none."""
        codes = self._codes
        return [codes.get(value, _UNKNOWN) for value in values]

    def kept(self, codes: IntegerArray) -> tuple[Dictionary, IntegerArray]:
        """Return a dictionary of the values of some codes, ascending and without NULL, and the new codes by the old ones."""
        new_codes = np.zeros(len(self.values), dtype=np.int64)
        new_codes[codes] = np.arange(1, len(codes) + 1)
        return Dictionary(self.values[code] for code in codes.tolist()), new_codes


class Columns:
    """Which dictionary the columns of each relation have.

    Attributes:
        dictionaries: of all columns.
        of_relation: by relation and column, the number of its dictionary.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        widths = _widths(rules)
        groups = {(relation, column): (relation, column) for relation, width in widths.items() for column in range(width)}

        def first(column: tuple[int, int]) -> tuple[int, int]:
            while groups[column] != column:
                column = groups[column]
            return column

        for one, other in _shared(rules):
            groups[first(one)] = first(other)
        numbers = {group: number for number, group in enumerate(dict.fromkeys(map(first, groups)))}
        self.of_relation: Mapping[int, tuple[int, ...]] = {
            relation: tuple(numbers[first((relation, column))] for column in range(width)) for relation, width in widths.items()
        }
        self.dictionaries = [Dictionary() for _ in numbers]

    def add(self, relation: int, columns: Iterable[Iterable[object]]) -> list[IntegerArray]:
        """Return the codes of the values of each column, new ones too."""
        numbers = self.of_relation[relation]
        return [np.array(self.dictionaries[number].add(values), dtype=np.int64) for values, number in zip(columns, numbers, strict=True)]

    def find(self, relation: int, columns: Iterable[Iterable[object]]) -> list[IntegerArray]:
        """Return the codes of the values of each column, of those rows that have only known values."""
        numbers = self.of_relation[relation]
        found = np.array([self.dictionaries[number].find(values) for values, number in zip(columns, numbers, strict=True)], dtype=np.int64)
        return list(found[:, (found != _UNKNOWN).all(axis=0)])

    def rows(self, relation: int, columns: Sequence[IntegerArray]) -> list[Row]:
        """Return the rows of codes."""
        values = [self.dictionaries[number].values for number in self.of_relation[relation]]
        return list(zip(*([known[code] for code in codes.tolist()] for known, codes in zip(values, columns, strict=True)), strict=True))


def _widths(rules: Sequence[Rule]) -> dict[int, int]:
    """Return how many columns each relation has."""
    found: dict[int, int] = {}
    for rule in rules:
        found.update(zip(rule.reads, rule.widths, strict=True))
        found[rule.head] = len(head_places(rule))
    return dict(sorted(found.items()))


def _shared(rules: Sequence[Rule]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the columns, each as relation and column, that have values of each other."""
    found = []
    for rule in rules:
        found += [((rule.reads[one.read], one.column), (rule.reads[other.read], other.column)) for one, other in rule.equalities]
        found += [((rule.head, column), (rule.reads[place.read], place.column)) for column, place in enumerate(head_places(rule))]
    return found


def head_places(rule: Rule) -> list[Place]:
    """Return the places whose values the columns of a rule's head have. Raises NotVectorised."""
    if not isinstance(rule.heads, Copied):
        raise NotVectorised("a rule computes its head")
    places = [Place(read, column) for read, width in enumerate(rule.widths) for column in range(width)]
    return [places[place] for place in rule.heads.places]
