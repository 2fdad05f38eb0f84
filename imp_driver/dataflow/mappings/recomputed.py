"""A pattern that is evaluated from scratch whenever a triple that it may read changes: only the difference is passed on."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.dataflow.mappings.evaluate import evaluate
from imp_driver.dataflow.mappings.kept import KeptTriples
from imp_driver.dataflow.mappings.operator import NOTHING, Delta, difference
from imp_driver.sparql.algebra import Pattern, variables


class RecomputedOperator:
    def __init__(self, pattern: Pattern, triples: KeptTriples) -> None:
        self.variables = variables(pattern)
        self._pattern, self._triples = pattern, triples
        self._rows: Delta = {}
        self._is_begun = False

    @property
    def size(self) -> int:
        return len(self._rows)

    def step(self, deltas: Sequence[Delta]) -> Delta:
        if self._is_begun and not self._triples.has_changed:
            return NOTHING
        self._is_begun = True
        before, self._rows = self._rows, evaluate(self._pattern, self._triples).over(self.variables).rows
        return difference(before, self._rows)
