"""Signed rows of a batch, read column by column: a batch of all rows of a table costs a pass over each column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from imp_driver.dataflow.nested.description import Row, Value
from imp_driver.dataflow.nested.keys import Key


@dataclass(frozen=True, slots=True)
class Batch:
    """What is read of some rows.

    Attributes:
        keys: what they are ordered by.
        columns: of numbers; those of changes of sums are signed.
        weights: how often each row comes, negative where it goes.
    """

    keys: Sequence[Key]
    columns: Sequence[Sequence[Any]]
    weights: Sequence[int]

    def at(self, places: Sequence[int]) -> Batch:
        """Return what is read of the rows at some places."""
        return Batch(_taken(self.keys, places), [_taken(each, places) for each in self.columns], _taken(self.weights, places))

    def present(self, *, needs_key: bool, labels: Sequence[Any] = ()) -> list[int] | None:
        """Return the places of the rows that have all numbers, a label, and a key where one is needed; None where all have."""
        read = [labels, *self.columns, *([self.keys] if needs_key else ())]
        if not any(None in column for column in read):
            return None
        nulls = {place for column in read for place, value in enumerate(column) if value is None}
        return [place for place in range(len(self.weights)) if place not in nulls]

    def by(self, labels: Sequence[Hashable]) -> Iterator[tuple[Any, Batch]]:
        """Return the rows of each label, given one for each row."""
        if len(set(labels)) == 1:
            yield labels[0], self
            return
        places = defaultdict[Hashable, list[int]](list)
        for place, label in enumerate(labels):
            places[label].append(place)
        for label, of_label in places.items():
            yield label, self.at(of_label)


def read(value: Value | None, rows: Sequence[Row], otherwise: Any = None) -> list[Any]:
    """Return a value of each row; ``otherwise`` where there is nothing to read."""
    return [otherwise] * len(rows) if value is None else list(map(value, rows))


def _taken(column: Sequence[Any], places: Sequence[int]) -> list[Any]:
    return [column[place] for place in places]
