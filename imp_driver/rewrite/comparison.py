"""Answers of the driver that are compared with the plain one: each in shadow mode, a share of them under the guard."""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass, replace

from imp_driver.errors import Error
from imp_driver.maintain.sketches import Sketches
from imp_driver.ports import Outcome, ResultStream, Session
from imp_driver.reasons import Decision, Reason
from imp_driver.rewrite.shadow import Answer, check_same
from imp_driver.state.maintained import Maintained
from imp_driver.values.execution import Execution
from imp_driver.values.failures import described
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.refusal import Grounds
from imp_driver.values.report import SketchReport

_LOG = logging.getLogger("imp_driver")


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """Rows of a query that Spark has not computed in its own way.

    ``plain_text`` reads the same versions in Spark alone, empty where that is what ran; a difference drops ``relations``.
    """

    stream: ResultStream
    report: SketchReport
    plain_text: str = ""
    relations: tuple[Maintained, ...] = ()

    def not_answered(self, grounds: Grounds | None) -> Served:
        """Say why the rows did not come from groups."""
        return replace(self, report=replace(self.report, not_answered=grounds))


class Comparison:
    """Compares the answers of one connection as its options ask for."""

    def __init__(self, session: Session, sketches: Sketches, options: Options) -> None:
        self._session = session
        self._sketches = sketches
        self._options = options

    def checked(self, served: Served, execution: Execution) -> Outcome:
        """Return the outcome of a query: its own answer, or the plain one where that is another.

        Raises:
            InternalError: shadow mode found a difference.
            Error: an answer could not be read; the guard gives its own in place of a plain one that fails.
        """
        if served.plain_text and self._options.sketch is SketchMode.SHADOW:
            with execution.watch.stage("shadow"):
                answer = Answer(served.stream)
                check_same(answer, self._plain(served, execution), served.report.executed_sql or served.plain_text)
                return Outcome(answer, -1, served.report)
        if served.plain_text and random.random() < self._options.sketch_guard:
            with execution.watch.stage("guard"):
                return self._guarded(Answer(served.stream), served, execution)
        return Outcome(served.stream, -1, served.report)

    def _guarded(self, answer: Answer, served: Served, execution: Execution) -> Outcome:
        """Compare with the plain answer; on a difference that one is returned and the template is disabled."""
        report = served.report
        try:
            plain = self._plain(served, execution)
        except Error as error:
            if execution.token.is_cancelled:
                raise
            _LOG.warning("An answer could not be checked: %s", described(error))
            return Outcome(answer, -1, report)
        difference = answer.difference(plain)
        templates = tuple(each.template or "" for each in (report, *report.also))
        self._sketches.relations.guard.record(templates, difference)
        if difference is None:
            return Outcome(answer, -1, report)
        # From the store a wrong state would come back after a restart, when nobody knows of it any more.
        self._sketches.relations.drop(served.relations)
        text, times = served.plain_text, report.times
        disabled = SketchReport(Decision.NOT_USED, Reason.TEMPLATE_DISABLED, difference, report.template, times=times, executed_sql=text)
        return Outcome(plain, -1, disabled)

    def _plain(self, served: Served, execution: Execution) -> Answer:
        return Answer(self._session.execute(execution.with_text(served.plain_text)))
