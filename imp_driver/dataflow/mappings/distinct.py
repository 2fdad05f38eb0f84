"""Distinct: a solution is there once while it counts at all, so only changes from and to 0 are seen."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.dataflow.mappings.operator import Delta, Row
from imp_driver.sparql.algebra import Variable


class DistinctOperator:
    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = tuple(variables)
        self._counts: dict[Row, int] = {}

    @property
    def size(self) -> int:
        return len(self._counts)

    def step(self, deltas: Sequence[Delta]) -> Delta:
        counts, changed = self._counts, dict[Row, int]()
        for row, count in deltas[0].items():
            before = counts.get(row, 0)
            after = before + count
            if after:
                counts[row] = after
            else:
                del counts[row]
            if not before or not after:
                changed[row] = 1 if after else -1
        return changed
