"""Union: counts of both sides add up (the counting algorithm for SPARQL, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.dataflow.mappings.operator import Delta, Row, add, spreading
from imp_driver.sparql.algebra import Variable


class UnionOperator:
    def __init__(self, left: Sequence[Variable], right: Sequence[Variable]) -> None:
        self.variables = tuple(dict.fromkeys((*left, *right)))
        self._sides = [spreading(side, self.variables) for side in (left, right)]

    @property
    def size(self) -> int:
        return 0

    def step(self, deltas: Sequence[Delta]) -> Delta:
        total: dict[Row, int] = {}
        for spread, delta in zip(self._sides, deltas, strict=True):
            for row, count in delta.items():
                add(total, spread(row), count)
        return total
