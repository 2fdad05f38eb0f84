"""Aggregate selection: of a recursive relation only the rows that are best of their group are followed (paper Algorithm 4).

Source: Liu, Taylor, Zhou, Ives, Loo: Recursive Computation of Regions and Connectivity in Networks, section 6. It makes the paths of a
graph with cycles finitely many. A row is followed while it has one of the ``most`` best different measures that its group's rows have.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from imp_driver.dataflow.recursion.facts import Row

Key: TypeAlias = tuple[Any, ...]
"""A measure in an order in which less is better."""
_NAN, _NULL, _NULL_FIRST = (1,), (2,), (-2,)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows of a relation are best.

    Attributes:
        group: columns whose values a group has in common.
        measure: the column that is compared, of numbers, days or times; for the least also of texts.
        greatest: whether more is better; as an aggregate knows them, NaN is more than any number, and NULL is the last resort.
        nulls_first: whether NULL is the best instead.
        has_nulls: whether the order holds with measures that are NULL.
        most: how many different measures of a group are followed.
    """

    group: tuple[int, ...]
    measure: int
    greatest: bool = False
    nulls_first: bool = False
    has_nulls: bool = True
    most: int = 1

    def is_ordered(self, row: Row) -> bool:
        """Say whether a row's measure is one by whose order the best follow from the best: sums of infinities are not."""
        value: Any = row[self.measure]
        return self.has_nulls if value is None else not isinstance(value, float) or math.isfinite(value)

    def key(self, row: Row) -> Key:
        value: Any = row[self.measure]
        if value is None:
            return _NULL_FIRST if self.nulls_first else _NULL
        if isinstance(value, float) and math.isnan(value):
            return (-1,) if self.greatest else _NAN
        return (0, -value if self.greatest else value)


class Candidates:
    """The rows of a relation that are derived at all, best or not, by group and measure."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self._groups: dict[Row, tuple[list[Key], dict[Key, dict[Row, None]]]] = {}

    def is_best(self, row: Row, key: Key) -> bool:
        """Say whether a row's measure, if it is one of its group, is among the best."""
        found = self._groups.get(self._group(row))
        return found is None or bisect_left(found[0], key) < self.selection.most

    def put(self, row: Row, key: Key) -> Iterator[Row]:
        """Have a row among its group, and yield those that are no longer best because of it."""
        keys, rows = self._groups.setdefault(self._group(row), ([], {}))
        if key not in rows:
            insort(keys, key)
            rows[key] = {}
            if len(keys) > self.selection.most and bisect_left(keys, key) < self.selection.most:
                yield from list(rows[keys[self.selection.most]])
        rows[key][row] = None

    def drop(self, row: Row, key: Key) -> Iterator[Row]:
        """Have a row no longer among its group, and yield those that are best without it."""
        group = self._group(row)
        keys, rows = self._groups.get(group, ([], {}))
        if row not in rows.get(key, ()):
            return
        del rows[key][row]
        if rows[key]:
            return
        place = bisect_left(keys, key)
        del rows[key], keys[place]
        if not keys:
            del self._groups[group]
        elif place < self.selection.most <= len(keys):
            yield from list(rows[keys[self.selection.most - 1]])

    def _group(self, row: Row) -> Row:
        return tuple([row[column] for column in self.selection.group])
