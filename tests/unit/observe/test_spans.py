"""Spans as OpenTelemetry's SDK exports them; without the API, or with nobody who records, there are none."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.semconv.attributes import db_attributes, error_attributes
from opentelemetry.trace import SpanKind, StatusCode, get_current_span, get_tracer

from imp_driver.errors import DataError
from imp_driver.observe import spans
from imp_driver.observe.spans import Spans
from imp_driver.ports import Outcome
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Policy
from imp_driver.values.options import Options
from tests.unit.dbapi.fakes import numbers
from tests.unit.observe.watched import SECRET, FakeWatched, World, observed

SUMS = f"SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > {6 * SECRET + 12}"


class Recorded:
    """A tracer whose spans are kept in memory."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("test")

    def take(self) -> list[ReadableSpan]:
        """Return what has ended since the last time, in the order of its beginning."""
        found = sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time or 0)
        self._exporter.clear()
        return found


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    found = Recorded()
    yield found
    found.provider.shutdown()


def test_a_statement_has_a_span_with_its_stages_below(recorded: Recorded) -> None:
    world = World(Options(answers=False), Spans(with_text=False, tracer=recorded.tracer))
    report = world.ask(SUMS).report
    statement, *stages = recorded.take()
    assert (statement.name, statement.kind, statement.parent, statement.status.status_code) == (
        "imp.statement", SpanKind.CLIENT, None, StatusCode.UNSET,
    )  # fmt: skip
    assert [span.name for span in stages] == [f"imp.{stage}" for stage in report.times]
    assert statement.context is not None
    by_name = {span.name: span for span in stages}
    maintain = by_name["imp.maintain"].context
    assert maintain is not None
    parents = {name: None if span.parent is None else span.parent.span_id for name, span in by_name.items()}
    assert parents.pop("imp.capture") == maintain.span_id
    assert set(parents.values()) == {statement.context.span_id}
    assert dict(statement.attributes or {}) == {
        db_attributes.DB_SYSTEM_NAME: "spark",
        db_attributes.DB_OPERATION_NAME: "SELECT",
        db_attributes.DB_COLLECTION_NAME: "r",
        "imp.query_id": "tag-1",
        "imp.statement.kind": "query",
        "imp.decision": report.decision.name,
        "imp.reason": report.reason.name,
        "imp.template": report.template,
        "imp.sketch_id": report.sketch_id,
        "imp.version": 0,
        "imp.delta_rows": 0,
        "imp.delta_bytes": 0,
        "imp.bytes_kept": report.bytes_kept,
        "imp.bytes_total": report.bytes_total,
    }


def test_a_refusal_is_no_error_and_its_stage_ends(recorded: Recorded) -> None:
    world = World(Options(answers=False), Spans(with_text=False, tracer=recorded.tracer))
    world.ask("SELECT a FROM r LIMIT 3")
    every = recorded.take()
    assert {span.status.status_code for span in every} == {StatusCode.UNSET}
    assert all(span.end_time is not None and not span.events for span in every)
    assert (every[0].attributes or {})["imp.decision"] == "NOT_USED"


def test_an_error_is_told_by_its_class_alone(recorded: Recorded) -> None:
    error = DataError(f"division of {SECRET} by zero", error_class="DIVIDE_BY_ZERO", sqlstate="22012")
    pipeline, _ = observed(FakeWatched(error=error), Spans(with_text=False, tracer=recorded.tracer))
    with pytest.raises(DataError):
        pipeline.run(Execution(f"SELECT {SECRET} / 0"))
    every = recorded.take()
    attributes = every[0].attributes or {}
    assert every[0].status.status_code is StatusCode.ERROR
    assert attributes[error_attributes.ERROR_TYPE] == "DIVIDE_BY_ZERO"
    assert attributes[db_attributes.DB_RESPONSE_STATUS_CODE] == "22012"
    assert [span.name for span in every] == ["imp.statement", "imp.maintain", "imp.capture"]
    assert str(SECRET) not in "".join(span.to_json() for span in every)


def test_an_error_of_another_kind_has_the_name_of_its_class(recorded: Recorded) -> None:
    pipeline, _ = observed(FakeWatched(error=KeyError(SECRET)), Spans(with_text=False, tracer=recorded.tracer))
    with pytest.raises(KeyError):
        pipeline.run(Execution("SELECT 1"))
    assert (recorded.take()[0].attributes or {})["error.type"] == "KeyError"


@pytest.mark.parametrize("with_text", [True, False])
def test_the_text_is_there_when_asked_for(recorded: Recorded, with_text: bool) -> None:
    world = World(Options(answers=False, policy=Policy.INCREMENTAL), Spans(with_text=with_text, tracer=recorded.tracer))
    world.ask(SUMS)
    attributes = recorded.take()[0].attributes or {}
    assert attributes.get(db_attributes.DB_QUERY_TEXT) == (SUMS if with_text else None)


def test_the_statement_is_below_the_span_of_the_application(recorded: Recorded) -> None:
    pipeline, _ = observed(FakeWatched(numbers(1, [])), Spans(with_text=False, tracer=recorded.tracer))
    with recorded.tracer.start_as_current_span("request") as request:
        pipeline.run(Execution("SELECT 1"))
    statement = next(span for span in recorded.take() if span.name == "imp.statement")
    assert statement.parent is not None
    assert statement.parent.span_id == request.get_span_context().span_id
    assert not get_current_span().is_recording()


class Noting(FakeWatched):
    """Notes what was around it."""

    around: object = None

    def run(self, execution: Execution) -> Outcome:
        self.around = execution.watch._around
        return super().run(execution)


def test_stages_cost_nothing_where_the_statement_is_not_sampled() -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF)
    for tracer in (provider.get_tracer("test"), get_tracer("no provider")):
        inner = Noting(numbers(1, []))
        pipeline, _ = observed(inner, Spans(with_text=False, tracer=tracer))
        pipeline.run(Execution("SELECT 1"))
        assert inner.around == spans._SILENT.enter_result.stage
    provider.shutdown()


def test_without_the_extra_there_are_no_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    spans._tracer.cache_clear()
    try:
        inner = Noting(numbers(1, []))
        pipeline, observer = observed(inner, Spans(with_text=True))
        pipeline.run(Execution("SELECT 1"))
        assert inner.around == spans._SILENT.enter_result.stage
        assert observer.metrics.snapshot().counters["imp_statements_total", ("query",)] == 1
    finally:
        spans._tracer.cache_clear()


def test_with_the_extra_the_tracer_is_that_of_the_application() -> None:
    spans._tracer.cache_clear()
    assert Spans(with_text=False)._tracer is not None
