"""The rows of a recursion followed one by one: by any rules, the best rows alone, and with why they are there."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from imp_driver.answer.recursion.convert import as_rows
from imp_driver.answer.recursion.program import Program
from imp_driver.answer.recursion.table import RowTable
from imp_driver.answer.recursion.why import Provenance
from imp_driver.dataflow.recursion.derivations import derivations
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.levels import Levels, RowChanges
from imp_driver.provenance.derived import Derivations


class InRows:
    """The first relation of a recursion."""

    def __init__(self, program: Program, provenance: Provenance | None = None) -> None:
        self._provenance = provenance
        self._program = program
        self._levels = Levels(program.rules, selections=program.selections)
        self._given: dict[int, set[Row]] = {}
        self._table = RowTable(program.types[0])

    @property
    def rows(self) -> pa.Table:
        return self._table.rows

    @property
    def count(self) -> int:
        """How many rows are kept, those included that are derived and not best."""
        return self._levels.memory_rows()

    def derivations(self) -> Derivations:
        """Return all derivations of the rows that are there."""
        own = {relation: self._levels.rows(relation) for relation in range(len(self._program.types))}
        return derivations(self._program.rules, {**self._given, **own})

    def replace(self, given: Mapping[int, pa.Table]) -> bool:
        """Have given relations with other rows than before, and say whether that changes any.

        Raises:
            NotEvaluable: Spark alone knows a value.
            Endless, NotOrdered: it cannot be followed.
        """
        changes: dict[int, RowChanges] = {}
        for relation, table in given.items():
            rows, before = _different(table), self._given.get(relation, set())
            changes[relation] = RowChanges(before - rows, rows - before)
            self._given[relation] = rows
        if not any(each.removed or each.added for each in changes.values()):
            return False
        if self._provenance is not None:
            self._provenance.follow(changes)
        changed = self._levels.apply(changes)[0]
        self._table.change(changed.serials, changed.added, changed.new_serials)
        return bool(changed.removed or changed.added)


def _different(table: pa.Table) -> set[Row]:
    if table.num_columns:
        return set(as_rows(table.columns))
    return {()} if table.num_rows else set()
