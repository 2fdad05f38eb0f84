"""One recursion, its rows brought from the given rows of one reading to those of the next."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pyarrow as pa

from imp_driver.answer.recursion.convert import as_column, as_rows
from imp_driver.answer.recursion.program import Program
from imp_driver.answer.recursion.rounds import endless
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.levels import Endless, Levels, RowChanges
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


class Followed:
    """The first relation of a recursion. Safe to use from several threads, each with its own given rows."""

    def __init__(self, program: Program, count: int, width: int) -> None:
        """Take how many given relations there are, and how many columns the rows have."""
        self._program = program
        self._width = width
        self._levels = Levels(program.rules, selections=program.selections)
        self._given: list[pa.Table | None] = [None] * count
        self._rows: list[set[Row]] = [set() for _ in range(count)]
        self._table: pa.Table | None = None
        self._lock = threading.Lock()
        self.is_lost = False

    def rows(self, given: Sequence[pa.Table]) -> pa.Table:
        """Return the rows for given ones, columns by place.

        Raises:
            NotEvaluable: Spark alone knows a value.
            Refused: there are too many.
        """
        with self._lock:
            try:
                return self._brought_to(given)
            except BaseException:
                # Some of the changes may be counted.
                self.is_lost = True
                raise

    def _brought_to(self, given: Sequence[pa.Table]) -> pa.Table:
        first = len(self._program.types)
        changes = {}
        for place, table in enumerate(given):
            known = self._given[place]
            if known is None or not known.equals(table):
                rows = _different(table)
                before = self._rows[place]
                changes[first + place] = RowChanges(before - rows, rows - before)
                self._given[place], self._rows[place] = table, rows
        if self._table is None or any(each.removed or each.added for each in changes.values()):
            try:
                self._levels.apply(changes)
            except Endless as error:
                raise Refused(Reason.RECURSION, endless(str(error))) from error
            self._table = self._as_table()
        return self._table

    def _as_table(self) -> pa.Table:
        """Return the rows, NULL in the columns that nobody reads."""
        kinds = self._program.types[0]
        columns = list(zip(*self._levels.rows(0), strict=True)) or [()] * len(kinds)
        arrays = {place: as_column(values, kind) for place, values, kind in zip(self._program.places, columns, kinds, strict=True)}
        count = len(self._levels.rows(0))
        return pa.table({f"c{place}": arrays.get(place, pa.nulls(count)) for place in range(self._width)})


def _different(table: pa.Table) -> set[Row]:
    if table.num_columns:
        return set(as_rows(table.columns))
    return {()} if table.num_rows else set()
