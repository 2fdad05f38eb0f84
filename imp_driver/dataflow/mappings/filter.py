"""Filter: a solution stays where the condition holds; an error is false (the counting algorithm for SPARQL, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.dataflow.mappings.expressions import truth
from imp_driver.dataflow.mappings.operator import Delta
from imp_driver.sparql.algebra import Expression, Variable


class FilterOperator:
    def __init__(self, variables: Sequence[Variable], condition: Expression) -> None:
        self.variables = tuple(variables)
        self._holds = truth(condition, self.variables)

    @property
    def size(self) -> int:
        return 0

    def step(self, deltas: Sequence[Delta]) -> Delta:
        holds = self._holds
        return {row: count for row, count in deltas[0].items() if holds(row)}
