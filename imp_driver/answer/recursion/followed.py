"""One recursion, its rows brought from the given rows of one reading to those of the next."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pyarrow as pa

from imp_driver.answer.recursion.convert import as_rows
from imp_driver.answer.recursion.program import Program
from imp_driver.answer.recursion.rounds import EndlessRecursion, TooLarge, endless
from imp_driver.answer.recursion.table import RowTable
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.levels import Endless, Levels, RowChanges, TooManyRows
from imp_driver.reasons import Reason


class Followed:
    """The first relation of a recursion. Safe to use from several threads, each with its own given rows."""

    def __init__(self, program: Program, count: int, width: int) -> None:
        """Take how many given relations there are, and how many columns the rows have."""
        self._program = program
        self._width = width
        self._lock = threading.Lock()
        self.is_lost = False
        self._begin(count)

    def _begin(self, count: int) -> None:
        self._levels = Levels(self._program.rules, selections=self._program.selections)
        self._given: list[pa.Table | None] = [None] * count
        self._rows: list[set[Row]] = [set() for _ in range(count)]
        self._table = RowTable(self._program.types[0])
        self._found: pa.Table | None = None

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
                # Some of the changes may be counted. Rows that are too many are not to stay until somebody asks again.
                self.is_lost = True
                self._begin(len(given))
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
        if any(each.removed or each.added for each in changes.values()):
            try:
                changed = self._levels.apply(changes)[0]
            except Endless as error:
                kind = TooLarge if isinstance(error, TooManyRows) else EndlessRecursion
                raise kind(Reason.RECURSION, endless(str(error))) from error
            self._table.change(changed.serials, changed.added, changed.new_serials)
            self._found = None
        if self._found is None:
            self._found = self._shown()
        return self._found

    def _shown(self) -> pa.Table:
        """Return the rows under the columns of the plan, NULL in those that nobody reads."""
        rows = self._table.rows
        found = {place: rows.column(column) for column, place in enumerate(self._program.places)}
        return pa.table({f"c{place}": found.get(place, pa.nulls(rows.num_rows)) for place in range(self._width)})


def _different(table: pa.Table) -> set[Row]:
    if table.num_columns:
        return set(as_rows(table.columns))
    return {()} if table.num_rows else set()
