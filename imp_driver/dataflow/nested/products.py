"""Sums over all combinations of rows of several selections: products of the selections' own sums, without a cross join.

SUM(a.x - b.y) over A x B is SUM(a.x) times the number of rows of B, less the number of rows of A times SUM(b.y).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from imp_driver.dataflow.nested.cells import Amounts
from imp_driver.dataflow.nested.description import Product, Row, Selection, Strategy, Term, Value
from imp_driver.dataflow.nested.selections import UNGROUPED, SelectionSums, SignedRow
from imp_driver.dataflow.nested.told import Change, Results, Told


class ProductSums:
    """Follows a ``Product``; each side is followed by itself.

    Raises:
        ValueError: more than one side has groups, a side has no value, or a term names none of any side.
    """

    def __init__(self, product: Product, strategy: Strategy = Strategy.PREFIX_DESCENT) -> None:
        grouped = [place for place, side in enumerate(product.sides) if side.group is not None]
        if len(grouped) > 1:
            raise ValueError("the groups of a product are those of one of its sides")
        if not all(side.values for side in product.sides):
            raise ValueError("each side of a product has a value")
        for term in product.terms:
            if len(term.values) != len(product.sides) or not any(value is not None for value in term.values):
                raise ValueError(f"{term} does not say what it takes of each side")
        self.product = product
        self.sides = [SelectionSums(replace(side, values=jointly(side)), strategy) for side in product.sides]
        self._is_grouped = bool(grouped)
        # Results are sums of this side, multiplied by what the others' sums make.
        place = grouped[0] if grouped else 0
        self._own = self.sides[place]
        self._others = [side for side in self.sides if side is not self._own]
        self._terms = [_reading(term, place) for term in product.terms]
        self._told = Told({} if grouped else {UNGROUPED: (None,)})
        self._by_relation: dict[str, list[SelectionSums]] = {}
        for side in self.sides:
            for relation in side.relations:
                self._by_relation.setdefault(relation, []).append(side)

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Follow one row, which comes ``weight`` times or, where that is negative, goes."""
        for side in self._by_relation.get(relation, ()):
            side.change(relation, row, weight)

    def apply(self, changes: Mapping[str, Iterable[SignedRow]]) -> None:
        """Follow the rows of a batch, by relation."""
        given = {relation: list(rows) for relation, rows in changes.items()}
        for side in self.sides:
            side.apply(given)

    def results(self) -> Results:
        """Return the sum of each group, None for that of nothing; without GROUP BY there is one group, also of no rows."""
        others = [side.group_sums(UNGROUPED) for side in self._others]
        if not self._is_grouped:
            return self._combined(others, {UNGROUPED: self._own.group_sums(UNGROUPED)})
        return self._combined(others, self._own.sums()) if all(sums[-1] for sums in others) else {}

    def changed(self) -> dict[Any, Change]:
        """Return the rows of those groups whose results differ from when this was asked last, as they were and as they are."""
        touched = self._own.touched()
        of_others = [side.touched() for side in self._others]
        if any(of_others) or (touched and not self._is_grouped):
            return self._told.all_differences(self.results())
        if not touched:
            return {}
        others = [side.group_sums(UNGROUPED) for side in self._others]
        sums = {group: self._own.group_sums(group) for group in touched} if all(sums[-1] for sums in others) else {}
        found: dict[Any, tuple[Any, ...] | None] = dict.fromkeys(touched)
        found |= self._combined(others, {group: each for group, each in sums.items() if each[-1]})
        return self._told.differences(found)

    def _combined(self, others: Sequence[Amounts], groups: Mapping[Any, Amounts]) -> Results:
        """Return the sums over combinations of rows of some groups, given those of the other sides."""
        # All values of a row are NULL together.
        counts = [sums[-1] - sums[1] for sums in others]
        of_count: Any = 0
        of_values: list[tuple[int, Any]] = []
        for own, coefficient, columns in self._terms:
            factor: Any = coefficient
            for sums, count, column in zip(others, counts, columns, strict=True):
                factor *= count if column is None else sums[column]
            if own is None:
                of_count += factor
            else:
                of_values.append((own, factor))
        is_null, found = 0 in counts, {}
        for group, sums in groups.items():
            count = sums[-1] - sums[1]
            total = of_count * count
            for own, factor in of_values:
                total += factor * sums[own]
            found[group] = (None if is_null or not count else total,)
        return found

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        return sum(side.memory for side in self.sides)


def _reading(term: Term, place: int) -> tuple[int | None, Fraction | int, tuple[int | None, ...]]:
    """Return which sum of the side at a place a term takes, by what it is multiplied, and which of the other sides; None for counts."""
    columns = [None if value is None else 2 * value for value in term.values]
    return columns.pop(place), term.coefficient, tuple(columns)


def jointly(selection: Selection) -> tuple[Value, ...]:
    """Return the values of a selection, each NULL where one of them is."""
    values = selection.values
    if len(values) < 2:
        return values
    return tuple(_unless_null(value, values) for value in values)


def _unless_null(value: Value, values: Sequence[Value]) -> Value:
    return lambda row: None if any(each(row) is None for each in values) else value(row)
