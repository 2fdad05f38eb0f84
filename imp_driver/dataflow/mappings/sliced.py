"""A subquery with OFFSET or LIMIT: its solutions are kept, and the list is made again when they change (SPARQL 1.1, section 15)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from imp_driver.dataflow.mappings.modifiers import Lister, Modifiers
from imp_driver.dataflow.mappings.operator import NOTHING, Delta, Row, add_all, difference
from imp_driver.sparql.algebra import Variable


class SlicedOperator:
    def __init__(self, variables: Sequence[Variable], modifiers: Modifiers) -> None:
        self.variables = modifiers.columns
        self._lister = Lister(modifiers, variables)
        self._rows: dict[Row, int] = {}
        self._listed: Delta = NOTHING

    @property
    def size(self) -> int:
        return len(self._rows) + len(self._listed)

    def step(self, deltas: Sequence[Delta]) -> Delta:
        if not deltas[0]:
            return NOTHING
        add_all(self._rows, deltas[0])
        before, self._listed = self._listed, Counter(self._lister.listed(self._rows))
        return difference(before, self._listed)
