"""The whole path of a statement, in one place: text and parameters in, rows and a report out.

    parse -> not a query: Spark, and the new table version is recorded
          -> query: table and settings resolved -> snapshot -> sketch brought up to it -> query cut and pinned -> Spark

Whatever the path cannot be sure of ends in the caller's own text, run unchanged, with the reason in the report.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from imp_driver.config import Options, SketchMode
from imp_driver.dbapi.pipeline import Outcome
from imp_driver.delta.contract import ChangeSource, TableSnapshot
from imp_driver.errors import Error, OperationalError
from imp_driver.maintain.sketches import Prepared, Request, Sketches
from imp_driver.observe.commands import explain, run_command
from imp_driver.observe.report import SketchReport
from imp_driver.observe.shadow import compared
from imp_driver.observe.stopwatch import Stopwatch
from imp_driver.parse.analysis import analyse, levels_of, scanned_table
from imp_driver.parse.batch_insert import batch_insert
from imp_driver.parse.bind import bind
from imp_driver.parse.safety import check_filters, check_settings
from imp_driver.parse.statement import CommandKind, Statement, StatementKind, parse
from imp_driver.parse.supported import Refused
from imp_driver.parse.template import make_template
from imp_driver.ports import Parameters, Relation, RelationKind, ResultStream, Session
from imp_driver.reasons import Decision, Reason
from imp_driver.rewrite.splice import find_reference, pinned
from imp_driver.rewrite.use import Use, plan_use

_LOG = logging.getLogger("imp_driver")

_NOT_DELTA = {
    RelationKind.OTHER_TABLE: Reason.NOT_A_DELTA_TABLE,
    RelationKind.VIEW: Reason.VIEW,
    RelationKind.TEMPORARY_VIEW: Reason.TEMPORARY_VIEW,
}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A query ready to run with its sketch. ``pinned_text`` reads the same version uncut, for shadow mode."""

    text: str
    pinned_text: str
    request: Request
    prepared: Prepared
    report: SketchReport


class Middleware:
    """Runs the statements of one connection."""

    def __init__(self, session: Session, source: ChangeSource, sketches: Sketches, options: Options) -> None:
        self._session = session
        self._source = source
        self._sketches = sketches
        self._options = options
        self._interrupted: set[str] = set()

    def run(self, text: str, parameters: Parameters, tag: str) -> Outcome:
        """Run one statement. Raises only errors of this driver."""
        watch = Stopwatch()
        with watch.stage("parse"):
            statement = parse(text)
        if statement.kind is StatementKind.SKETCH_COMMAND:
            return self._command(statement, parameters)
        if statement.kind is not StatementKind.QUERY:
            return self._change(statement, parameters, tag, watch)
        try:
            rewritten = self._rewrite(statement, parameters, tag, watch)
        except Refused as refused:
            return self._plain(text, parameters, tag, watch, refused.reason, refused.detail)
        except Exception as error:
            return self._after_failure(error, text, parameters, tag, watch)
        return self._use(rewritten, text, parameters, tag, watch)

    def _rewrite(self, statement: Statement, parameters: Parameters, tag: str, watch: Stopwatch) -> Rewritten:
        if self._options.sketch is SketchMode.OFF:
            raise Refused(Reason.SKETCH_OFF)
        request = self._request(statement, parameters, watch)

        def read(text: str, view: str | None = None, rows: pa.Table | None = None) -> pa.Table:
            return self._session.read(text, tag) if view is None else self._session.read_with(text, view, rows, tag)

        prepared = self._sketches.prepare(request, read, watch)
        with watch.stage("rewrite"):
            type_name = next(column.type_name for column in request.snapshot.schema if column.name == prepared.sketch.attribute)
            use = plan_use(prepared.sketch, type_name, prepared.files, prepared.rows, self._options.maximum_runs)
            reference = find_reference(statement, levels_of(statement).scan)
            uncut = pinned(statement.text, reference, prepared.sketch.version, None)
            text = statement.text if use.condition is None else pinned(statement.text, reference, prepared.sketch.version, use.condition)
        return Rewritten(text, uncut, request, prepared, _report(request, prepared, use))

    def _request(self, statement: Statement, parameters: Parameters, watch: Stopwatch) -> Request:
        with watch.stage("resolve"):
            levels = levels_of(statement)
            relation = self._delta_table(scanned_table(levels))
            settings = self._session.settings()
            check_settings(settings)
        with watch.stage("version"):
            try:
                snapshot = self._source.snapshot(str(relation.location))
            except OperationalError as error:
                raise Refused(Reason.STORE_NOT_READABLE, str(error)) from error
        with watch.stage("analyse"):
            analysis = analyse(statement, snapshot.schema)
            block = bind(analysis.block, parameters, analysis.columns)
            check_filters(analysis.block, block)
            template = make_template(analysis.template_text, (snapshot.location, snapshot.table_id), settings)
        return Request(template, analysis, block, relation, snapshot, settings, self._options.fragments)

    def _delta_table(self, name: tuple[str, ...]) -> Relation:
        relation = self._session.resolve(name)
        if relation is None or relation.location is None or relation.kind is not RelationKind.DELTA_TABLE:
            reason = Reason.NOT_A_DELTA_TABLE if relation is None else _NOT_DELTA.get(relation.kind, Reason.NOT_A_DELTA_TABLE)
            raise Refused(reason, ".".join(name))
        return relation

    def _use(self, rewritten: Rewritten, text: str, parameters: Parameters, tag: str, watch: Stopwatch) -> Outcome:
        """Run the cut query, then make sure that it read the table which the sketch stands for."""
        report = replace(rewritten.report, executed_sql=rewritten.text, times=watch.times)
        try:
            with watch.stage("execute"):
                stream = self._session.execute(rewritten.text, parameters, tag)
        except Error as error:
            return self._after_failure(error, text, parameters, tag, watch)
        if report.reason is Reason.COVERS_ALMOST_ALL:
            return Outcome(stream, -1, report)
        if not self._is_still(rewritten.request.snapshot):
            stream.close()
            return self._plain(text, parameters, tag, watch, Reason.TABLE_CHANGED_MEANWHILE)
        if self._options.sketch is SketchMode.SHADOW:
            with watch.stage("shadow"):
                stream = compared(stream, lambda: self._session.execute(rewritten.pinned_text, parameters, tag), rewritten.text)
        return Outcome(stream, -1, report)

    def _is_still(self, snapshot: TableSnapshot) -> bool:
        try:
            return self._source.snapshot(snapshot.location).table_id == snapshot.table_id
        except OperationalError:
            return False

    def _plain(self, text: str, parameters: Parameters, tag: str, watch: Stopwatch, reason: Reason, detail: str = "") -> Outcome:
        report = SketchReport(Decision.NOT_USED, reason, detail, times=watch.times, executed_sql=text)
        with watch.stage("execute"):
            stream = self._session.execute(text, parameters, tag)
        return Outcome(stream, -1, report)

    def _after_failure(self, error: Exception, text: str, parameters: Parameters, tag: str, watch: Stopwatch) -> Outcome:
        """Run the query unchanged after the sketch failed, unless it was cancelled; in shadow mode nothing is hidden."""
        if tag in self._interrupted or (self._options.sketch is SketchMode.SHADOW and not isinstance(error, Error)):
            raise error
        _LOG.warning("The sketch could not be used, the query runs unchanged: %s", error, exc_info=not isinstance(error, Error))
        return self._plain(text, parameters, tag, watch, Reason.INTERNAL, f"{type(error).__name__}: {error}".split("\n", 1)[0])

    def _change(self, statement: Statement, parameters: Parameters, tag: str, watch: Stopwatch) -> Outcome:
        report = SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY, times=watch.times, executed_sql=statement.text)
        if statement.kind is not StatementKind.CHANGE:
            with watch.stage("execute"):
                return Outcome(self._session.execute(statement.text, parameters, tag), -1, report)
        before = self._target(statement)
        with watch.stage("execute"):
            stream = self._session.execute(statement.text, parameters, tag)
        rowcount, version = self._affected(stream, before)
        return Outcome(None, rowcount, replace(report, table=".".join(statement.target or ()), version=version))

    def _target(self, statement: Statement) -> TableSnapshot | None:
        """Return the Delta table that a statement is about to change."""
        relation = None if statement.target is None else self._session.resolve(statement.target)
        if relation is None or relation.location is None or relation.kind is not RelationKind.DELTA_TABLE:
            return None
        try:
            return self._source.snapshot(relation.location)
        except OperationalError:
            return None

    def _affected(self, stream: ResultStream | None, before: TableSnapshot | None) -> tuple[int, int | None]:
        """Return the affected rows (-1 unknown) and the version that the statement committed, and record it.

        UPDATE, DELETE and MERGE say their count; that of INSERT is in its commit.
        """
        batch = stream.next_batch() if stream is not None and stream.columns and stream.columns[0].name == "num_affected_rows" else None
        if stream is not None:
            stream.close()
        counted = None if batch is None else int(batch.column(0)[0].as_py())
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
        return metrics.get("numOutputRows", -1) if counted is None else counted, version

    def run_many(self, text: str, rows: Sequence[Parameters], tag: str) -> Outcome:
        """Run one statement for many rows; an INSERT of VALUES becomes one append and one commit."""
        batch = batch_insert(text, rows)
        if batch is None:
            return self._run_each(text, rows, tag)
        statement = parse(text)
        watch = Stopwatch()
        before = self._target(statement)
        with watch.stage("execute"):
            self._session.append(batch.text, batch.view, batch.rows, tag)
        count, version = self._affected(None, before)
        return Outcome(
            None, count, SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY, version=version, times=watch.times, executed_sql=batch.text)
        )

    def _run_each(self, text: str, rows: Sequence[Parameters], tag: str) -> Outcome:
        total = 0
        outcome: Outcome | None = None
        for row in rows:
            outcome = self.run(text, row, tag)
            if outcome.stream is not None:
                outcome.stream.close()
            total = -1 if outcome.rowcount < 0 or total < 0 else total + outcome.rowcount
        assert outcome is not None
        return Outcome(None, total, outcome.report)

    def _command(self, statement: Statement, parameters: Parameters) -> Outcome:
        command = statement.command
        assert command is not None
        if command.kind is CommandKind.EXPLAIN:
            explained = parse(command.argument)
            return explain(explained, lambda: self._request(explained, parameters, Stopwatch()), self._sketches)
        return run_command(command, self._sketches)

    def interrupt(self, tag: str) -> None:
        """Cancel the run with this tag, from any thread."""
        self._interrupted.add(tag)
        self._session.interrupt(tag)

    def close(self) -> None:
        self._session.close()


def _report(request: Request, prepared: Prepared, use: Use) -> SketchReport:
    upkeep, sketch = prepared.upkeep, prepared.sketch
    return SketchReport(
        decision=upkeep.decision,
        reason=Reason.COVERS_ALMOST_ALL if use.condition is None else Reason.FILTERED,
        detail=upkeep.detail,
        template=request.template.identifier,
        sketch_id=prepared.entry.identifier,
        table=prepared.entry.table,
        attribute=sketch.attribute,
        from_version=upkeep.from_version,
        version=sketch.version,
        delta_rows=upkeep.delta_rows,
        delta_source=upkeep.delta_source,
        recapture_reason=upkeep.recapture_reason,
        fragments_kept=sketch.fragments.count,
        fragments_total=sketch.fragments.total,
        runs_used=use.runs,
        files_kept=use.coverage.files_kept,
        files_total=use.coverage.files_total,
        bytes_kept=use.coverage.bytes_kept,
        bytes_total=use.coverage.bytes_total,
    )
