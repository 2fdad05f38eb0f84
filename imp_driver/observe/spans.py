"""OpenTelemetry spans of a statement and its stages, where the application has the API installed (extra ``telemetry``).

Names of attributes are those of the semantic conventions for database clients where there are any; the driver's own begin with ``imp.``.
Exporting, sampling and everything else is the application's, by OpenTelemetry's SDK.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Protocol

from imp_driver.errors import Error
from imp_driver.observe.outcome import Finished
from imp_driver.values.execution import Execution
from imp_driver.values.report import SketchReport
from imp_driver.values.stopwatch import nothing_around

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer
    from opentelemetry.util.types import AttributeValue

SYSTEM = "spark"


class StatementSpan(Protocol):
    """What is around one statement."""

    def stage(self, name: str) -> AbstractContextManager[object]:
        """Return what is to be entered for as long as a stage runs."""

    def finish(self, finished: Finished) -> None:
        """Say how the statement ended."""


class _Silent:
    """Nobody records."""

    def stage(self, name: str) -> AbstractContextManager[object]:
        return nothing_around(name)

    def finish(self, finished: Finished) -> None:
        return None


_SILENT = nullcontext(_Silent())


class Spans:
    """Makes the spans of one connection.

    ``with_text`` puts the text of statements, with the constants in it, into them. ``tracer`` is by default the application's.
    """

    def __init__(self, *, with_text: bool, tracer: Tracer | None = None) -> None:
        self._tracer = tracer or _tracer()
        self._with_text = with_text

    def statement(self, execution: Execution, operation: str) -> AbstractContextManager[StatementSpan]:
        """Return the span of one statement; the spans of its stages, and whatever the application makes meanwhile, are below it."""
        return _SILENT if self._tracer is None else self._recorded(self._tracer, execution, operation)

    @contextmanager
    def _recorded(self, tracer: Tracer, execution: Execution, operation: str) -> Iterator[StatementSpan]:
        from opentelemetry.trace import SpanKind

        attributes: dict[str, AttributeValue] = {"db.system.name": SYSTEM, "imp.query_id": execution.tag}
        if operation:
            attributes["db.operation.name"] = operation
        if self._with_text:
            attributes["db.query.text"] = execution.text
        # An exception's message may quote values; ``finish`` says its class.
        with tracer.start_as_current_span(
            "imp.statement", kind=SpanKind.CLIENT, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            yield _Recorded(tracer, span) if span.is_recording() else _SILENT.enter_result


class _Recorded:
    def __init__(self, tracer: Tracer, span: Span) -> None:
        self._tracer = tracer
        self._span = span

    def stage(self, name: str) -> AbstractContextManager[object]:
        return self._tracer.start_as_current_span(f"imp.{name}", record_exception=False, set_status_on_exception=False)

    def finish(self, finished: Finished) -> None:
        from opentelemetry.trace import Status, StatusCode

        self._span.set_attribute("imp.statement.kind", finished.statement.kind.value)
        if finished.report is not None:
            self._span.set_attributes(_attributes(finished.report))
        error = finished.error
        if error is not None:
            condition = error.error_class if isinstance(error, Error) else None
            self._span.set_attribute("error.type", condition or type(error).__name__)
            if isinstance(error, Error) and error.sqlstate:
                self._span.set_attribute("db.response.status_code", error.sqlstate)
            self._span.set_status(Status(StatusCode.ERROR, type(error).__name__))


def _attributes(report: SketchReport) -> dict[str, AttributeValue]:
    known: dict[str, AttributeValue | None] = {
        "db.collection.name": report.table or None,
        "imp.decision": report.decision.name,
        "imp.reason": report.reason.name,
        "imp.recapture_reason": None if report.recapture_reason is None else report.recapture_reason.name,
        "imp.template": report.template,
        "imp.sketch_id": report.sketch_id,
        "imp.from_version": report.from_version,
        "imp.version": report.version,
        "imp.delta_rows": report.delta_rows,
        "imp.delta_bytes": report.delta_bytes,
        "imp.bytes_kept": report.bytes_kept,
        "imp.bytes_total": report.bytes_total,
    }
    return {name: value for name, value in known.items() if value is not None}


@cache
def _tracer() -> Tracer | None:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    # It stands for whatever provider the application sets, now or later.
    return trace.get_tracer("imp_driver")
