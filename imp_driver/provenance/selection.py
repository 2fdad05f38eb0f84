"""Aggregate selection over streams with deletions (algorithm 4 of the paper), mended.

A row goes on only while it is best in its group for at least one of several minima and maxima. All rows stay here, so that the next best
one goes on when the best is gone. Of rows that are equally good all go on: a view that joins rows with their minimum has each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.errors import NotSupportedError
from imp_driver.provenance.annotations import Annotations
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.sizes import row_bytes
from imp_driver.provenance.updates import Kind, Update


class AggregateName(StrEnum):
    MIN = "min"
    MAX = "max"
    COUNT = "count"
    SUM = "sum"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A minimum or maximum over a column; NULL is never best."""

    name: AggregateName
    column: int

    def is_better(self, row: Row, other: Row) -> bool:
        one: Any = row[self.column]
        another: Any = other[self.column]
        return bool(one < another) if self.name is AggregateName.MIN else bool(one > another)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """The rows of a group, and for each aggregate those that are best (the paper's H and B)."""

    rows: dict[Row, None] = field(default_factory=dict)
    best: tuple[dict[Row, None], ...] = ()

    def has_best(self, row: Row) -> bool:
        return any(row in rows for rows in self.best)


class AggregateSelection:
    """Lets the best rows of each group through.

    Args:
        group: columns whose values make a group.
        aggregates: at least one; a row goes on that is best for any.

    Raises:
        NotSupportedError: COUNT or SUM, for which no row is better than another.
    """

    def __init__(self, diagrams: Diagrams, group: tuple[int, ...], aggregates: tuple[Aggregate, ...]) -> None:
        for aggregate in aggregates:
            if aggregate.name not in (AggregateName.MIN, AggregateName.MAX):
                raise NotSupportedError(f"No row is better than another for {aggregate.name}: only min and max can select rows.")
        self._diagrams = diagrams
        self._columns = group
        self._aggregates = aggregates
        self._annotations: Annotations[Row] = Annotations(diagrams)
        self._groups: dict[Row, _Group] = {}

    def process(self, update: Update) -> Sequence[Update]:
        """Take an insertion, and return it if its row is among the best, after retractions of rows that are not any more."""
        row = update.row
        is_known = row in self._annotations
        if self._diagrams.is_false(self._annotations.absorb(row, update.provenance)):
            return ()
        group = self._group(row)
        superseded = {} if is_known else dict.fromkeys(self._enter(group, row))
        retracted = [Update(Kind.RETRACT, each, self._diagrams.false) for each in superseded if not group.has_best(each)]
        return [*retracted, update] if group.has_best(row) else retracted

    def forget(self, variables: frozenset[int]) -> Sequence[Update]:
        """Make variables false, and return insertions of the rows that are best now and were not before, with all they have."""
        left: dict[Row, dict[Row, None]] = {}
        for each in self._annotations.restrict(variables):
            if self._diagrams.is_false(each.after):
                left.setdefault(self._key(each.key), {})[each.key] = None
        promoted: dict[Row, None] = {}
        for key, rows in left.items():
            promoted.update(dict.fromkeys(self._leave(key, rows)))
        return [Update(Kind.INSERT, row, self._annotations[row]) for row in promoted]

    @property
    def state_bytes(self) -> int:
        return self._annotations.bytes(row_bytes)

    def _key(self, row: Row) -> Row:
        return tuple([row[column] for column in self._columns])

    def _group(self, row: Row) -> _Group:
        key = self._key(row)
        found = self._groups.get(key)
        if found is None:
            found = self._groups[key] = _Group(best=tuple({} for _ in self._aggregates))
        return found

    def _enter(self, group: _Group, row: Row) -> Iterator[Row]:
        """Add a row to its group, and yield those than which it is better for some aggregate."""
        group.rows[row] = None
        for aggregate, best in zip(self._aggregates, group.best, strict=True):
            if row[aggregate.column] is None:
                continue
            first = next(iter(best), None)
            if first is not None and aggregate.is_better(row, first):
                yield from list(best)
                best.clear()
            if first is None or not aggregate.is_better(first, row):
                best[row] = None

    def _leave(self, key: Row, rows: dict[Row, None]) -> Iterator[Row]:
        """Take rows out of their group, and yield those that are best in their place."""
        group = self._groups[key]
        before = {row: None for best in group.best for row in best}
        for row in rows:
            del group.rows[row]
        if not group.rows:
            del self._groups[key]
            return
        for aggregate, best in zip(self._aggregates, group.best, strict=True):
            for row in rows:
                best.pop(row, None)
            if not best:
                best.update(dict.fromkeys(_best(aggregate, group.rows)))
        yield from (row for each in group.best for row in each if row not in before)


def _best(aggregate: Aggregate, rows: dict[Row, None]) -> Sequence[Row]:
    """Return all rows of some than which none is better."""
    best: list[Row] = []
    for row in rows:
        if row[aggregate.column] is None:
            continue
        if best and aggregate.is_better(row, best[0]):
            best = []
        if not best or not aggregate.is_better(best[0], row):
            best.append(row)
    return best


Selecting = Callable[[Diagrams], AggregateSelection]
"""What makes a selection for one operator at one node."""
