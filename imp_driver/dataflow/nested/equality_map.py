"""Partitions whose aggregate compares with what is the same for all of them: results by its value (example 2.1 of the RPAI paper).

A change moves the sums of one partition from one value to another. Equal values are found in a PAI map, greater and lesser ones in sorted
sums by value; neither is searched for partitions.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from imp_driver.dataflow.nested.cells import Amounts
from imp_driver.dataflow.nested.conditions import compiled
from imp_driver.dataflow.nested.description import Comparison, Row, Selection
from imp_driver.dataflow.nested.inner_sums import Total
from imp_driver.dataflow.nested.pai_map import PaiMap
from imp_driver.dataflow.nested.selections import UNGROUPED, SignedRow, summed
from imp_driver.dataflow.nested.sides import Fixed
from imp_driver.dataflow.nested.sorted_sums import SortedSums
from imp_driver.dataflow.nested.told import Change, Results, Told


class EqualityMap:
    """Follows a ``Selection`` with one condition, between an aggregate of partitions and one of all rows or a constant.

    Raises:
        ValueError: the selection is not of this form.
    """

    def __init__(self, selection: Selection) -> None:
        program = compiled(selection)
        [condition, *others] = program.conditions or (None,)
        if condition is None or others or not isinstance(condition.left, Fixed) or not isinstance(condition.right, Fixed):
            raise ValueError("an equality map follows one condition of aggregates that are not correlated but by equality")
        left, right, comparison = condition.left, condition.right, condition.comparison
        of_partition = [each.place >= 0 and program.inners[each.place].partition is not None for each in (left, right)]
        if sum(of_partition) != 1:
            raise ValueError("an equality map compares an aggregate of partitions with one that they share")
        if of_partition[0]:
            left, right, comparison = right, left, comparison.mirrored
        self.selection = selection
        self._shared_side, self._own_side, self._comparison = left, right, comparison
        self._width = 2 * len(selection.values) + 1
        self._shared, self._nothing = Total(), Total()
        self._own: dict[Any, Total] = {}
        self._rows: dict[Any, dict[Any, list[Any]]] = {}
        self._index: dict[Any, _Index] = {}
        self._inners = program.inners
        self._told = Told({} if selection.group else {UNGROUPED: (None,) * len(selection.values)})

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Follow one row, which comes ``weight`` times or, where that is negative, goes."""
        selection = self.selection
        own: list[tuple[Any, Any]] = []
        for place, inner in enumerate(self._inners):
            amount = 0 if inner.argument is None else inner.argument(row)
            if inner.relation != relation or amount is None:
                continue
            if place == self._own_side.place:
                assert inner.partition is not None
                own.append((inner.partition(row), amount))
            else:
                self._shared.add(None, amount, weight)
        if relation == selection.relation:
            assert selection.partition is not None
            amounts: list[Any] = []
            for value in selection.values:
                found = value(row)
                amounts += (0, weight) if found is None else (found * weight, 0)
            group = UNGROUPED if selection.group is None else selection.group(row)
            self._add(selection.partition(row), group, [*amounts, weight])
        for partition, amount in own:
            if partition is not None:
                self._move(partition, amount, weight)

    def apply(self, changes: Mapping[str, Iterable[SignedRow]]) -> None:
        """Follow the rows of a batch, by relation."""
        for relation, rows in changes.items():
            for row, weight in rows:
                self.change(relation, row, weight)

    def _value(self, partition: Any) -> Any:
        """Return the aggregate of a partition, a whole number where it is one; None for NULL."""
        total = self._own.get(partition, self._nothing)
        found = self._own_side.multiple.quotient(self._own_side.measure, total.sum, total.count)
        return None if found is None else _reduced(*found)

    def _add(self, partition: Any, group: Any, amounts: Amounts) -> None:
        rows = self._rows.setdefault(partition, {})
        found = list(map(operator.add, rows.get(group) or [0] * self._width, amounts))
        if any(found):
            rows[group] = found
        else:
            rows.pop(group, None)
            if not rows:
                del self._rows[partition]
        value = self._value(partition)
        if value is not None:
            self._put(group, value, amounts)

    def _move(self, partition: Any, amount: Any, weight: int) -> None:
        old = self._value(partition)
        total = self._own.setdefault(partition, Total())
        total.add(None, amount, weight)
        if total.is_empty:
            del self._own[partition]
        new = self._value(partition)
        if new == old:
            return
        for group, amounts in self._rows.get(partition, {}).items():
            if old is not None:
                self._put(group, old, [-each for each in amounts])
            if new is not None:
                self._put(group, new, amounts)

    def _put(self, group: Any, value: Any, amounts: Amounts) -> None:
        index = self._index.get(group)
        if index is None:
            index = self._index[group] = _Points(self._width) if self._comparison is Comparison.EQUAL else _Ordered(self._width)
        index.add(value, amounts)
        if not len(index):
            del self._index[group]

    def results(self) -> Results:
        """Return the sums of each group, None for those of nothing; without GROUP BY there is one group, also of no rows."""
        shared = self._shared_side
        limit = shared.constant if shared.place < 0 else shared.multiple.quotient(shared.measure, self._shared.sum, self._shared.count)
        found = {}
        if limit is not None:
            value = _reduced(*limit)
            sums = {group: index.compared(self._comparison, value) for group, index in self._index.items()}
            found = {group: summed(amounts) for group, amounts in sums.items() if amounts[-1]}
        if self.selection.group is None and not found:
            return {UNGROUPED: (None,) * len(self.selection.values)}
        return found

    def changed(self) -> dict[Any, Change]:
        """Return the rows of those groups whose results differ from when this was asked last, as they were and as they are."""
        return self._told.all_differences(self.results())

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        return sum(index.memory for index in self._index.values()) + 700 * len(self._rows)


def _reduced(numerator: Any, denominator: Any) -> Any:
    if denominator == 1:
        return numerator
    value = Fraction(numerator) / denominator
    return value.numerator if value.denominator == 1 else value


class _Points:
    """Sums by value in PAI maps, one for each column; a value is there while it has rows."""

    def __init__(self, width: int) -> None:
        self._maps = [PaiMap() for _ in range(width)]

    def __len__(self) -> int:
        return len(self._maps[-1])

    def add(self, value: Any, amounts: Amounts) -> None:
        for each, amount in zip(self._maps, amounts, strict=True):
            each.add(value, amount)
        if not any(each.get(value) for each in self._maps):
            for each in self._maps:
                each.delete(value)

    def compared(self, comparison: Comparison, limit: Any) -> Amounts:
        """Return the sums of the value that is equal."""
        return [each.get(limit) for each in self._maps]

    @property
    def memory(self) -> int:
        return sum(each.memory for each in self._maps)


class _Ordered:
    """Sums by value, in the order of values."""

    def __init__(self, width: int) -> None:
        self._sums = SortedSums(width - 1)

    def __len__(self) -> int:
        return len(self._sums)

    def add(self, value: Any, amounts: Amounts) -> None:
        self._sums.add_sums(value, amounts)

    def compared(self, comparison: Comparison, limit: Any) -> Amounts:
        """Return the sums of the values for which ``limit comparison value``."""
        match comparison:
            case Comparison.LESS:
                return self._sums.between((limit, 1), None)
            case Comparison.AT_MOST:
                return self._sums.between((limit, 0), None)
            case Comparison.GREATER:
                return self._sums.between(None, (limit, 0))
            case Comparison.UNEQUAL:
                return list(map(operator.add, self._sums.between(None, (limit, 0)), self._sums.between((limit, 1), None)))
            case _:
                return self._sums.between(None, (limit, 1))

    @property
    def memory(self) -> int:
        return self._sums.memory


_Index = _Points | _Ordered
