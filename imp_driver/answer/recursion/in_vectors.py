"""The rows of a recursion followed all at once, level by level: by rules that only join and copy, whatever their number."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from imp_driver.answer.recursion.convert import as_column, as_values
from imp_driver.answer.recursion.program import Program
from imp_driver.dataflow.recursion.coded_table import CodedTable
from imp_driver.dataflow.recursion.vectors import VectorLevels
from imp_driver.values.codes import one_array


class InVectors:
    """The first relation of a recursion."""

    def __init__(self, program: Program) -> None:
        """Raises NotVectorised: a rule computes, or reads more than two relations."""
        self._levels = VectorLevels(program.rules)
        self._table = CodedTable(self._levels, 0, program.types[0], as_column)

    @property
    def rows(self) -> pa.Table:
        return self._table.rows

    @property
    def count(self) -> int:
        """How many rows are kept."""
        return int(self._table.rows.num_rows)

    def replace(self, given: Mapping[int, pa.Table]) -> bool:
        """Have given relations with other rows than before, and say whether that changes any.

        Raises:
            NotPacked: the values are too many for this form.
            Endless: it cannot be followed.
        """
        columns = {relation: [as_values(one_array(column)) for column in table.columns] for relation, table in given.items()}
        changed = self._levels.replace(columns)[0]
        self._table.change(changed)
        return bool(len(changed.removed) or len(changed.added))
