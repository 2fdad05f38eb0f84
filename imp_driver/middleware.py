"""The whole path of a statement, in one place: text and parameters in, rows and a report out.

    parse -> not a query: Spark, and the new table version is recorded
          -> query: tables and settings resolved -> snapshot -> groups brought up to it -> rows computed from them
                                                             -> sketch brought up to it -> query cut and pinned -> Spark

Whatever the path cannot be sure of ends in the caller's own text, run unchanged, with the reason in the report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from typing import NoReturn

from imp_driver.advise.advisor import Advisor
from imp_driver.answer.alike import Alike
from imp_driver.answer.answers import Answers
from imp_driver.answer.named import NotAnswered
from imp_driver.answer.recursion.apart import RecursionsApart
from imp_driver.answer.recursion.kept_state import KeptRuns
from imp_driver.answer.recursion.left import LeftToEngine
from imp_driver.changes import Changes
from imp_driver.commands.commands import Commands
from imp_driver.commands.left_to_spark import check_recursion
from imp_driver.commands.own_query import with_own_queries
from imp_driver.commands.suggestions import suggest
from imp_driver.errors import Error, NotSupportedError, OperationalError
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import means_of
from imp_driver.parse.markers import check_values
from imp_driver.parse.statement import Statement, StatementKind, check_kept, may_have_markers, parse
from imp_driver.parse.template import text_and_names
from imp_driver.plan.recursive_form import is_recursive, unrolled
from imp_driver.ports import Outcome, Session, TableDefinition
from imp_driver.reasons import BESIDE_GROUPS, Decision, Reason, ServedBy
from imp_driver.rewrite.comparison import Comparison, Served
from imp_driver.rewrite.cut_query import CutQueries
from imp_driver.rewrite.rewriter import Rewriter
from imp_driver.snapshot.reader import Reader
from imp_driver.snapshot.versions import ReadTransaction, text_at
from imp_driver.values.attempt import tried
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import ChangeSource


class Middleware:
    """Runs the statements of one connection."""

    def __init__(
        self,
        session: Session,
        source: ChangeSource,
        sketches: Sketches,
        options: Options,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._session = session
        self._on_close = on_close
        self._source = source
        self._sketches = sketches
        self._advisor = Advisor(session, source, sketches)
        self._transaction = ReadTransaction(source, options.snapshot)
        self._changes = Changes(session, source, self._transaction, sketches.relations.eager.wake)
        self.kept_runs = KeptRuns()
        self._choose(options)
        self._is_open = True
        sketches.relations.open(options)

    def _choose(self, options: Options) -> None:
        self._options = options
        self._reader = Reader(self._session, self._source, self._transaction)
        left = LeftToEngine(self._session, self._source, self.kept_runs, options.row_rules)
        self._answers = Answers(self._session, self._sketches, options, self._reader, left)
        self._alike = Alike(self._answers, self._reader, options, self._transaction)
        self._cut = CutQueries(self._session, self._source, Rewriter(self._sketches, options, self._reader, self._advisor.asked))
        self._apart = RecursionsApart(self._session, self._run_one)
        self._comparison = Comparison(self._session, self._sketches, options)
        changes, requests, answers = self._changes, self._cut.rewriter.requests, self._answers
        own = (self._session, self._sketches, self._advisor, self._transaction)
        self._commands = Commands(*own, changes, requests, answers, self._reader, self._source, self._run_one, options)

    def run(self, execution: Execution) -> Outcome:
        """Run one statement. Raises only errors of PEP 249."""
        try:
            return self._run_one(execution)
        except NotAnswered as error:
            raise OperationalError(str(error), query_id=error.query_id) from None

    def _run_one(self, execution: Execution) -> Outcome:
        """Run one statement, be it on behalf of a command. Raises Error."""
        try:
            return self._run(execution)
        except Error as error:
            suggest(error, execution.text)
            raise

    def _run(self, execution: Execution) -> Outcome:
        with execution.watch.stage("parse"):
            statement = parse(execution.text)
            check_kept(statement, execution.parameters)
            if may_have_markers(statement, execution.parameters):
                check_values(execution.text, execution.parameters)
        if statement.kind is StatementKind.SKETCH_COMMAND:
            return self._commands.run(statement, execution)
        if statement.kind is not StatementKind.QUERY:
            check_recursion(statement)
            if statement.kind is StatementKind.DEFINITION:
                self._commands.views.check_properties(statement.text)
            outcome = self._changes.run(statement, execution)
            if statement.kind is StatementKind.DEFINITION and "VIEW" in statement.text.upper():
                self._commands.views.check_known()
            if statement.kind is StatementKind.INSPECTION and outcome.stream is not None:
                return replace(outcome, stream=with_own_queries(statement.text, outcome.stream, self._session.definition))
            return outcome
        outcome = self._query(statement, execution)
        self._advisor.record(execution, statement, outcome.report)
        return outcome

    def _query(self, statement: Statement, execution: Execution) -> Outcome:
        served = self._served(statement, execution)
        if not isinstance(served, Served) and served[0].reason is Reason.RECURSION_BY_SPARK:
            served = self._handed_over(statement, execution, served[0]) or self._by_rounds(statement, execution, served[0])
        if not isinstance(served, Served) and self._answers.named.is_used:
            served = self._from_solutions(statement, execution, *served)
        if not isinstance(served, Served):
            served = self._handed_over(statement, execution, served[1] or served[0]) or served
        if self._answers.named.is_used:
            self._check_strict(statement, served, execution)
        if not isinstance(served, Served) and is_recursive(statement.tree):
            self._refuse(execution, served[1] or served[0])
        # Outside any handler: behind an error of Spark no other may stand, which could name ranges of a table that is not to be read.
        return self._comparison.checked(served, execution) if isinstance(served, Served) else self._plain(statement, execution, *served)

    def _from_solutions(
        self, statement: Statement, execution: Execution, grounds: Grounds, why: Grounds | None
    ) -> Served | tuple[Grounds, Grounds | None]:
        """Answer a query over views in SPARQL whose translation is not followed, or say why not. Raises Error."""
        found = tried(lambda: self._commands.solutions.serve(statement, execution, means_of(self._session, execution)), execution.token)
        if isinstance(found, Served):
            return found
        return grounds, why if found == Grounds(Reason.VIEW) else found

    def _handed_over(self, statement: Statement, execution: Execution, grounds: Grounds) -> Served | None:
        """Have Spark compute what stands above recursions over their rows, where that is why they are not computed here. Raises Error."""
        is_free = self._answers.named.is_used and not self._transaction.is_open
        return self._apart.served(statement, execution, grounds) if is_free else None

    def _by_rounds(self, statement: Statement, execution: Execution, why: Grounds) -> Served | tuple[Grounds, None]:
        """Have Spark compute a recursion, or say why it cannot. An error of Spark is the query's own. Raises Error."""
        try:
            return self._answers.by_rounds(self._reader.read(statement, execution), execution, why)
        except Refused as refused:
            return refused.grounds, None

    def _refuse(self, execution: Execution, grounds: Grounds) -> NoReturn:
        """Raise what Spark says of a recursion, or why it cannot be computed here, which Spark does not do at all."""
        with suppress(Refused):
            self._session.describe(unrolled(execution))
        if not self._answers.named.is_used:
            grounds = Grounds(Reason.SKETCH_OFF, "or answers are (options sketch and answers)")
        told = f"WITH RECURSIVE with UNION is computed by this driver alone, and here it is not: {grounds.told}."
        raise NotSupportedError(f"{told} UNION ALL, which counts every derivation, is Spark's own.")

    def _check_strict(self, statement: Statement, served: Served | tuple[Grounds, Grounds | None], execution: Execution) -> None:
        """Raise OperationalError where Spark would compute the rows of a view that are to come from what is maintained."""
        if not isinstance(served, Served):
            self._answers.named.check(statement, served[1] or served[0], execution)
        elif served.report.served_by in (ServedBy.SKETCH, ServedBy.SPARK):
            self._answers.named.check(statement, served.report.not_answered or Grounds(served.report.reason), execution)

    def _served(self, statement: Statement, execution: Execution) -> Served | tuple[Grounds, Grounds | None]:
        """Answer from groups, or with a sketch, or say why the query is to run unchanged, and why not from groups."""
        if self._options.sketch is SketchMode.OFF:
            return Grounds(Reason.SKETCH_OFF), None
        tried_here = partial(tried, token=execution.token, is_bare=self._options.sketch is SketchMode.SHADOW)
        means = means_of(self._session, execution)
        known = tried_here(lambda: self._alike.serve(statement, execution, means))
        if known is not None:
            return known if isinstance(known, Served) else (known, known)
        reading = tried_here(lambda: self._reader.read(statement, execution))
        if isinstance(reading, Grounds):
            return reading, None
        answer = tried_here(lambda: self._answers.serve(reading, execution, means)) if self._options.answers else None
        if answer is not None and (isinstance(answer, Served) or answer.reason in BESIDE_GROUPS):
            # Beside groups for all constants, a sketch for these alone would be captured in vain.
            return answer if isinstance(answer, Served) else (answer, answer)
        cut = tried_here(lambda: self._cut.serve(reading, execution, means))
        return cut.not_answered(answer) if isinstance(cut, Served) else (cut, answer)

    def _plain(self, statement: Statement, execution: Execution, grounds: Grounds, why: Grounds | None) -> Outcome:
        """Run the caller's own text, in a transaction at its versions; ``why`` it was not answered from groups."""
        text = text_at(statement, self._session, self._transaction) if self._transaction.is_open else statement.text
        times = execution.watch.times
        report = SketchReport(Decision.NOT_USED, grounds.reason, grounds.detail, times=times, executed_sql=text, not_answered=why)
        with execution.watch.stage("execute"):
            outcome = Outcome(self._session.execute(execution.with_text(text)), -1, report)
        if why is not None and statement.alike.tree is not None:
            self._sketches.relations.plain_seconds[text_and_names(statement.alike)[0]] = times["execute"] / 1000
        return outcome

    def run_many(self, execution: Execution, rows: Sequence[Parameters]) -> Outcome:
        """Run one statement for many rows; an INSERT of VALUES becomes one append and one commit."""
        return self._changes.run_many(execution, rows, self.run)

    def using(self, sketch: SketchMode) -> Middleware:
        """Return the path of the same connection with another way to use sketches."""
        other = copy(self)
        other._choose(replace(self._options, sketch=sketch))
        return other

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return self._session.definition(name)

    def end_transaction(self) -> None:
        self._transaction.end()

    def interrupt(self, execution: Execution) -> None:
        """Cancel a run, from any thread."""
        execution.token.cancel()
        self._session.interrupt(execution)

    def close(self) -> None:
        try:
            if self._is_open:
                self._on_close()
            self._advisor.close()
            self.kept_runs.close()
            self._sketches.relations.background.leave(self._session)
            self._session.close()
        finally:
            if self._is_open:
                self._is_open = False
                self._sketches.relations.close(self._options)
