"""Sums over all combinations of rows of several selections: products of the selections' own sums, without a cross join.

SUM(a.x - b.y) over A x B is SUM(a.x) times the number of rows of B, less the number of rows of A times SUM(b.y).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from imp_driver.dataflow.nested.cells import Amounts
from imp_driver.dataflow.nested.description import Product, Row, Selection, Strategy, Value
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
        self._grouped = grouped[0] if grouped else None
        self._told = Told({} if grouped else {UNGROUPED: (None,)})
        self.sides = [SelectionSums(replace(side, values=jointly(side)), strategy) for side in product.sides]
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
        if self._grouped is None:
            first, *others = self.sides
            form = self._form(0, [side.group_sums(UNGROUPED) for side in others])
            return {UNGROUPED: (form.of(first.group_sums(UNGROUPED)),)}
        form = self._form_of_groups()
        if not form.rows:
            return {}
        return {group: (form.of(sums),) for group, sums in self.sides[self._grouped].sums().items()}

    def changed(self) -> dict[Any, Change]:
        """Return the rows of those groups whose results differ from when this was asked last, as they were and as they are."""
        touched = [side.touched() for side in self.sides]
        if not any(touched):
            return {}
        if self._grouped is None or any(groups for place, groups in enumerate(touched) if place != self._grouped):
            return self._told.all_differences(self.results())
        form, side = self._form_of_groups(), self.sides[self._grouped]
        new: dict[Any, tuple[Any, ...] | None] = {}
        for group in touched[self._grouped]:
            sums = side.group_sums(group)
            new[group] = (form.of(sums),) if sums[-1] and form.rows else None
        return self._told.differences(new)

    def _form_of_groups(self) -> _Form:
        assert self._grouped is not None
        others = [side for place, side in enumerate(self.sides) if place != self._grouped]
        return self._form(self._grouped, [side.group_sums(UNGROUPED) for side in others])

    def _form(self, place: int, others: Sequence[Amounts]) -> _Form:
        """Return what the sums of one side are multiplied by, given those of the others."""
        counts = [sums[-1] - sums[1] for sums in others]
        factors: dict[int | None, Any] = {}
        for term in self.product.terms:
            factor: Any = term.coefficient
            values = [*term.values[:place], *term.values[place + 1 :]]
            for value, sums, count in zip(values, others, counts, strict=True):
                factor *= count if value is None else sums[2 * value]
            own = term.values[place]
            factors[own] = factors.get(own, 0) + factor
        of_count = factors.pop(None, 0)
        of_values = tuple([(2 * value, factor) for value, factor in factors.items() if value is not None])
        return _Form(all(sums[-1] for sums in others), all(counts), of_count, of_values)

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        return sum(side.memory for side in self.sides)


@dataclass(frozen=True, slots=True)
class _Form:
    """The sum over combinations as a linear form of one side's sums.

    Attributes:
        rows: whether there are combinations at all; ``has_values``: whether the other sides have values.
        of_count: what the number of the side's rows with values is multiplied by; ``of_values``: places of its sums, and by what they are.
    """

    rows: bool
    has_values: bool
    of_count: Any
    of_values: tuple[tuple[int, Any], ...]

    def of(self, sums: Amounts) -> Any:
        """Return the sum over combinations; None for NULL."""
        # All values of a row are NULL together.
        count = sums[-1] - sums[1]
        if not count or not self.has_values:
            return None
        total = self.of_count * count
        for place, factor in self.of_values:
            total += factor * sums[place]
        return total


def jointly(selection: Selection) -> tuple[Value, ...]:
    """Return the values of a selection, each NULL where one of them is."""
    values = selection.values
    if len(values) < 2:
        return values
    return tuple(_unless_null(value, values) for value in values)


def _unless_null(value: Value, values: Sequence[Value]) -> Value:
    return lambda row: None if any(each(row) is None for each in values) else value(row)
