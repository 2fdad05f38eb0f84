"""Results by the value of the correlated aggregate, whose keys shift with each change: the aggregate index of the RPAI paper (algorithm 4).

The scheme takes the aggregates of two keys for different, which they are while each key adds something above 0. Where a key adds nothing,
two keys share a value, and a later row between them would have to move one and not the other; where it adds less than nothing, values are
not in the order of keys. So keys that add nothing or less are counted: while there is one, prefix descents tell the results, and when there
has been none for as many changes as there are keys, the index is made anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from imp_driver.dataflow.nested.conditions import Compiled
from imp_driver.dataflow.nested.description import Comparison, Measure, Row, Selection, Strategy
from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.pai_map import PaiMap
from imp_driver.dataflow.nested.rpai_tree import RpaiTree
from imp_driver.dataflow.nested.selections import UNGROUPED, SelectionSums, SignedRow
from imp_driver.dataflow.nested.sides import Correlated, Fixed
from imp_driver.dataflow.nested.sorted_sums import SortedSums, Sums
from imp_driver.dataflow.nested.told import Change, Results, Told

_SHARE = 4
"""A batch of one row for so many keys, and ``_FEW`` rows in so many, is not followed row by row."""
_FEW = 16


class AggregateIndex(Protocol):
    """What ``PaiMap`` and ``RpaiTree`` have in common."""

    def get(self, key: Any) -> Any:
        """Return the value of a key, 0 where it is not there."""

    def add(self, key: Any, value: Any) -> None:
        """Add to the value of a key."""

    def delete(self, key: Any) -> Any:
        """Take a key out."""

    def get_sum(self, key: Any) -> Any:
        """Return the sum of the values of all keys up to one."""

    def shift_keys(self, key: Any, distance: Any) -> None:
        """Move all keys above one."""

    def shift_keys_inclusive(self, key: Any, distance: Any) -> None:
        """Move a key and all above it."""

    @property
    def memory(self) -> int:
        """Bytes."""


class ShiftedIndex:
    """Follows a ``Selection`` with one condition: what all rows share against SUM or COUNT of the same relation by the same key.

    Attributes:
        rebuilt: how often the index was made anew.

    Raises:
        ValueError: the selection is not of this form.
    """

    def __init__(self, selection: Selection, strategy: Strategy) -> None:
        self._sums = SelectionSums(selection)
        self.selection, self.rebuilt = selection, 0
        self._make: type[PaiMap] | type[RpaiTree] = RpaiTree if strategy is Strategy.RPAI_TREE else PaiMap
        self._condition = _only(self._sums.conditions)
        left, right = self._condition.left, self._condition.right
        is_fit = isinstance(left, Fixed) and isinstance(right, Correlated) and right.window is None and right.multiple.numerator
        if not is_fit or selection.group is not None or selection.partition is not None:
            raise ValueError("an aggregate index follows one condition between what all rows share and a correlated aggregate")
        assert isinstance(left, Fixed)
        assert isinstance(right, Correlated)
        inner = self._sums.inners[right.place]
        assert inner.correlation is not None
        if inner.relation != selection.relation or inner.correlation.value is not selection.key or right.measure is Measure.AVERAGE:
            raise ValueError("an aggregate index follows SUM and COUNT of the selection's own relation by the selection's own key")
        self._fixed, self._correlated = left, right
        # Indexed is the sum below a key, or that with its own; sums from a key on are what these leave of the whole.
        self._is_below = right.is_growing == right.is_open
        self._index: list[AggregateIndex] | None = self._new()
        self._irregular = self._quiet = 0
        self._told = Told(self.results())

    def _new(self) -> list[AggregateIndex]:
        """Return an index for each sum that a result needs: of each value, and how many rows have one."""
        return [self._make() for _ in range(2 * len(self.selection.values))]

    @property
    def is_indexed(self) -> bool:
        """Whether the index tells the results now."""
        return self._index is not None

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Follow one row, which comes ``weight`` times or, where that is negative, goes."""
        key = None if self.selection.key is None or relation != self.selection.relation else self.selection.key(row)
        if key is None:
            self._sums.change(relation, row, weight)
            return
        inner, outer = self._levels()
        before = self._level(inner, outer, key)
        base = inner.before_in(self._correlated.column, (key, 0)) if self._index is not None else 0
        rows_before = outer.at(key)
        self._sums.change(relation, row, weight)
        inner, outer = self._levels()
        after = self._level(inner, outer, key)
        self._irregular += _is_irregular(after) - _is_irregular(before)
        self._quiet = 0 if self._irregular else self._quiet + 1
        if self._irregular:
            self._index = None
        elif self._index is not None:
            self._shift(self._index, base, before, after, _difference(outer.at(key), rows_before))
        elif self._quiet > len(outer):
            self._rebuild()

    def apply(self, changes: Mapping[str, Iterable[SignedRow]]) -> None:
        """Follow the rows of a batch, by relation; many make the index anew at once."""
        given = {relation: list(rows) for relation, rows in changes.items()}
        if sum(map(len, given.values())) * _SHARE < len(self._levels()[1]) + _FEW:
            for relation, rows in given.items():
                for row, weight in rows:
                    self.change(relation, row, weight)
            return
        self._sums.apply(given)
        inner, outer = self._levels()
        self._irregular = sum([_is_irregular(self._level(inner, outer, key)) for key, _ in outer.items()])
        self._quiet, self._index = 0, None
        if not self._irregular:
            self._rebuild()

    def _levels(self) -> tuple[SortedSums, SortedSums]:
        """Return what the rows of each key add to the aggregate, and to the results."""
        return self._correlated.sums(self._sums.states), self._sums.rows

    def _level(self, inner: SortedSums, outer: SortedSums, key: Key) -> Any:
        """Return what a key adds to the aggregate; None where it has no rows, 0 where it has rows that add nothing."""
        found = inner.at(key)
        if found is not None:
            return found[self._correlated.column] if found[-1] > 0 else 0
        return None if outer.at(key) is None else 0

    def _shift(self, indexes: list[AggregateIndex], base: Any, before: Any, after: Any, amounts: list[Any]) -> None:
        """Move the keys whose aggregate changed, and add what the row adds to the results."""
        distance = (after or 0) - (before or 0)
        for index, amount in zip(indexes, amounts, strict=True):
            if self._is_below:
                if before is None:
                    index.shift_keys_inclusive(base, distance)
                else:
                    index.shift_keys(base, distance)
                index.add(base, amount)
                # The key above, if there is one, has come to where the one that left was, and both are one.
                if after is None and self._is_last(base):
                    index.delete(base)
                continue
            if after is None:
                index.add(base + before, amount)
            index.shift_keys(base, distance)
            if after is not None:
                index.add(base + after, amount)
            elif not base:
                index.delete(base)

    def _is_last(self, base: Any) -> bool:
        return bool(self._levels()[0].total_of(self._correlated.column) == base)

    def _rebuild(self) -> None:
        self.rebuilt += 1
        inner, outer = self._levels()
        self._index = self._new()
        base: Any = 0
        for key, sums in outer.items():
            level = self._level(inner, outer, key)
            value = base if self._is_below else base + level
            for index, amount in zip(self._index, _difference(sums, None), strict=True):
                index.add(value, amount)
            base += level

    def results(self) -> Results:
        """Return the sums of the rows that pass, None for those of nothing."""
        if self._index is None or self._sums.has_null:
            return self._sums.results()
        limit = self._fixed.value(self._sums.states)
        if limit is None:
            return {UNGROUPED: (None,) * len(self.selection.values)}
        numerator, denominator = limit[0] * self._correlated.multiple.denominator, limit[1] * self._correlated.multiple.numerator
        bound = Fraction(numerator) / denominator
        comparison, searched = self._condition.turned, bound
        if not self._correlated.is_growing:
            whole = self._levels()[0].total_of(self._correlated.column)
            comparison, searched = comparison.mirrored, whole - bound
        total = _difference(self._levels()[1].total, None)
        found = [_compared(index, of_all, comparison, searched) for index, of_all in zip(self._index, total, strict=True)]
        if self._correlated.is_open and not self._correlated.is_never_null and self._condition.turned.holds(0, bound):
            # The aggregate of the least key (of the greatest one) has no rows: it is NULL, and indexed as 0.
            found = [one - other for one, other in zip(found, self._of_end(), strict=True)]
        return {UNGROUPED: tuple([found[place] if found[place + 1] else None for place in range(0, len(found), 2)])}

    def _of_end(self) -> list[Any]:
        outer = self._levels()[1]
        key = outer.first() if self._correlated.is_growing else outer.last()
        return [0] * (2 * len(self.selection.values)) if key is None else _difference(outer.at(key), None)

    def changed(self) -> dict[Any, Change]:
        """Return the rows of those groups whose results differ from when this was asked last, as they were and as they are."""
        return self._told.all_differences(self.results())

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        return self._sums.memory + sum(index.memory for index in self._index or ())


def _only(conditions: tuple[Compiled, ...]) -> Compiled:
    if len(conditions) != 1:
        raise ValueError("an aggregate index follows one condition")
    return conditions[0]


def _compared(index: AggregateIndex, total: Any, comparison: Comparison, bound: Fraction) -> Any:
    """Return the sum of the values whose keys compare with a bound, ``key comparison bound``; ``total`` is that of all values."""
    key = bound.numerator if bound.denominator == 1 else bound
    match comparison:
        case Comparison.LESS:
            return index.get_sum(key) - index.get(key)
        case Comparison.AT_MOST:
            return index.get_sum(key)
        case Comparison.GREATER:
            return total - index.get_sum(key)
        case Comparison.AT_LEAST:
            return total - index.get_sum(key) + index.get(key)
        case Comparison.EQUAL:
            return index.get(key)
        case Comparison.UNEQUAL:
            return total - index.get(key)


def _is_irregular(level: Any) -> bool:
    return level is not None and level <= 0


def _difference(new: Sums | None, old: Sums | None) -> list[Any]:
    """Return for each value by how much its sum and the number of rows that have one changed."""
    found: list[Any] = []
    for place in range(0, len(new or old or ()) - 1, 2):
        one, other = new or (0,) * len(old or ()), old or (0,) * len(new or ())
        found += (one[place] - other[place], one[-1] - one[place + 1] - other[-1] + other[place + 1])
    return found
