"""Rules of a recursion: a head that follows from one row of each relation in a body (Datalog).

A derivation is one choice of rows of the body that meet; a row of a recursive relation is there as long as it has one that does not need
the row itself. Relations are numbered, recursive ones and others alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import itemgetter
from typing import TypeAlias

from imp_driver.dataflow.recursion.facts import Facts, Row

Body: TypeAlias = tuple[Row, ...]
"""One row of each relation that a rule reads, in the order of ``Rule.reads``."""
Heads: TypeAlias = Callable[[Sequence[Row]], Sequence[Row | None]]
"""Bodies, each as the values of all its rows one after the other -> what follows from each, or None where a condition is not met."""


@dataclass(frozen=True, slots=True)
class Place:
    """A column of one relation of a body."""

    read: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class _Visit:
    """The next relation of a body to look into, and what is known then of its columns.

    Attributes:
        is_before: whether it is the relation of the first row, at a place before that, where this row may not stand as well.
        is_checked: whether a row that is found can still be none.
        others: columns that are equal to one more place than to that by which they are looked up.
    """

    read: int
    columns: tuple[int, ...]
    known: tuple[Place, ...]
    is_before: bool
    is_checked: bool
    others: tuple[tuple[int, Place], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """``head`` follows from rows of ``reads`` that are equal where ``equalities`` say so.

    Attributes:
        head: number of the relation that it adds rows to.
        reads: numbers of the relations of the body, which may be one several times.
        widths: how many columns each of these has.
        equalities: pairs of places with the same value; NULL is the same as nothing.
        heads: what follows from bodies.
    """

    head: int
    reads: tuple[int, ...]
    widths: tuple[int, ...]
    equalities: tuple[tuple[Place, Place], ...]
    heads: Heads
    _visits: dict[int, tuple[_Visit, ...]] = field(default_factory=dict)
    _own: tuple[bool, ...] = ()
    _begins: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        own = tuple(any(one.read == read == other.read for one, other in self.equalities) for read in range(len(self.reads)))
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_begins", tuple(accumulate(self.widths, initial=0))[:-1])

    def joined(self, facts: Sequence[Facts], read: int, row: Row) -> list[Row]:
        """Return the bodies that have a row at a place and at no place before it, over all rows of ``facts``, the row among them.

        Taken at every place that reads its relation, each derivation with this row comes once. A body is the values of all its rows.
        """
        visits = self._order(read)
        if self._own[read] and not self._meets_itself(read, row):
            return []
        if len(visits) == 1 and not visits[0].is_checked:
            # By far the most frequent form.
            visit = visits[0]
            others = facts[self.reads[visit.read]].matching(visit.columns, [row[place.column] for place in visit.known])
            return [other + row for other in others] if visit.read < read else [row + other for other in others]
        bodies = [((),) * read + (row,) + ((),) * (len(self.reads) - read - 1)]
        for visit in visits:
            bodies = [longer for body in bodies for longer in self._longer(facts, body, visit, row)]
        return [tuple([value for part in body for value in part]) for body in bodies]

    def pairing(self, facts: Sequence[Facts], read: int) -> Callable[[Row], list[Row]] | None:
        """Return what gives the heads of the bodies with a row at once: of two relations, for heads of one value of each (graphs).

        None for any other rule.
        """
        visits, heads = self._order(read), self.heads
        if not isinstance(heads, Copied) or len(heads.places) != 2 or self._own[read] or len(visits) != 1 or visits[0].is_checked:
            return None
        visit, begin = visits[0], self._begins[read]
        is_own = [begin <= place < begin + self.widths[read] for place in heads.places]
        if is_own[0] == is_own[1] or not visit.columns:
            return None
        index, known = facts[self.reads[visit.read]].index(visit.columns), [place.column for place in visit.known]
        own, other = heads.places if is_own[0] else heads.places[::-1]
        own, other = own - begin, other - self._begins[visit.read]
        if is_own[0]:
            return lambda row: [(row[own], each[other]) for each in index.get(tuple([row[column] for column in known]), ())]
        return lambda row: [(each[other], row[own]) for each in index.get(tuple([row[column] for column in known]), ())]

    def rows_of(self, body: Row) -> Body:
        """Return the rows of a body."""
        return tuple([body[begin : begin + width] for begin, width in zip(self._begins, self.widths, strict=True)])

    def bodies(self, facts: Sequence[Facts], read: int, row: Row) -> Iterator[Body]:
        """Yield what ``joined`` returns, row by row."""
        return map(self.rows_of, self.joined(facts, read, row))

    def follow(self, bodies: Sequence[Body]) -> Sequence[Row | None]:
        """Return what follows from each body."""
        return self.heads([tuple([value for row in body for value in row]) for body in bodies])

    def _longer(self, facts: Sequence[Facts], body: Body, visit: _Visit, row: Row) -> Iterator[Body]:
        """Yield a body with each row that meets those that it has."""
        for other in facts[self.reads[visit.read]].matching(visit.columns, [body[place.read][place.column] for place in visit.known]):
            if visit.is_before and other == row:
                continue
            if all(other[column] == body[place.read][place.column] for column, place in visit.others) and (
                not self._own[visit.read] or self._meets_itself(visit.read, other)
            ):
                yield (*body[: visit.read], other, *body[visit.read + 1 :])

    def _meets_itself(self, read: int, row: Row) -> bool:
        """Say whether columns of one row that are to be equal are so."""
        return all(
            row[one.column] is not None and row[one.column] == row[other.column]
            for one, other in self.equalities
            if one.read == read == other.read
        )

    def _order(self, first: int) -> tuple[_Visit, ...]:
        """Return an order of the other relations in which each is looked up by what is known, as far as equalities go."""
        known = self._visits.get(first)
        if known is None:
            known = self._visits[first] = tuple(self._visit_all(first))
        return known

    def _visit_all(self, first: int) -> Iterator[_Visit]:
        visited, left = {first}, set(range(len(self.reads))) - {first}
        while left:
            visits = [self._visit(read, visited, first) for read in sorted(left)]
            best = max(visits, key=lambda visit: len(visit.columns))
            yield best
            visited.add(best.read)
            left.remove(best.read)

    def _visit(self, read: int, visited: set[int], first: int) -> _Visit:
        found: dict[int, Place] = {}
        others: list[tuple[int, Place]] = []
        for sides in self.equalities:
            for one, other in (sides, sides[::-1]):
                if one.read == read and other.read in visited and found.setdefault(one.column, other) != other:
                    others.append((one.column, other))
        columns = tuple(sorted(found))
        is_before = read < first and self.reads[read] == self.reads[first]
        is_checked = is_before or self._own[read] or bool(others)
        return _Visit(read, columns, tuple(found[column] for column in columns), is_before, is_checked, tuple(others))


class Copied:
    """Heads that have values of the body, by their places in it."""

    def __init__(self, places: Sequence[int]) -> None:
        self.places = tuple(places)
        # Of one place it is a slice, by which a tuple is had as well.
        self._take = itemgetter(*places) if len(places) > 1 else itemgetter(slice(places[0], places[0] + 1))

    def __call__(self, bodies: Sequence[Row]) -> list[Row]:
        return list(map(self._take, bodies))


def copied(places: Sequence[int]) -> Heads:
    """Return heads that have values of the body, by their places in it."""
    return Copied(places)
