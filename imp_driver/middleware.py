"""The whole path of a statement, in one place: text and parameters in, rows and a report out.

    parse -> not a query: Spark, and the new table version is recorded
          -> query: table and settings resolved -> snapshot -> sketch brought up to it -> query cut and pinned -> Spark

Whatever the path cannot be sure of ends in the caller's own text, run unchanged, with the reason in the report.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace

import pyarrow as pa

from imp_driver.advise.advisor import Advisor
from imp_driver.cancel import CancellationToken
from imp_driver.changes import Changes
from imp_driver.config import Options, Policy, SketchMode
from imp_driver.dbapi.pipeline import Outcome
from imp_driver.delta.contract import ChangeSource, TableSnapshot
from imp_driver.errors import Error
from imp_driver.maintain.request import Prepared, Request
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.skipping import own_share
from imp_driver.maintain.upkeep import Means
from imp_driver.observe.cluster import check_failure, cluster_statements
from imp_driver.observe.commands import advise, explain, run_command
from imp_driver.observe.failures import described
from imp_driver.observe.report import SketchReport
from imp_driver.observe.shadow import Answer, check_same
from imp_driver.observe.stopwatch import Stopwatch
from imp_driver.observe.summary import report_of
from imp_driver.parse.batch_insert import batch_insert
from imp_driver.parse.markers import check_values
from imp_driver.parse.statement import LARGEST_CHANGE, CommandKind, Statement, StatementKind, parse
from imp_driver.parse.supported import Refused, accepted
from imp_driver.parse.template import make_template
from imp_driver.parse.time_travel import time_travel
from imp_driver.ports import Parameters, ResultStream, Session, TableDefinition
from imp_driver.reading import Reading, is_still, read
from imp_driver.reasons import Decision, Reason
from imp_driver.rewrite.splice import Pin, pin_of, pinned
from imp_driver.rewrite.use import Part, conditions_of, plan_use
from imp_driver.safety.analysis import Analysis
from imp_driver.versions import TRANSACTION_COMMANDS, ReadTransaction, TextVersions, text_at

_LOG = logging.getLogger("imp_driver")


def _check_values(statement: Statement, parameters: Parameters) -> None:
    """Raise ProgrammingError where values and markers do not match; a question mark in a command is no marker."""
    is_likely = "?" in statement.text and statement.kind in (StatementKind.QUERY, StatementKind.CHANGE)
    if parameters or (is_likely and len(statement.text) <= LARGEST_CHANGE):
        check_values(statement.text, parameters)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A query ready to run with its sketches. ``pinned_text`` reads the same versions uncut, for shadow mode."""

    text: str
    pinned_text: str
    snapshots: tuple[TableSnapshot, ...]
    parts: tuple[Part, ...]


class Middleware:
    """Runs the statements of one connection."""

    def __init__(self, session: Session, source: ChangeSource, sketches: Sketches, options: Options) -> None:
        self._session = session
        self._source = source
        self._sketches = sketches
        self._options = options
        self._tokens: dict[str, CancellationToken] = {}
        self._advisor = Advisor(session, source, sketches)
        self._transaction = ReadTransaction(source, options.snapshot)
        self._changes = Changes(session, source, sketches, self._transaction)
        self._is_open = True
        sketches.open(options)

    def run(self, text: str, parameters: Parameters, tag: str, watch: Stopwatch | None = None) -> Outcome:
        """Run one statement; ``watch`` is told its stages. Raises only errors of this driver."""
        with self._cancellable(tag):
            return self._run(text, parameters, tag, watch or Stopwatch())

    @contextmanager
    def _cancellable(self, tag: str) -> Iterator[None]:
        """Let a run be interrupted from now on, in all of its statements."""
        if tag in self._tokens:
            yield
            return
        self._tokens[tag] = CancellationToken(tag)
        try:
            yield
        finally:
            del self._tokens[tag]

    def _run(self, text: str, parameters: Parameters, tag: str, watch: Stopwatch) -> Outcome:
        with watch.stage("parse"):
            statement = parse(text)
        _check_values(statement, parameters)
        if statement.kind is StatementKind.SKETCH_COMMAND:
            return self._command(statement, parameters, tag)
        if statement.kind is not StatementKind.QUERY:
            return self._change(statement, parameters, tag, watch)
        outcome = self._query(statement, parameters, tag, watch)
        self._advisor.record(tag, statement, outcome.report)
        return outcome

    def _query(self, statement: Statement, parameters: Parameters, tag: str, watch: Stopwatch) -> Outcome:
        found = self._sketched(statement, parameters, tag, watch)
        # Outside any handler: behind an error of Spark no other may stand, which could name ranges of a table that is not to be read.
        return found if isinstance(found, Outcome) else self._plain(self._uncut(statement), parameters, tag, watch, *found)

    def _sketched(self, statement: Statement, parameters: Parameters, tag: str, watch: Stopwatch) -> Outcome | tuple[Reason, str]:
        """Answer with a sketch, or say why the query is to run unchanged."""
        try:
            rewritten = self._rewrite(statement, parameters, tag, watch)
        except Refused as refused:
            return refused.reason, refused.detail
        except Exception as error:
            return self._failed(error, tag)
        return self._use(rewritten, parameters, tag, watch)

    def _uncut(self, statement: Statement) -> str:
        """Return the text that Spark runs without a sketch: the caller's own, in a transaction at its versions."""
        return text_at(statement, self._session, self._transaction) if self._transaction.is_open else statement.text

    def _rewrite(self, statement: Statement, parameters: Parameters, tag: str, watch: Stopwatch) -> Rewritten:
        if self._options.sketch is SketchMode.OFF:
            raise Refused(Reason.SKETCH_OFF)
        with watch.stage("resolve"):
            reading, statement = self._read(statement, tag)
        requests = self._requests(reading, parameters, watch)
        self._advisor.asked(tag, requests)

        prepared = self._prepared(requests, self._means(tag, watch))
        with watch.stage("rewrite"):
            query_bytes = reading.bytes
            parts = [self._part(request, each, query_bytes) for request, each in prepared]
            conditions, used = conditions_of(parts, reading.times_read, self._options.maximum_runs)
            if not conditions and any(part.use.is_filter for part in parts):
                raise Refused(Reason.READ_TWICE)
            parts = list(used)
            uncut, cut = self._pins(statement, reading, parts, conditions)
            text = pinned(statement, cut) if conditions or reading.is_pinned else statement.text
        snapshots = tuple(table.snapshot for table in reading.tables.values())
        return Rewritten(text, pinned(statement, uncut), snapshots, tuple(parts))

    def _means(self, tag: str, watch: Stopwatch) -> Means:
        def read_own(text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
            return self._session.read(text, tag, most_bytes) if view is None else self._session.read_with(text, view, rows, tag)

        return Means(read_own, watch, self._session.buckets(tag), self._tokens[tag])

    def _read(self, statement: Statement, tag: str, *, is_told: bool = False) -> tuple[Reading, Statement]:
        """Read a query at the versions that are asked for; return the statement without the clauses that ask."""
        travel = time_travel(statement)
        if travel is None:
            return read(statement, self._session, self._source, self._transaction, is_told=is_told), statement
        versions = TextVersions(travel.asked, self._transaction, lambda name, time: self._session.version_at(name, time, tag))
        return read(travel.statement, self._session, self._source, versions, is_told=is_told), travel.statement

    def _requests(self, reading: Reading, parameters: Parameters, watch: Stopwatch) -> list[Request]:
        """Bind the blocks of a query; one in which nothing drops groups is left out.

        Raises:
            Refused: none is left, or one whose top-k may tie is not.
        """
        with watch.stage("bind"):
            numbered = zip(reading.numbers, reading.analyses, strict=True)
            return accepted(lambda each: self._request(reading, *each, parameters), numbered, lambda each: each[1].may_tie)

    def _request(self, reading: Reading, number: int, analysis: Analysis, parameters: Parameters) -> Request:
        block, wide = reading.bound(analysis, parameters)
        snapshots = {scan.table: reading.tables[scan.table].snapshot for scan in analysis.scans}
        identity = tuple((snapshot.location, snapshot.table_id) for snapshot in snapshots.values())
        template = make_template(reading.template_text, identity, reading.settings, number)
        by_cost = self._options.policy is Policy.AUTO and self._options.sketch is not SketchMode.SHADOW
        fragments, is_pinned = self._options.fragments, reading.is_pinned
        return Request(template, analysis, block, snapshots, reading.settings, fragments, wide, by_cost=by_cost, is_pinned=is_pinned)

    def _prepared(self, requests: list[Request], means: Means) -> list[tuple[Request, Prepared]]:
        """Bring the sketch of each block up to date; a block that has none is left out.

        Raises:
            Refused: no block has one, or one whose top-k may tie has none.
        """
        return accepted(
            lambda request: (request, self._sketches.prepare(request, means)), requests, lambda request: request.analysis.may_tie
        )

    def _part(self, request: Request, prepared: Prepared, query_bytes: int) -> Part:
        share = max(own_share(request, cut.scan) for cut in prepared.cuts) if request.analysis.plan.of_rows else 1.0
        runs = self._options.maximum_runs
        use = plan_use(prepared.sketch, prepared.files, prepared.rows, runs, query_bytes=query_bytes, own_share=share)
        self._sketches.note_use(prepared, is_useful=use.is_filter)
        return Part(request, prepared, use)

    def _pins(
        self, statement: Statement, reading: Reading, parts: list[Part], conditions: Mapping[int, str]
    ) -> tuple[list[Pin], list[Pin]]:
        """Pin every occurrence of a table; return the pins without and with the conditions of the sketches.

        A table that no sketch stands on is pinned too: the answer is that of one moment, and can be compared with the plain one.
        """
        versions: dict[str, int] = {}
        for part in parts:
            versions.update(part.prepared.sketch.versions)
        # Where another thread was faster, one sketch may stand for a newer version than the other.
        if any(versions[location] != version for part in parts for location, version in part.prepared.sketch.versions.items()):
            raise Refused(Reason.TABLE_CHANGED_MEANWHILE)
        uncut, cut = [], []
        for scan in reading.scans:
            # By location: one table may have a name and a path in the same query.
            snapshot = reading.tables[scan.table].snapshot
            pin = pin_of(statement, scan, versions.get(snapshot.location, snapshot.version))
            uncut.append(pin)
            cut.append(replace(pin, condition=conditions.get(id(scan.place))))
        return uncut, cut

    def _use(self, rewritten: Rewritten, parameters: Parameters, tag: str, watch: Stopwatch) -> Outcome | tuple[Reason, str]:
        """Run the cut query, then make sure that it read the table which the sketch stands for."""
        report = replace(report_of(rewritten.parts), executed_sql=rewritten.text, times=watch.times)
        try:
            with watch.stage("execute"):
                stream = self._session.execute(rewritten.text, parameters, tag)
        except Error as error:
            return self._failed(error, tag)
        for part in rewritten.parts:
            self._sketches.note_time(part.prepared, watch.times["execute"] / 1000, part.use.gain if part.use.is_filter else 0.0)
        if report.reason is Reason.COVERS_ALMOST_ALL:
            return Outcome(stream, -1, report)
        if not all(is_still(self._source, snapshot) for snapshot in rewritten.snapshots):
            stream.close()
            return Reason.TABLE_CHANGED_MEANWHILE, ""
        if self._options.sketch is SketchMode.SHADOW:
            with watch.stage("shadow"):
                answer = Answer(stream)
                check_same(answer, Answer(self._session.execute(rewritten.pinned_text, parameters, tag)), rewritten.text)
                return Outcome(answer, -1, report)
        elif random.random() < self._options.sketch_guard:
            with watch.stage("guard"):
                return self._guarded(stream, rewritten, parameters, tag, report)
        return Outcome(stream, -1, report)

    def _guarded(self, stream: ResultStream, rewritten: Rewritten, parameters: Parameters, tag: str, report: SketchReport) -> Outcome:
        """Compare with the plain answer; on a difference that one is returned and the template is disabled."""
        answer = Answer(stream)
        try:
            plain = Answer(self._session.execute(rewritten.pinned_text, parameters, tag))
        except Error as error:
            if self._tokens[tag].is_cancelled:
                raise
            _LOG.warning("An answer could not be checked: %s", described(error))
            return Outcome(answer, -1, report)
        difference = answer.difference(plain)
        templates = tuple(each.template or "" for each in (report, *report.also))
        self._sketches.guard.record(templates, difference)
        if difference is None:
            return Outcome(answer, -1, report)
        # From the store a wrong state would come back after a restart, when nobody knows of it any more.
        self._sketches.drop([part.prepared.relation for part in rewritten.parts])
        text = rewritten.pinned_text
        disabled = SketchReport(
            Decision.NOT_USED, Reason.TEMPLATE_DISABLED, difference, report.template, times=report.times, executed_sql=text
        )
        return Outcome(plain, -1, disabled)

    def _plain(self, text: str, parameters: Parameters, tag: str, watch: Stopwatch, reason: Reason, detail: str) -> Outcome:
        report = SketchReport(Decision.NOT_USED, reason, detail, times=watch.times, executed_sql=text)
        with watch.stage("execute"):
            stream = self._session.execute(text, parameters, tag)
        return Outcome(stream, -1, report)

    def _failed(self, error: Exception, tag: str) -> tuple[Reason, str]:
        """Let the query run unchanged after the sketch failed, unless it was cancelled; in shadow mode nothing is hidden."""
        if self._tokens[tag].is_cancelled or (self._options.sketch is SketchMode.SHADOW and not isinstance(error, Error)):
            raise error
        _LOG.warning("The sketch could not be used, the query runs unchanged: %s", described(error))
        return Reason.INTERNAL, f"{type(error).__name__}: {error}".split("\n", 1)[0]

    def _change(self, statement: Statement, parameters: Parameters, tag: str, watch: Stopwatch) -> Outcome:
        report = SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY, times=watch.times, executed_sql=statement.text)
        self._transaction.check(statement)
        if statement.kind is not StatementKind.CHANGE:
            with watch.stage("execute"):
                return Outcome(self._session.execute(statement.text, parameters, tag), -1, report)
        before = self._changes.target(statement)
        with watch.stage("execute"):
            stream = self._session.execute(statement.text, parameters, tag)
        rowcount, version = self._changes.affected(stream, before)
        return Outcome(None, rowcount, replace(report, table=".".join(statement.target or ()), version=version))

    def run_many(self, text: str, rows: Sequence[Parameters], tag: str, watch: Stopwatch | None = None) -> Outcome:
        """Run one statement for many rows; an INSERT of VALUES becomes one append and one commit."""
        batch, watch = batch_insert(text, rows), watch or Stopwatch()
        if batch is None:
            with self._cancellable(tag):
                return self._run_each(text, rows, tag, watch)
        self._transaction.check(parse(text))
        before = self._changes.target(parse(text))
        with watch.stage("execute"):
            self._session.append(batch.text, batch.view, batch.rows, tag)
        count, version = self._changes.affected(None, before)
        return Outcome(
            None, count, SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY, version=version, times=watch.times, executed_sql=batch.text)
        )

    def _run_each(self, text: str, rows: Sequence[Parameters], tag: str, watch: Stopwatch) -> Outcome:
        total = 0
        outcome: Outcome | None = None
        for row in rows:
            outcome = self.run(text, row, tag, watch)
            if outcome.stream is not None:
                outcome.stream.close()
            total = -1 if outcome.rowcount < 0 or total < 0 else total + outcome.rowcount
        assert outcome is not None
        return Outcome(None, total, outcome.report)

    def _rewrite_table(self, texts: Sequence[str], tag: str) -> Outcome:
        """Run the statements of a rewrite one after the other; return the last one's outcome, the rewrite's."""
        try:
            for text in texts:
                outcome = self.run(text, None, tag)
                if outcome.stream is not None:
                    outcome.stream.close()
        except Error as error:
            check_failure(error)
            raise
        target = self._changes.target(parse(texts[-1]))
        if target is not None:
            self._sketches.forget(target.location)
        return replace(outcome, stream=None)

    def _command(self, statement: Statement, parameters: Parameters, tag: str) -> Outcome:
        command = statement.command
        assert command is not None
        if command.kind in TRANSACTION_COMMANDS:
            self._transaction.run(command.kind)
            return Outcome(None, -1, SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY))
        if command.kind is CommandKind.ADVISE:
            return advise(self._advisor.advise(tag))
        if command.kind is CommandKind.CLUSTER:
            return self._rewrite_table(cluster_statements(command.argument, self._session, tag), tag)
        if command.kind is CommandKind.EXPLAIN:

            def requests(explained: Statement) -> list[Request]:
                return self._requests(self._read(explained, tag, is_told=True)[0], parameters, Stopwatch())

            return explain(parse(command.argument), requests, self._sketches)
        return run_command(command, self._sketches, self._session)

    def using(self, sketch: SketchMode) -> Middleware:
        """Return the path of the same connection with another way to use sketches."""
        other = copy(self)
        other._options = replace(self._options, sketch=sketch)
        return other

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return self._session.definition(name)

    def end_transaction(self) -> None:
        self._transaction.end()

    def interrupt(self, tag: str) -> None:
        """Cancel the run with this tag, from any thread."""
        token = self._tokens.get(tag)
        if token is not None:
            token.cancel()
        self._session.interrupt(tag)

    def close(self) -> None:
        self._advisor.close()
        self._session.close()
        if self._is_open:
            self._is_open = False
            self._sketches.close(self._options)
