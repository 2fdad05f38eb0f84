"""Statements that are no queries: run as they are, and what they did to their table: affected rows, the version, and who must know."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from imp_driver.errors import OperationalError, ProgrammingError
from imp_driver.parse.batch_insert import BatchInsert, batch_insert
from imp_driver.parse.commands import SPARQL
from imp_driver.parse.statement import Statement, StatementKind, parse
from imp_driver.ports import Outcome, RelationKind, ResultStream, Session
from imp_driver.reasons import Decision, Reason
from imp_driver.snapshot.versions import ReadTransaction
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import ChangeSource, ChangesUnavailable, TableSnapshot

_INSERT = re.compile(r"\s*INSERT\b", re.IGNORECASE)
_IDENTITY = "delta.identity.start"
_ROWS_LOST = "executemany is for changes: the rows of a query would be lost. Use execute for each."
NO_SKETCH = SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY)


class Changes:
    """Runs the changes of one connection; ``wake`` is called after each, since tables may have new versions."""

    def __init__(self, session: Session, source: ChangeSource, transaction: ReadTransaction, wake: Callable[[], None]) -> None:
        self._session = session
        self._source = source
        self._transaction = transaction
        self._wake = wake

    def run(self, statement: Statement, execution: Execution) -> Outcome:
        """Run a statement that changes data, definitions or settings. Raises Error."""
        report = replace(NO_SKETCH, times=execution.watch.times, executed_sql=statement.text)
        self._transaction.check(statement)
        before = self.target(statement) if statement.kind is StatementKind.CHANGE else None
        with execution.watch.stage("execute"):
            stream = self._session.execute(execution.with_text(statement.text))
        if statement.kind is not StatementKind.CHANGE:
            return Outcome(stream, -1, report)
        rowcount, version = self._affected(stream, before)
        outcome = Outcome(None, rowcount, replace(report, table=".".join(statement.target or ()), version=version))
        if before is None or version is None or rowcount != 1 or not _INSERT.match(statement.text):
            return outcome
        return replace(outcome, generated=lambda: self._generated(statement, before, version))

    def run_many(self, execution: Execution, rows: Sequence[Parameters], run_one: Callable[[Execution], Outcome]) -> Outcome:
        """Run a statement for one row or more: an INSERT of VALUES as one append and one commit, others by ``run_one``. Raises Error."""
        batch = batch_insert(execution.text, rows)
        if batch is not None:
            return self._append(batch, execution)
        statement = parse(execution.text)
        if statement.kind is StatementKind.QUERY:
            raise ProgrammingError(_ROWS_LOST)
        total = 0
        for row in rows:
            outcome = run_one(execution.of(execution.text, row))
            if outcome.stream is not None:
                outcome.stream.close()
                if statement.command is not None and statement.command.kind in SPARQL:
                    raise ProgrammingError(_ROWS_LOST)
            total = -1 if outcome.rowcount < 0 or total < 0 else total + outcome.rowcount
        return Outcome(None, total, outcome.report)

    def _append(self, batch: BatchInsert, execution: Execution) -> Outcome:
        return self.write(parse(execution.text), batch, execution)

    def write(self, statement: Statement, batch: BatchInsert, execution: Execution) -> Outcome:
        """Run the text of a batch, which does what a statement does, while its rows are visible. Raises Error."""
        self._transaction.check(statement)
        before = self.target(statement)
        with execution.watch.stage("execute"):
            self._session.append(batch.text, batch.view, batch.rows, execution)
        count, version = self._affected(None, before)
        return Outcome(None, count, replace(NO_SKETCH, version=version, times=execution.watch.times, executed_sql=batch.text))

    def target(self, statement: Statement) -> TableSnapshot | None:
        """Return the Delta table that a statement is about to change."""
        relation = None if statement.target is None else self._session.resolve(statement.target)
        if relation is None or relation.location is None or relation.kind is not RelationKind.DELTA_TABLE:
            return None
        try:
            return self._source.snapshot(relation.location)
        except OperationalError:
            return None

    def _generated(self, statement: Statement, before: TableSnapshot, version: int) -> int | None:
        """Return the value in the identity column of the one row that a commit has stored; None without one, or where it cannot be read."""
        definition = None if statement.target is None else self._session.definition(statement.target)
        name = None if definition is None else identity_column(definition.schema)
        if name is None:
            return None
        try:
            plan = self._source.plan(before.location, before.table_id, version - 1, version)
            if plan.relation is not None:
                return None
            stored = self._source.read(plan, (name,))
        except ChangesUnavailable:
            return None
        values = [value for value, weight in zip(stored.rows.column(name).to_pylist(), stored.weights, strict=True) if weight > 0]
        return values[0] if len(values) == 1 else None

    def _affected(self, stream: ResultStream | None, before: TableSnapshot | None) -> tuple[int, int | None]:
        """Return the affected rows (-1 unknown) and the version that the statement committed, and record it.

        UPDATE, DELETE and MERGE say their count; that of INSERT is in its commit.
        """
        counted = None if stream is None else _counted_rows(stream)
        self._wake()
        version = self._session.last_commit_version()
        if before is None or version is None:
            return -1 if counted is None else counted, None
        try:
            # The next query then finds the new version's log read already.
            newest = self._source.snapshot(before.location).version
            if not before.version < version <= newest:
                # Delta makes no commit for a statement that changes nothing; the session's last one was another's.
                return counted or 0, before.version
            metrics = self._source.commit_metrics(before.location, version) if counted is None else {}
        except OperationalError:
            # The statement is committed; that the table can no longer be read now must not make it fail.
            return -1 if counted is None else counted, None
        self._transaction.note_written(before.location, version)
        return _changed_rows(metrics) if counted is None else counted, version


def identity_column(schema: str) -> str | None:
    """Return the column of a table, Spark's JSON of a struct, whose values Delta makes by counting; None where there is none."""
    fields = json.loads(schema)["fields"]
    return next((field["name"] for field in fields if _IDENTITY in (field.get("metadata") or {})), None)


def _changed_rows(metrics: Mapping[str, int]) -> int:
    """Return how many rows a commit has changed, -1 where it does not say; a MERGE also writes rows that stay as they are."""
    merged = [metrics[f"numTargetRows{what}"] for what in ("Inserted", "Updated", "Deleted") if f"numTargetRows{what}" in metrics]
    return sum(merged) if merged else metrics.get("numOutputRows", -1)


def _counted_rows(stream: ResultStream) -> int | None:
    """Close the stream of a statement that changed a table; return the rows it counted, None where it counts none."""
    counts = stream.columns and stream.columns[0].name == "num_affected_rows"
    batch = stream.next_batch() if counts else None
    stream.close()
    return None if batch is None else int(batch.column(0)[0].as_py())
