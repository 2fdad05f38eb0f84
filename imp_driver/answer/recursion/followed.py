"""One recursion, its rows brought from the given rows of one reading to those of the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pyarrow as pa

from imp_driver.answer.recursion.convert import as_rows
from imp_driver.answer.recursion.program import Program
from imp_driver.answer.recursion.rounds import endless
from imp_driver.answer.recursion.table import RowTable
from imp_driver.answer.recursion.why import Provenance
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.levels import Endless, Levels, RowChanges
from imp_driver.provenance.base_rows import Fact
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Grounds, Refused


class Followed:
    """The first relation of a recursion. Safe to use from several threads, each with its own given rows."""

    def __init__(self, program: Program, count: int, width: int, provenance: Provenance | None = None) -> None:
        """Take how many given relations there are, and how many columns the rows have."""
        self.provenance = provenance
        self._program = program
        self._width = width
        self._levels = Levels(program.rules, selections=program.selections)
        self._given: list[pa.Table | None] = [None] * count
        self._rows: list[set[Row]] = [set() for _ in range(count)]
        self._table = RowTable(program.types[0])
        self._found: pa.Table | None = None
        self._lock = threading.Lock()
        self._refused: Grounds | None = None
        self.is_lost = False

    def rows(self, given: Sequence[pa.Table]) -> pa.Table:
        """Return the rows for given ones, columns by place.

        Raises:
            NotEvaluable: Spark alone knows a value.
            Refused: there are too many.
        """
        with self._lock:
            if self._refused is not None:
                raise Refused.on(self._refused)
            try:
                return self._brought_to(given)
            except Refused as refused:
                # What has no end has none at the next reading either, until a table changes. Its rows take memory.
                self._refused, self._levels = refused.grounds, Levels(self._program.rules)
                raise
            except BaseException:
                # Some of the changes may be counted.
                self.is_lost = True
                raise

    @property
    def count(self) -> int:
        """How many rows it keeps, those included that are derived and not best."""
        return self._levels.memory_rows()

    def is_of_use(self, given: Sequence[pa.Table]) -> bool:
        """Say whether it can be brought to given rows, or is known to have no end for them."""
        is_same = all(known is not None and known.equals(own) for known, own in zip(self._given, given, strict=True))
        return not self.is_lost and (self._refused is None or is_same)

    def why(self, row: Row) -> Iterator[Sequence[Fact]]:
        """Yield the minimal sets of given rows by which a row is there, each with the number of its relation."""
        if self.provenance is None:
            return
        found = self.provenance.why(row)
        while True:
            # The diagrams are those of all readers.
            with self._lock:
                each = next(found, None)
            if each is None:
                return
            yield each

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
                if self.provenance is not None:
                    self.provenance.follow(changes)
                changed = self._levels.apply(changes)[0]
            except Endless as error:
                raise Refused(Reason.RECURSION, endless(str(error))) from error
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
