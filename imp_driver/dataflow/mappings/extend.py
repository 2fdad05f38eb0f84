"""Extend: a solution with the value of an expression; an error leaves the variable unbound (SPARQL 1.1, section 18.5)."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.dataflow.mappings.expressions import value
from imp_driver.dataflow.mappings.operator import Delta
from imp_driver.sparql.algebra import Expression, Variable


class ExtendOperator:
    """``variable`` is none of ``variables``."""

    def __init__(self, variables: Sequence[Variable], variable: Variable, expression: Expression) -> None:
        self.variables = (*variables, variable)
        self._value = value(expression, tuple(variables))

    @property
    def size(self) -> int:
        return 0

    def step(self, deltas: Sequence[Delta]) -> Delta:
        value_of = self._value
        return {(*row, value_of(row)): count for row, count in deltas[0].items()}
