"""A pipeline around the middleware of one connection that tells metrics, log and spans how each statement ended.

Nothing that goes wrong in here makes a statement fail.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from imp_driver.errors import Error
from imp_driver.observe.decisions import log_decision
from imp_driver.observe.outcome import Finished, operation_of
from imp_driver.observe.registry import Observer
from imp_driver.observe.spans import Spans
from imp_driver.parse.statement import StatementKind, parse
from imp_driver.ports import Outcome, Pipeline, ResultColumn, ResultStream, TableDefinition
from imp_driver.reasons import Reason
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.failures import described
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.report import SketchReport
from imp_driver.values.stopwatch import Stopwatch

_LOG = logging.getLogger("imp_driver.observe")


class Observed:
    """The pipeline of one connection, or of one cursor of it."""

    def __init__(self, inner: Pipeline, observer: Observer, spans: Spans) -> None:
        self.inner = inner
        self._observer = observer
        self._spans = spans

    def run(self, execution: Execution) -> Outcome:
        return self._observed(execution, self.inner.run)

    def run_many(self, execution: Execution, rows: Sequence[Parameters]) -> Outcome:
        return self._observed(execution, lambda watched: self.inner.run_many(watched, rows))

    def using(self, sketch: SketchMode) -> Observed:
        return Observed(self.inner.using(sketch), self._observer, self._spans)

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return self.inner.definition(name)

    def end_transaction(self) -> None:
        self.inner.end_transaction()

    def interrupt(self, execution: Execution) -> None:
        self.inner.interrupt(execution)

    def close(self) -> None:
        """Close the connection; the last one of a warehouse writes its counters before another process may take it."""
        try:
            self.inner.close()
        finally:
            self._observer.disconnect()

    def _observed(self, execution: Execution, call: Callable[[Execution], Outcome]) -> Outcome:
        operation = operation_of(execution.text)
        with self._spans.statement(execution, operation) as span:
            watch, begin = Stopwatch(span.stage), time.perf_counter()

            def finished(report: SketchReport | None, rowcount: int, error: BaseException | None) -> Finished:
                # The text was parsed before, and the parse is remembered.
                return Finished(
                    execution.tag, parse(execution.text), operation, time.perf_counter() - begin, watch.times, report, rowcount, error
                )

            try:
                outcome = call(execution.watched_by(watch))
            except BaseException as error:
                self._tell(partial(finished, None, -1, error), span.finish)
                raise
            self._tell(partial(finished, outcome.report, outcome.rowcount, None), span.finish)
        stream = outcome.stream
        return outcome if stream is None else replace(outcome, stream=_Counted(stream, self._observer))

    def _tell(self, finished: Callable[[], Finished], finish_span: Callable[[Finished], None]) -> None:
        try:
            statement = finished()
            count_statement(self._observer, statement)
            log_decision(statement)
            finish_span(statement)
            self._observer.write_now_and_then()
        except Exception as error:
            _LOG.warning("A statement could not be counted: %s", described(error))


class _Counted:
    """A stream that counts the error with which it ends."""

    def __init__(self, stream: ResultStream, observer: Observer) -> None:
        self._stream = stream
        self._observer = observer
        self.columns: tuple[ResultColumn, ...] = stream.columns

    @property
    def schema(self) -> pa.Schema:
        return self._stream.schema

    def next_batch(self) -> pa.RecordBatch | None:
        try:
            return self._stream.next_batch()
        except BaseException as error:
            count_error(self._observer, error)
            raise

    def close(self) -> None:
        self._stream.close()


def count_statement(observer: Observer, finished: Finished) -> None:
    """Add one statement to the counters."""
    metrics, kind = observer.metrics, finished.statement.kind.value.replace(" ", "_")
    metrics.count("imp_statements_total", kind)
    metrics.observe("imp_statement_seconds", finished.seconds, kind)
    for stage, milliseconds in finished.times.items():
        metrics.observe("imp_stage_seconds", max(0.0, milliseconds / 1000), stage)
    if finished.error is not None:
        count_error(observer, finished.error)
    report = finished.report
    if report is not None and finished.statement.kind is StatementKind.QUERY:
        metrics.count("imp_decisions_total", report.decision.name, report.reason.name)
        for block in (report, *report.also):
            if block.reason is Reason.FILTERED and block.bytes_total is not None and block.bytes_kept is not None:
                metrics.count("imp_considered_bytes_total", amount=block.bytes_total)
                metrics.count("imp_skipped_bytes_total", amount=max(0, block.bytes_total - block.bytes_kept))


def count_error(observer: Observer, error: BaseException) -> None:
    """Count by the class of PEP 249; what is none, an interruption by the user say, is ``other``."""
    observer.metrics.count("imp_errors_total", type(error).__name__ if isinstance(error, Error) else "other")
