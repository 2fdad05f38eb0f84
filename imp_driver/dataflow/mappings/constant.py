"""Values: solutions that are in the text, all of them there from the first step on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from imp_driver.dataflow.mappings.operator import NOTHING, Delta, Row
from imp_driver.sparql.algebra import Variable


class ConstantOperator:
    def __init__(self, variables: Sequence[Variable], rows: Iterable[Row]) -> None:
        self.variables = tuple(variables)
        self._waiting: Delta = Counter(rows)

    @property
    def size(self) -> int:
        return 0

    def step(self, deltas: Sequence[Delta]) -> Delta:
        waiting, self._waiting = self._waiting, NOTHING
        return waiting
