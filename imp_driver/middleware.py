"""The whole path of a statement, in one place: text and parameters in, rows and a report out.

    parse -> not a query: Spark, and the new table version is recorded
          -> query: table and settings resolved -> snapshot -> sketch brought up to it -> query cut and pinned -> Spark

Whatever the path cannot be sure of ends in the caller's own text, run unchanged, with the reason in the report.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from imp_driver.advise.advisor import Advisor
from imp_driver.changes import Changes
from imp_driver.commands.commands import Commands
from imp_driver.errors import Error
from imp_driver.maintain.sketches import Sketches
from imp_driver.parse.markers import check_values
from imp_driver.parse.statement import Statement, StatementKind, may_have_markers, parse
from imp_driver.ports import Outcome, Session, TableDefinition
from imp_driver.reasons import Decision, Reason
from imp_driver.rewrite.comparison import Comparison
from imp_driver.rewrite.rewriter import Rewriter, Rewritten
from imp_driver.rewrite.summary import report_of
from imp_driver.snapshot.reading import is_still
from imp_driver.snapshot.versions import ReadTransaction, text_at
from imp_driver.values.failures import described
from imp_driver.values.options import Options, SketchMode
from imp_driver.values.refusal import Refused
from imp_driver.values.report import SketchReport
from imp_driver.values.run import Parameters, Run
from imp_driver.values.tables import ChangeSource

_LOG = logging.getLogger("imp_driver")


class Middleware:
    """Runs the statements of one connection."""

    def __init__(self, session: Session, source: ChangeSource, sketches: Sketches, options: Options) -> None:
        self._session = session
        self._source = source
        self._sketches = sketches
        self._advisor = Advisor(session, source, sketches)
        self._transaction = ReadTransaction(source, options.snapshot)
        self._changes = Changes(session, source, self._transaction, sketches.eager.wake)
        self._choose(options)
        self._is_open = True
        sketches.open(options)

    def _choose(self, options: Options) -> None:
        self._options = options
        self._rewriter = Rewriter(self._session, self._source, self._sketches, options, self._transaction, self._advisor.asked)
        self._comparison = Comparison(self._session, self._sketches, options)
        self._commands = Commands(
            self._session, self._sketches, self._advisor, self._transaction, self._changes, self._rewriter.requests, self.run
        )

    def run(self, run: Run) -> Outcome:
        """Run one statement. Raises only errors of this driver."""
        with run.watch.stage("parse"):
            statement = parse(run.text)
            if may_have_markers(statement, run.parameters):
                check_values(run.text, run.parameters)
        if statement.kind is StatementKind.SKETCH_COMMAND:
            return self._commands.run(statement, run)
        if statement.kind is not StatementKind.QUERY:
            return self._changes.run(statement, run)
        outcome = self._query(statement, run)
        self._advisor.record(run, statement, outcome.report)
        return outcome

    def _query(self, statement: Statement, run: Run) -> Outcome:
        found = self._sketched(statement, run)
        # Outside any handler: behind an error of Spark no other may stand, which could name ranges of a table that is not to be read.
        return found if isinstance(found, Outcome) else self._plain(statement, run, *found)

    def _sketched(self, statement: Statement, run: Run) -> Outcome | tuple[Reason, str]:
        """Answer with a sketch, or say why the query is to run unchanged."""
        try:
            rewritten = self._rewriter.rewrite(statement, run)
        except Refused as refused:
            return refused.reason, refused.detail
        except Exception as error:
            return self._failed(error, run)
        return self._use(rewritten, run)

    def _use(self, rewritten: Rewritten, run: Run) -> Outcome | tuple[Reason, str]:
        """Run the cut query, then make sure that it read the table which the sketch stands for."""
        report = replace(report_of(rewritten.parts), executed_sql=rewritten.text, times=run.watch.times)
        try:
            with run.watch.stage("execute"):
                stream = self._session.execute(run.with_text(rewritten.text))
        except Error as error:
            return self._failed(error, run)
        self._rewriter.note_time(rewritten, run.watch.times["execute"] / 1000)
        if report.reason is Reason.COVERS_ALMOST_ALL:
            return Outcome(stream, -1, report)
        if not all(is_still(self._source, snapshot) for snapshot in rewritten.snapshots):
            stream.close()
            return Reason.TABLE_CHANGED_MEANWHILE, ""
        return self._comparison.checked(stream, rewritten, run, report)

    def _plain(self, statement: Statement, run: Run, reason: Reason, detail: str) -> Outcome:
        """Run the caller's own text, in a transaction at its versions."""
        text = text_at(statement, self._session, self._transaction) if self._transaction.is_open else statement.text
        report = SketchReport(Decision.NOT_USED, reason, detail, times=run.watch.times, executed_sql=text)
        with run.watch.stage("execute"):
            return Outcome(self._session.execute(run.with_text(text)), -1, report)

    def _failed(self, error: Exception, run: Run) -> tuple[Reason, str]:
        """Let the query run unchanged after the sketch failed, unless it was cancelled; in shadow mode nothing is hidden."""
        if run.token.is_cancelled or (self._options.sketch is SketchMode.SHADOW and not isinstance(error, Error)):
            raise error
        _LOG.warning("The sketch could not be used, the query runs unchanged: %s", described(error))
        return Reason.INTERNAL, f"{type(error).__name__}: {error}".split("\n", 1)[0]

    def run_many(self, run: Run, rows: Sequence[Parameters]) -> Outcome:
        """Run one statement for many rows; an INSERT of VALUES becomes one append and one commit."""
        return self._changes.run_many(run, rows, self.run)

    def using(self, sketch: SketchMode) -> Middleware:
        """Return the path of the same connection with another way to use sketches."""
        other = copy(self)
        other._choose(replace(self._options, sketch=sketch))
        return other

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return self._session.definition(name)

    def end_transaction(self) -> None:
        self._transaction.end()

    def interrupt(self, run: Run) -> None:
        """Cancel a run, from any thread."""
        run.token.cancel()
        self._session.interrupt(run)

    def close(self) -> None:
        try:
            self._advisor.close()
            self._session.close()
        finally:
            if self._is_open:
                self._is_open = False
                self._sketches.close(self._options)
