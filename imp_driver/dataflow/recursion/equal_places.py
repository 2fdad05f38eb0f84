"""Rules of copied columns: which columns of their bodies are equal, and so which are known when others are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from imp_driver.dataflow.recursion.dictionaries import NotVectorised, head_places
from imp_driver.dataflow.recursion.rules import Place, Rule


@dataclass(frozen=True, slots=True, eq=False)
class EqualPlaces:
    """A rule of one relation, or of two that have values in common.

    Attributes:
        rule: as it was given.
        head: the places that the columns of its head are copied from.
        classes: places that are equal and not NULL.
    """

    rule: Rule
    head: tuple[Place, ...]
    classes: tuple[frozenset[Place], ...]

    @classmethod
    def of(cls, rule: Rule) -> EqualPlaces:
        """Raises NotVectorised."""
        found = cls(rule, tuple(head_places(rule)), tuple(_classes(rule.equalities)))
        if len(rule.reads) > 2 or (len(rule.reads) == 2 and not found.shared(0)):
            raise NotVectorised("a rule reads more than two relations, or two that have no values in common")
        return found

    def shared(self, read: int) -> dict[int, int]:
        """Return columns of the other relation with a column of this one that each is equal to."""
        found = {}
        for each in self.classes:
            own, other = _columns(each, read), _columns(each, 1 - read)
            if own:
                found.update(dict.fromkeys(other, own[0]))
        return found

    def unchecked(self, read: int, known: AbstractSet[int] = frozenset()) -> tuple[list[tuple[int, int]], list[int]]:
        """Return pairs of columns of a relation that have to be equal, and columns that may not be NULL, but for what known columns are."""
        found = [columns for each in self.classes if (columns := _columns(each, read)) and known.isdisjoint(columns)]
        return [pair for columns in found for pair in _pairs(columns)], [columns[0] for columns in found]

    def known(self, read: int) -> dict[int, int]:
        """Return columns of a relation with a column of the head that each is equal to."""
        found: dict[int, int] = {}
        for column, place in enumerate(self.head):
            for each in self._equal(place):
                if each.read == read:
                    found.setdefault(each.column, column)
        return found

    def equal_in_head(self) -> list[tuple[int, int]]:
        """Return pairs of columns that are equal in each head."""
        by_places: dict[frozenset[Place], list[int]] = {}
        for column, place in enumerate(self.head):
            by_places.setdefault(self._equal(place), []).append(column)
        return [pair for columns in by_places.values() for pair in _pairs(columns)]

    def not_null_in_head(self) -> list[int]:
        """Return columns that are NULL in no head."""
        return [column for column, place in enumerate(self.head) if any(place in each for each in self.classes)]

    def _equal(self, place: Place) -> frozenset[Place]:
        return next((each for each in self.classes if place in each), frozenset({place}))


def _columns(places: Iterable[Place], read: int) -> list[int]:
    return sorted(place.column for place in places if place.read == read)


def _pairs(columns: Sequence[int]) -> list[tuple[int, int]]:
    return [(columns[0], column) for column in columns[1:]]


def _classes(equalities: Iterable[tuple[Place, Place]]) -> list[frozenset[Place]]:
    found: list[frozenset[Place]] = []
    for sides in equalities:
        joined = frozenset(sides).union(*(each for each in found if not each.isdisjoint(sides)))
        found = [each for each in found if each.isdisjoint(sides)] + [joined]
    return found
