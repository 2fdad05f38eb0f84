"""WHAT IF: the rows that a query would have after some changes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from imp_driver.answer.answers import Answers
from imp_driver.answer.summary import report_of_groups
from imp_driver.errors import NotSupportedError, OperationalError
from imp_driver.maintain.upkeep import means_of
from imp_driver.parse.statement import Statement, check_query, parse
from imp_driver.parse.time_travel import time_travel
from imp_driver.parse.what_if import WhatIf, read_what_if
from imp_driver.ports import Outcome, Session, TableDefinition
from imp_driver.reasons import Decision, Reason
from imp_driver.snapshot.reader import Reader
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.execution import Execution
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import ChangeSource
from imp_driver.what_if.fork import Forks
from imp_driver.what_if.hypothesis import Hypothesis, Moved
from imp_driver.what_if.source import SupposedSource, written_version

_TRIES = 3
"""So often tables may move on while a change is evaluated."""
_MOST_KEPT = 8


class WhatIfs:
    """The suppositions of one connection; those of the last statements are kept while their tables stay as they are."""

    def __init__(self, session: Session, source: ChangeSource, answers: Answers, reader: Reader) -> None:
        self._session = session
        self._source = source
        self._answers = answers
        self._reader = reader
        self._known: BoundedCache[Hashable, Hypothesis] = BoundedCache(_MOST_KEPT)
        self._definitions: BoundedCache[Hashable, TableDefinition] = BoundedCache(_MOST_KEPT)
        self._last: WhatIf | None = None

    def run(self, text: str, execution: Execution) -> Outcome:
        """Return the rows of a query after changes. Nothing is written, and what is maintained stays as it is.

        Raises:
            NotSupportedError: a change or the query is of a form that is not followed.
            ProgrammingError, IntegrityError: a change would fail.
            Error: Spark failed.
        """
        wanted = self._last = read_what_if(text, self._last)
        query = execution.with_text(wanted.query)
        check_query(wanted.query, "What follows the changes of a WHAT IF")
        for _ in range(_TRIES):
            try:
                return self._run(self._hypothesis(wanted.changes, execution), query)
            except Moved:
                continue
        raise OperationalError("The tables of this WHAT IF change faster than its changes can be evaluated; try it again.")

    def _run(self, hypothesis: Hypothesis, query: Execution) -> Outcome:
        statement = parse(query.text)
        if time_travel(statement) is not None:
            raise NotSupportedError("WHAT IF does not follow a query that reads a table at an older version.")
        found = self._answered(hypothesis, statement, query)
        if isinstance(found, Outcome):
            return found
        try:
            text = hypothesis.text_of(statement)
        except Refused as refused:
            # What Spark says of a query that is wrong.
            self._session.describe(query)
            raise NotSupportedError(f"WHAT IF does not follow this query: {refused.grounds.told}.") from None
        report = SketchReport(Decision.NOT_USED, found.reason, found.detail, times=query.watch.times, executed_sql=text, not_answered=found)
        with query.watch.stage("execute"):
            return Outcome(self._session.execute(query.with_text(text)), -1, report)

    def _answered(self, hypothesis: Hypothesis, statement: Statement, query: Execution) -> Outcome | Grounds:
        if not self._answers.named.is_used:
            return Grounds(Reason.SKETCH_OFF)
        forks = Forks(SupposedSource(self._source, hypothesis.tables))
        has_recursion = False
        try:
            reading = self._reader.read(statement, query)
            hypothesis.check(reading)
            has_recursion = reading.text.has_recursion
            answer = self._answers.supposed(reading, forks, query, means_of(self._session, query))
        except Refused as refused:
            if refused.reason is Reason.TABLE_CHANGED_MEANWHILE:
                raise Moved from None
            if has_recursion:
                # Spark does not know it.
                raise NotSupportedError(f"WHAT IF does not follow this recursion: {refused.grounds.told}.") from None
            return refused.grounds
        report = replace(report_of_groups(answer.parts, query.watch.times), served_by=answer.served_by)
        return Outcome(answer.rows, -1, _of_written(report))

    def _hypothesis(self, changes: tuple[str, ...], execution: Execution) -> Hypothesis:
        """Return the changes, evaluated; once for all queries while no table that they read has changed."""
        name = changes, self._session.settings()
        known = self._known.get(name)
        if known is not None and known.is_current():
            return known
        found = Hypothesis(self._session, self._reader, execution, self._definitions)
        for each in changes:
            found.suppose(each)
        self._known[name] = found
        return found


def _of_written(report: SketchReport) -> SketchReport:
    """Return a report with the versions that changes are supposed to follow in the place of those that nobody has written."""
    version = None if report.version is None else written_version(report.version)
    tables = {name: written_version(each) for name, each in report.tables.items()}
    return replace(report, version=version, tables=tables, also=tuple(map(_of_written, report.also)))
