"""Project: counts of solutions that become the same add up (the counting algorithm for SPARQL, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.dataflow.mappings.operator import Delta, Row, spreading
from imp_driver.sparql.algebra import Variable


class ProjectOperator:
    def __init__(self, variables: Sequence[Variable], wanted: Sequence[Variable]) -> None:
        self.variables = tuple(wanted)
        self._take = spreading(variables, wanted)
        self._is_one_to_one = frozenset(variables) <= frozenset(wanted)

    @property
    def size(self) -> int:
        return 0

    def step(self, deltas: Sequence[Delta]) -> Delta:
        take = self._take
        if self._is_one_to_one:
            return {take(row): count for row, count in deltas[0].items()}
        total: dict[Row, int] = {}
        for row, count in deltas[0].items():
            short = take(row)
            total[short] = total.get(short, 0) + count
        return {row: count for row, count in total.items() if count}
