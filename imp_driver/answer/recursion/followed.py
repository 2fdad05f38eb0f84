"""One recursion, its rows brought from the given rows of one reading to those of the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import pyarrow as pa

from imp_driver.answer.recursion.in_rows import InRows
from imp_driver.answer.recursion.in_vectors import InVectors
from imp_driver.answer.recursion.program import Program
from imp_driver.answer.recursion.rounds import EndlessRecursion, TooLarge, endless
from imp_driver.answer.recursion.why import MOST_NODES, Provenance
from imp_driver.dataflow.recursion.dictionaries import NotVectorised
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.keys import NotPacked
from imp_driver.dataflow.recursion.levels import Endless, TooManyRows
from imp_driver.errors import NotSupportedError
from imp_driver.provenance.base_rows import Fact
from imp_driver.provenance.derived import Derivations, supports
from imp_driver.provenance.diagrams import Diagrams, TooManyNodes
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused

FEW_GIVEN = 2_000
"""Rows of tables that lead to more than are kept in process, by new values, rather without end than with one; no engine need try."""


class Followed:
    """The first relation of a recursion. Safe to use from several threads, each with its own given rows."""

    def __init__(self, program: Program, count: int, width: int, provenance: Provenance | None = None) -> None:
        """Take how many given relations there are, and how many columns the rows have."""
        self.provenance = provenance
        self._program = program
        self._width = width
        self._kept = self._begun()
        self._given: list[pa.Table | None] = [None] * count
        self._found: pa.Table | None = None
        self._derivations: Derivations | None = None
        self._lock = threading.Lock()
        self._refused: Refused | None = None
        self._outgrown_by: Sequence[pa.Table] | None = None
        self.is_lost = False

    def _begun(self) -> InRows | InVectors:
        """Return what has no rows yet."""
        if self.provenance is None and not self._program.selections:
            with suppress(NotVectorised):
                return InVectors(self._program)
        return InRows(self._program, self.provenance)

    def rows(self, given: Sequence[pa.Table]) -> pa.Table:
        """Return the rows for given ones, columns by place.

        Raises:
            NotEvaluable: Spark alone knows a value.
            Refused: there are too many.
        """
        with self._lock:
            if self._refused is not None:
                raise type(self._refused).on(self._refused.grounds)
            try:
                return self._brought_to(given)
            except Refused as refused:
                # What has no end has none at the next reading either, until a table changes. Its rows take memory.
                self._refused, self._kept, self._found = type(refused).on(refused.grounds), self._begun(), None
                raise
            except BaseException:
                # Some of the changes may be counted.
                self.is_lost = True
                raise

    @property
    def count(self) -> int:
        """How many rows it keeps."""
        return self._kept.count

    def is_of_use(self, given: Sequence[pa.Table]) -> bool:
        """Say whether it can be brought to given rows, or is known to have no end for them."""
        if self.is_lost or self._refused is None:
            return not self.is_lost
        return all(known is not None and known.equals(own) for known, own in zip(self._given, given, strict=True))

    def may_be_told_again(self, given: Sequence[pa.Table]) -> bool:
        """Say whether provenance was given up for more nodes than there may be with these given rows, which are others."""
        known = self._outgrown_by
        return known is not None and not all(each.equals(own) for each, own in zip(known, given, strict=True))

    def why(self, row: Row) -> Iterator[Sequence[Fact]]:
        """Yield the minimal sets of given rows by which a row is there, each with the number of its relation.

        Raises NotSupportedError where there are too many.
        """
        found = self._why_best(row) if self.provenance is None else self.provenance.why(row)
        while True:
            try:
                # The diagrams are those of all readers.
                with self._lock:
                    each = next(found, None)
            except TooManyNodes:
                raise NotSupportedError(f"It needs more than {MOST_NODES} nodes to say why a row is there.") from None
            if each is None:
                return
            yield each

    @property
    def tells_best(self) -> bool:
        """Whether all that best rows follow from are best rows."""
        kinds = [self._program.types[place][selection.measure] for place, selection in self._program.selections.items()]
        return bool(kinds) and not any(map(pa.types.is_floating, kinds))

    def _why_best(self, row: Row) -> Iterator[Sequence[Fact]]:
        if not isinstance(self._kept, InRows):
            return
        if self._derivations is None:
            self._derivations = self._kept.derivations()
        for found in supports(self._derivations, (0, row), Diagrams(limit=MOST_NODES)):
            yield sorted(found, key=repr)

    def _brought_to(self, given: Sequence[pa.Table]) -> pa.Table:
        first, changed = len(self._program.types), dict[int, pa.Table]()
        for place, table in enumerate(given):
            known = self._given[place]
            if known is None or not known.equals(table):
                changed[first + place] = self._given[place] = table
        if changed:
            self._derivations = None
        if changed and self._replace(changed, given):
            self._found = None
        if self.provenance is not None and self.provenance.is_outgrown and self._outgrown_by is None:
            self._outgrown_by = tuple(given)
        if self._found is None:
            self._found = self._shown()
        return self._found

    def _replace(self, changed: Mapping[int, pa.Table], given: Sequence[pa.Table]) -> bool:
        try:
            return self._kept.replace(changed)
        except NotPacked:
            self._kept = InRows(self._program, self.provenance)
            return self._replace(dict(enumerate(given, len(self._program.types))), given)
        except Endless as error:
            raise self._refusal(error, sum(table.num_rows for table in given)) from error

    def _refusal(self, error: Endless, given: int) -> Refused:
        if not isinstance(error, TooManyRows):
            return EndlessRecursion(Reason.RECURSION, endless(str(error)))
        if self._program.has_new_values and given < FEW_GIVEN:
            return EndlessRecursion(Reason.RECURSION, f"{endless(str(error))}; if it ends, option recursion=spark has Spark compute it")
        return TooLarge(Reason.RECURSION, endless(str(error)))

    def _shown(self) -> pa.Table:
        """Return the rows under the columns of the plan, NULL in those that nobody reads."""
        rows = self._kept.rows
        found = {place: rows.column(column) for column, place in enumerate(self._program.places)}
        return pa.table({f"c{place}": found.get(place, pa.nulls(rows.num_rows)) for place in range(self._width)})
