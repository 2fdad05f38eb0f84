"""The names of the graphs that have triples, where each graph is by itself."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.dataflow.mappings.facts import Facts
from imp_driver.dataflow.mappings.operator import Delta, Row
from imp_driver.sparql.algebra import Variable


class GraphNamesOperator:
    def __init__(self, variable: Variable, facts: Facts) -> None:
        """``facts`` has all triples, with the name of their graph in the last column."""
        self.variables = (variable,)
        self._facts = facts
        self._counts: dict[Row, int] = {}

    @property
    def size(self) -> int:
        return len(self._counts)

    def step(self, deltas: Sequence[Delta]) -> Delta:
        return counted(self._counts, [(row[-1:], 1) for row in self._facts.added] + [(row[-1:], -1) for row in self._facts.removed])


def counted(counts: dict[Row, int], changes: Sequence[tuple[Row, int]]) -> Delta:
    """Count rows, and return those that are there now or no longer."""
    before = {row: counts.get(row, 0) for row, _ in changes}
    for row, count in changes:
        counts[row] = counts.get(row, 0) + count
    changed: dict[Row, int] = {}
    for row, old in before.items():
        if not counts[row]:
            del counts[row]
        if bool(old) != (row in counts):
            changed[row] = -1 if old else 1
    return changed
