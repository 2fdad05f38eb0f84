"""Sums over all combinations of rows of several selections: products of the selections' own sums, without a cross join.

SUM(a.x - b.y) over A x B is SUM(a.x) times the number of rows of B, less the number of rows of A times SUM(b.y).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from imp_driver.dataflow.nested.cells import Amounts
from imp_driver.dataflow.nested.description import Product, Row, Selection, Strategy, Value
from imp_driver.dataflow.nested.selections import UNGROUPED, SelectionSums, SignedRow


class ProductSums:
    """Follows a ``Product``; each side is followed by itself.

    Raises:
        ValueError: more than one side has groups, or a term names no value of a side.
    """

    def __init__(self, product: Product, strategy: Strategy = Strategy.PREFIX_DESCENT) -> None:
        grouped = [place for place, side in enumerate(product.sides) if side.group is not None]
        if len(grouped) > 1:
            raise ValueError("the groups of a product are those of one of its sides")
        for term in product.terms:
            if len(term.values) != len(product.sides) or not any(value is not None for value in term.values):
                raise ValueError(f"{term} does not say what it takes of each side")
        self.product = product
        self._grouped = grouped[0] if grouped else None
        self.sides = [SelectionSums(replace(side, values=jointly(side)), strategy) for side in product.sides]

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Follow one row, which comes ``weight`` times or, where that is negative, goes."""
        for side in self.sides:
            side.change(relation, row, weight)

    def apply(self, changes: Mapping[str, Iterable[SignedRow]]) -> None:
        """Follow the rows of a batch, by relation."""
        given = {relation: list(rows) for relation, rows in changes.items()}
        for side in self.sides:
            side.apply(given)

    def results(self) -> dict[Any, tuple[Any, ...]]:
        """Return the sum of each group, None for that of nothing; without GROUP BY there is one group, also of no rows."""
        if self._grouped is None:
            return {UNGROUPED: (self._combined([side.group_sums(UNGROUPED) for side in self.sides]),)}
        others = [None if place == self._grouped else side.group_sums(UNGROUPED) for place, side in enumerate(self.sides)]
        if any(other is not None and not other[-1] for other in others):
            return {}
        groups = self.sides[self._grouped].sums()
        return {key: (self._combined([sums if other is None else other for other in others]),) for key, sums in groups.items()}

    def _combined(self, sums: Sequence[Amounts]) -> Any:
        # Where a side has no value, all of its values are NULL together: the rows that have them are as many for each.
        numbers = [each[-1] - (each[1] if len(each) > 1 else 0) for each in sums]
        if not all(numbers):
            return None
        total: Any = 0
        for term in self.product.terms:
            total += term.coefficient * prod(
                [number if value is None else each[2 * value] for value, each, number in zip(term.values, sums, numbers, strict=True)]
            )
        return total

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        return sum(side.memory for side in self.sides)


def jointly(selection: Selection) -> tuple[Value, ...]:
    """Return the values of a selection, each NULL where one of them is."""
    values = selection.values
    if len(values) < 2:
        return values
    return tuple(_unless_null(value, values) for value in values)


def _unless_null(value: Value, values: Sequence[Value]) -> Value:
    return lambda row: None if any(each(row) is None for each in values) else value(row)
