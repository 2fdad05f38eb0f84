"""Answers with a sketch that are compared with the plain one: each in shadow mode, a share of them under the guard."""

from __future__ import annotations

import logging
import random

from imp_driver.errors import Error
from imp_driver.maintain.sketches import Sketches
from imp_driver.ports import Outcome, ResultStream, Session
from imp_driver.reasons import Decision, Reason
from imp_driver.rewrite.rewriter import Rewritten
from imp_driver.rewrite.shadow import Answer, check_same
from imp_driver.values.failures import described
from imp_driver.values.options import Options, SketchMode
from imp_driver.values.report import SketchReport
from imp_driver.values.run import Run

_LOG = logging.getLogger("imp_driver")


class Comparison:
    """Compares the answers of one connection as its options ask for."""

    def __init__(self, session: Session, sketches: Sketches, options: Options) -> None:
        self._session = session
        self._sketches = sketches
        self._options = options

    def checked(self, stream: ResultStream, rewritten: Rewritten, run: Run, report: SketchReport) -> Outcome:
        """Return the outcome of a cut query: its own answer, or the plain one where that is another.

        Raises:
            InternalError: shadow mode found a difference.
            Error: an answer could not be read; the guard gives its own in place of a plain one that fails.
        """
        if self._options.sketch is SketchMode.SHADOW:
            with run.watch.stage("shadow"):
                answer = Answer(stream)
                check_same(answer, self._plain(rewritten, run), rewritten.text)
                return Outcome(answer, -1, report)
        if random.random() < self._options.sketch_guard:
            with run.watch.stage("guard"):
                return self._guarded(Answer(stream), rewritten, run, report)
        return Outcome(stream, -1, report)

    def _guarded(self, answer: Answer, rewritten: Rewritten, run: Run, report: SketchReport) -> Outcome:
        """Compare with the plain answer; on a difference that one is returned and the template is disabled."""
        try:
            plain = self._plain(rewritten, run)
        except Error as error:
            if run.token.is_cancelled:
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
        text, times = rewritten.pinned_text, report.times
        disabled = SketchReport(Decision.NOT_USED, Reason.TEMPLATE_DISABLED, difference, report.template, times=times, executed_sql=text)
        return Outcome(plain, -1, disabled)

    def _plain(self, rewritten: Rewritten, run: Run) -> Answer:
        return Answer(self._session.execute(run.with_text(rewritten.pinned_text)))
