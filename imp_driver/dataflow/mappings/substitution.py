"""EXISTS by its definition: the pattern is evaluated with the values of a solution in the places of its variables.

Solutions that have the same values there are one key. A new key is asked about when it comes, and all of them again when a triple that the
pattern may read changes (SPARQL 1.1, section 18.6).
"""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.dataflow.mappings.evaluate import evaluate
from imp_driver.dataflow.mappings.kept import KeptTriples
from imp_driver.dataflow.mappings.operator import Delta, Row, add, taking
from imp_driver.dataflow.mappings.scopes import reached, substituted
from imp_driver.dataflow.mappings.semijoin import Keeping, Kept
from imp_driver.sparql.algebra import Pattern, Variable


class SubstitutionOperator:
    def __init__(
        self, variables: Sequence[Variable], pattern: Pattern, triples: KeptTriples, keeping: Keeping, mark: Variable | None
    ) -> None:
        """``mark`` is the variable of the column that is added, as for ``SemijoinOperator``."""
        self._kept = Kept(keeping)
        self.variables = self._kept.variables(variables, mark)
        read = frozenset(reached(pattern))
        columns = [column for column, variable in enumerate(variables) if variable in read]
        self._names = [variables[column] for column in columns]
        self._key = taking(columns)
        self._pattern, self._triples = pattern, triples
        self._rows: dict[Row, dict[Row, int]] = {}
        self._is_met: dict[Row, bool] = {}

    @property
    def size(self) -> int:
        return sum(map(len, self._rows.values()))

    def step(self, deltas: Sequence[Delta]) -> Delta:
        total: dict[Row, int] = {}
        if self._triples.has_changed:
            self._ask_again(total)
        for row, count in deltas[0].items():
            key = self._key(row)
            rows = self._rows.get(key)
            if rows is None:
                rows = self._rows[key] = {}
                self._is_met[key] = self._has(key)
            add(rows, row, count)
            self._kept.put(total, row, count, is_met=self._is_met[key])
            if not rows:
                del self._rows[key], self._is_met[key]
        return total

    def _ask_again(self, total: dict[Row, int]) -> None:
        for key, rows in self._rows.items():
            was_met = self._is_met[key]
            is_met = self._is_met[key] = self._has(key)
            if was_met != is_met:
                for row, count in rows.items():
                    self._kept.put(total, row, -count, is_met=was_met)
                    self._kept.put(total, row, count, is_met=is_met)

    def _has(self, key: Row) -> bool:
        binding = {name: term for name, term in zip(self._names, key, strict=True) if term is not None}
        return bool(evaluate(substituted(self._pattern, binding), self._triples).rows)
