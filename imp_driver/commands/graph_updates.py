"""Updates of SPARQL: each becomes one MERGE or one DELETE of a graph's table, which is one commit, and none where nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias
from uuid import uuid4

import pyarrow as pa

from imp_driver.changes import NO_SKETCH, Changes
from imp_driver.commands.graph_files import loaded_rows
from imp_driver.commands.graph_names import changed_graph
from imp_driver.errors import CANCELLED, DataError, Error, NotSupportedError, OperationalError
from imp_driver.parse.batch_insert import BatchInsert
from imp_driver.parse.statement import parse
from imp_driver.ports import Outcome, Session
from imp_driver.sparql.algebra import Clear, Load, Modify, Pattern, Source, Update, Values, Variable, variables
from imp_driver.sparql.files import SCHEMA
from imp_driver.sparql.given import bound
from imp_driver.sparql.graph_table import IS_ADDED, clear_text, effective_text, merge_text
from imp_driver.sparql.read import read_updates
from imp_driver.sparql.templates import Row, rows_of
from imp_driver.sparql.terms import Term
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified

Solutions: TypeAlias = Callable[[Pattern, Execution], Sequence[Sequence[Term | None]]]
"""Gives the solutions of a pattern now, each as often as it counts, with values in the order of ``algebra.variables``."""

_TRIES = 5
"""So often an update is tried where other writers commit meanwhile."""
_CONFLICT = "DELTA_CONCURRENT"


class GraphUpdates:
    """The updates of one connection."""

    def __init__(self, session: Session, changes: Changes, solutions: Solutions) -> None:
        self._session = session
        self._changes = changes
        self._solutions = solutions

    def run_text(self, text: str, default: Source | None, execution: Execution) -> Outcome:
        """Run what a text says.

        Args:
            default: the graph that is meant where the text names none.

        Raises:
            ProgrammingError: the text cannot be read, or a parameter is no term.
            Error: as ``run``.
        """
        with execution.watch.stage("parse"):
            updates = read_updates(text, default, bound(execution.parameters, text))
        return self.run(updates, execution)

    def run(self, updates: Sequence[Update], execution: Execution) -> Outcome:
        """Run updates one after the other; the row count is that of all triples that they have inserted or deleted.

        One that fails leaves those before it done, as each is a commit.

        Raises:
            ProgrammingError: a graph is not there, or a file is wrong.
            NotSupportedError: one update changes several tables.
            DataError: a term cannot be stored.
            OperationalError: other writers are always faster, or a file cannot be read.
            Error: Spark failed.
        """
        count, report = 0, replace(NO_SKETCH, times=execution.watch.times)
        for update in updates:
            outcome = self._tried(update, execution)
            count, report = count + max(0, outcome.rowcount), outcome.report
        return Outcome(None, count, report)

    def _tried(self, update: Update, execution: Execution) -> Outcome:
        for _ in range(_TRIES - 1):
            try:
                return self._run(update, execution)
            except OperationalError as error:
                if not (error.error_class or "").startswith(_CONFLICT):
                    raise
        return self._run(update, execution)

    def _run(self, update: Update, execution: Execution) -> Outcome:
        match update:
            case Modify():
                return self._modify(update, execution)
            case Load():
                return _silently(lambda: self._load(update, execution), is_silent=update.is_silent)
            case Clear():
                return _silently(lambda: self._clear(update, execution), is_silent=update.is_silent)

    def _modify(self, update: Modify, execution: Execution) -> Outcome:
        tables = {quad.source.table for quad in (*update.deleted, *update.inserted)}
        names = {table: changed_graph(self._session, table) for table in sorted(tables)}
        if len(set(names.values())) > 1:
            raise NotSupportedError(
                f"One update cannot change the graphs {' and '.join(names)}: Delta commits each table by itself. Write an update for each."
            )
        bound, solutions = self._solved(update.pattern, execution)
        added = _united(rows_of(update.inserted, bound, solutions).values())
        deleted = _united(rows_of(update.deleted, bound, solutions).values())
        gone = [row for row in deleted if row not in added]
        if not names or not (gone or added):
            return Outcome(None, 0, replace(NO_SKETCH, times=execution.watch.times))
        return self._merge(next(iter(names.values())), _table(gone), _table(list(added)), execution)

    def _solved(self, pattern: Pattern, execution: Execution) -> tuple[Sequence[Variable], Sequence[Sequence[Term | None]]]:
        if isinstance(pattern, Values):
            return pattern.variables, pattern.rows
        return variables(pattern), self._solutions(pattern, execution)

    def _load(self, update: Load, execution: Execution) -> Outcome:
        name = changed_graph(self._session, update.target.table)
        rows = loaded_rows(update.location, update.target.name)
        return self._merge(name, None, rows, execution)

    def _merge(self, name: tuple[str, ...], gone: pa.Table | None, added: pa.Table, execution: Execution) -> Outcome:
        view = f"__imp_triples_{uuid4().hex}"
        is_only_added = gone is None or not gone.num_rows
        rows = added
        if gone is not None and not is_only_added:
            rows = pa.concat_tables([_marked(gone, is_added=False), _marked(added, is_added=True)])
        if added.num_rows and not is_only_added:
            # Of a MERGE that deletes and inserts, Delta makes a commit as soon as a row matches, also where none is changed.
            with execution.watch.stage("compare"):
                rows = self._session.read_with(effective_text(name, view), view, rows, execution)
            if not rows.num_rows:
                return Outcome(None, 0, replace(NO_SKETCH, times=execution.watch.times))
        subjects, predicates = (rows.column(column).unique().to_pylist() for column in ("s", "p"))
        text = merge_text(name, view, subjects, predicates, is_only_added=is_only_added)
        return self._changes.write(parse(f"MERGE INTO {qualified(name)}"), BatchInsert(text, view, rows), execution)

    def _clear(self, update: Clear, execution: Execution) -> Outcome:
        graphs: dict[tuple[str, ...], set[Term | None]] = {}
        for source in update.sources:
            graphs.setdefault(changed_graph(self._session, source.table), set()).add(source.name)
        whole = {changed_graph(self._session, table) for table in update.tables}
        count, outcome = 0, Outcome(None, 0, replace(NO_SKETCH, times=execution.watch.times))
        for name in dict.fromkeys((*graphs, *sorted(whole))):
            named = sorted(graphs.get(name, ()), key=lambda each: each or "")
            text = clear_text(name, named, is_every_named=name in whole)
            outcome = self._changes.run(parse(text), execution.of(text))
            count += max(0, outcome.rowcount)
        return Outcome(None, count, outcome.report)


def _silently(run: Callable[[], Outcome], *, is_silent: bool) -> Outcome:
    """Run; where it is to be silent, what goes wrong changes nothing. Source: SPARQL 1.1 Update, sections 3.1.4 and 3.1.5."""
    try:
        return run()
    except Error as error:
        if not is_silent or error.error_class == CANCELLED or (error.error_class or "").startswith(_CONFLICT):
            raise
        return Outcome(None, 0, NO_SKETCH)


def _united(every: Iterable[dict[Row, None]]) -> dict[Row, None]:
    return {row: None for rows in every for row in rows}


def _table(rows: Sequence[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    try:
        return pa.Table.from_arrays([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)
    except (UnicodeEncodeError, pa.ArrowException) as error:
        raise DataError("A term has half of a character (a lone surrogate), which no table can hold.") from error


def _marked(rows: pa.Table, *, is_added: bool) -> pa.Table:
    return rows.append_column(pa.field(IS_ADDED, pa.bool_(), nullable=False), pa.array([is_added] * rows.num_rows, pa.bool_()))
