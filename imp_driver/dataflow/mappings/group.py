"""Group: aggregates of the solutions that share their keys (SPARQL 1.1, section 18.5.1).

A group is there while it has solutions, which are counted beside its aggregates: a sum that comes to 0 says nothing of that (in the
counting algorithm for SPARQL, section 5.3, it would). Without keys there is one group, of nothing too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from imp_driver.dataflow.mappings.expressions import value
from imp_driver.dataflow.mappings.operator import Delta, Row, add, taking
from imp_driver.sparql.algebra import Aggregate, Expression, Variable
from imp_driver.sparql.functions.aggregates import Accumulator, accumulator


class _Group:
    """The solutions of one key.

    Attributes:
        row: what stands for them in the result; None while it does not.
    """

    __slots__ = ("accumulators", "count", "row")

    def __init__(self, aggregates: Sequence[Aggregate]) -> None:
        self.count = 0
        self.accumulators: list[Accumulator] = [accumulator(aggregate) for aggregate in aggregates]
        self.row: Row | None = None


class GroupOperator:
    def __init__(
        self,
        variables: Sequence[Variable],
        keys: Sequence[tuple[Variable, Expression]],
        aggregates: Sequence[tuple[Variable, Aggregate]],
    ) -> None:
        self.variables = tuple(variable for variable, _ in (*keys, *aggregates))
        self._keys = [value(expression, variables) for _, expression in keys]
        self._aggregates = [aggregate for _, aggregate in aggregates]
        # Whole solutions are told apart by what they show.
        self._shown = taking([place for place, variable in enumerate(variables) if not variable.is_hidden])
        self._arguments = [self._argument(aggregate, variables) for aggregate in self._aggregates]
        self._groups: dict[Row, _Group] = {}
        self._is_begun = False

    @property
    def size(self) -> int:
        return len(self._groups)

    def step(self, deltas: Sequence[Delta]) -> Delta:
        touched: dict[Row, _Group] = {}
        if not self._keys and not self._is_begun:
            touched[()] = self._groups[()] = _Group(self._aggregates)
        self._is_begun = True
        for row, count in deltas[0].items():
            key = tuple([value_of(row) for value_of in self._keys])
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _Group(self._aggregates)
            touched[key] = group
            group.count += count
            for taken, argument in zip(group.accumulators, self._arguments, strict=True):
                taken.add(argument(row), count)
        total: dict[Row, int] = {}
        for key, group in touched.items():
            self._tell(key, group, total)
        return total

    def _tell(self, key: Row, group: _Group, total: dict[Row, int]) -> None:
        row = (*key, *(taken.result() for taken in group.accumulators)) if group.count or not self._keys else None
        if row != group.row:
            if group.row is not None:
                add(total, group.row, -1)
            if row is not None:
                add(total, row, 1)
            group.row = row
        if row is None:
            del self._groups[key]

    def _argument(self, aggregate: Aggregate, variables: Sequence[Variable]) -> Callable[[Row], Any]:
        if aggregate.argument is None:
            # COUNT(DISTINCT *) takes anything that tells solutions apart.
            return self._shown
        return value(aggregate.argument, variables)
