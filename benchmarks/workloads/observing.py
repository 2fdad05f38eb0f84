"""What observing adds to a statement: counters, their file, the debug line, and OpenTelemetry without and with an SDK that records.

The statement itself does nothing but enter the stages that a maintained query has, so that what is measured is observing alone.
"""

from __future__ import annotations

import io
import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracer, Tracer

from benchmarks.harness import milliseconds
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns
from benchmarks.records import Quantity
from imp_driver.observe.instrumentation import Observed
from imp_driver.observe.registry import Observer
from imp_driver.observe.spans import Spans
from imp_driver.ports import Outcome, Pipeline, TableDefinition
from imp_driver.reasons import Decision, DeltaSource, Reason
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.report import SketchReport

STATEMENTS = 2_000
WRITES = 10
"""Calls of one turn, whose mean is its measurement."""
TEXT = "SELECT a, avg(b) FROM r500 GROUP BY a HAVING avg(c) BETWEEN 17 AND 67"
STAGES = ("parse", "resolve", "bind", "maintain", "sketch", "rewrite", "execute")
_LOG = logging.getLogger("imp_driver.observe")


class _Stages:
    """A pipeline that enters every stage and finds nothing to do there."""

    def run(self, execution: Execution) -> Outcome:
        for stage in STAGES:
            with execution.watch.stage(stage):
                pass
        report = SketchReport(
            Decision.MAINTAINED, Reason.FILTERED, "", "0123456789ab", "ba9876543210", "spark_catalog.default.r500", "a", 16, 17,
            {"spark_catalog.default.r500": 17}, 20, 1_893, DeltaSource.CHANGE_FEED, None, 12, 5_001, 3, 4, 64, 1_000_000, 16_000_000, 0.9,
            execution.watch.times,
        )  # fmt: skip
        return Outcome(None, -1, report)

    def run_many(self, execution: Execution, rows: Sequence[Parameters]) -> Outcome:
        return self.run(execution)

    def using(self, sketch: SketchMode) -> _Stages:
        return self

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return None

    def end_transaction(self) -> None: ...

    def interrupt(self, execution: Execution) -> None: ...

    def close(self) -> None: ...


class _Dropping(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


@contextmanager
def _debugging() -> Iterator[None]:
    handler, level = logging.StreamHandler(io.StringIO()), _LOG.level
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        _LOG.setLevel(level)


def run(journal: Journal, plan: Plan) -> None:
    """Measure one case of all ways to observe a statement, whose outcome must be the same, and one of the file of counters."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        (Path(folder) / "_imp").mkdir()
        observer = Observer(Path(folder))
        observer.connect("none", dict)
        stack.callback(observer.disconnect)
        exported, unsampled = TracerProvider(), TracerProvider(sampler=ALWAYS_OFF)
        exported.add_span_processor(BatchSpanProcessor(_Dropping(), max_queue_size=1 << 20))
        for provider in (exported, unsampled):
            stack.callback(provider.shutdown)
        counters = Observed(_Stages(), observer, _spans(None))
        ways: dict[str, Way] = {
            "not observed": partial(_turn, _Stages()),
            "counters": partial(_turn, counters),
            "counters, debug line": partial(_debugged, counters),
            "counters, OpenTelemetry without SDK": _traced(observer, NoOpTracer()),
            "counters, OpenTelemetry, not sampled": _traced(observer, unsampled.get_tracer("imp_driver")),
            "counters, OpenTelemetry, exported": _traced(observer, exported.get_tracer("imp_driver")),
        }
        take_turns(journal.page({"call": "statement"}), plan, Work(ways))
        take_turns(journal.page({"call": "write of the file of counters"}), plan, Work({"counters": partial(_write, observer)}))


def _spans(tracer: Tracer | None) -> Spans:
    spans = Spans(with_text=False, tracer=tracer)
    # None stands for the application's, of which there is none here.
    spans._tracer = tracer
    return spans


def _traced(observer: Observer, tracer: Tracer) -> Way:
    return partial(_turn, Observed(_Stages(), observer, _spans(tracer)))


def _debugged(pipeline: Observed) -> Turn:
    with _debugging():
        return _turn(pipeline)


def _turn(pipeline: Pipeline) -> Turn:
    """Run the statement many times; its answer is what the last one's report says, but for the times."""
    begin = time.perf_counter()
    for _ in range(STATEMENTS):
        outcome = pipeline.run(Execution(TEXT))
    seconds = time.perf_counter() - begin
    row = (outcome.rowcount, repr(replace(outcome.report, times={})), ", ".join(outcome.report.times))
    return Turn([row], {Quantity.CALL: seconds * 1000 / STATEMENTS})


def _write(observer: Observer) -> Turn:
    """Write the file some times, which is done every five seconds at most."""
    file = observer._file
    assert file is not None
    return Turn(None, {Quantity.CALL: fmean(milliseconds(file.write) for _ in range(WRITES))})
