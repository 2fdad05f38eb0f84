"""What observing adds to a statement: counters, their file, the debug line, and OpenTelemetry without and with an SDK that records.

The statement itself does nothing but enter the stages that a maintained query has, so that what is measured is observing alone.
"""

from __future__ import annotations

import io
import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracer, Tracer

from imp_driver.observe.instrumentation import Observed
from imp_driver.observe.registry import Observer
from imp_driver.observe.spans import Spans
from imp_driver.ports import Outcome, TableDefinition
from imp_driver.reasons import Decision, DeltaSource, Reason
from imp_driver.values.options import SketchMode
from imp_driver.values.report import SketchReport
from imp_driver.values.run import Parameters, Run

STATEMENTS = 2_000
TEXT = "SELECT a, avg(b) FROM r500 GROUP BY a HAVING avg(c) BETWEEN 17 AND 67"
STAGES = ("parse", "resolve", "bind", "maintain", "sketch", "rewrite", "execute")
STATEMENT_MS = 30.0
"""What ``SELECT 1`` takes (results/main-job.md), which the added time is compared with."""
_LOG = logging.getLogger("imp_driver.observe")


class _Stages:
    """A pipeline that enters every stage and finds nothing to do there."""

    def run(self, run: Run) -> Outcome:
        for stage in STAGES:
            with run.watch.stage(stage):
                pass
        report = SketchReport(
            Decision.MAINTAINED, Reason.FILTERED, "", "0123456789ab", "ba9876543210", "spark_catalog.default.r500", "a", 16, 17,
            {"spark_catalog.default.r500": 17}, 20, DeltaSource.CHANGE_FEED, None, 12, 5_001, 3, 4, 64, 1_000_000, 16_000_000, 0.9,
            run.watch.times,
        )  # fmt: skip
        return Outcome(None, -1, report)

    def run_many(self, run: Run, rows: Sequence[Parameters]) -> Outcome:
        return self.run(run)

    def using(self, sketch: SketchMode) -> _Stages:
        return self

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return None

    def end_transaction(self) -> None: ...

    def interrupt(self, run: Run) -> None: ...

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


def run(repetitions: int) -> list[dict[str, Any]]:
    """Return one record per way to observe; the ways take turns, and the median repetition of each counts."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "_imp").mkdir()
        observer = Observer(Path(folder))
        observer.connect("none", dict)
        provider, unsampled = TracerProvider(), TracerProvider(sampler=ALWAYS_OFF)
        provider.add_span_processor(BatchSpanProcessor(_Dropping(), max_queue_size=1 << 20))
        without = Observed(_Stages(), observer, _spans(None))
        ways: dict[str, Callable[[], float]] = {
            "not observed": lambda: _seconds(_Stages().run),
            "counters": lambda: _seconds(without.run),
            "counters, debug line": lambda: _debugged(without),
            "counters, OpenTelemetry without SDK": _traced(observer, NoOpTracer()),
            "counters, OpenTelemetry, not sampled": _traced(observer, unsampled.get_tracer("imp_driver")),
            "counters, OpenTelemetry, exported": _traced(observer, provider.get_tracer("imp_driver")),
        }
        found: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(repetitions + 1):
            for name, way in ways.items():
                found[name].append(way())
        records = _records({name: statistics.median(each[1:]) for name, each in found.items()})
        records.append(_one_write(observer, repetitions))
        observer.disconnect()
        provider.shutdown()
        unsampled.shutdown()
    return records


def _spans(tracer: Tracer | None) -> Spans:
    spans = Spans(with_text=False, tracer=tracer)
    # None stands for the application's, of which there is none here.
    spans._tracer = tracer
    return spans


def _traced(observer: Observer, tracer: Tracer) -> Callable[[], float]:
    pipeline = Observed(_Stages(), observer, _spans(tracer))
    return lambda: _seconds(pipeline.run)


def _debugged(pipeline: Observed) -> float:
    with _debugging():
        return _seconds(pipeline.run)


def _seconds(run: Callable[[Run], Outcome]) -> float:
    """Return the seconds of one statement."""
    begin = time.perf_counter()
    for _ in range(STATEMENTS):
        run(Run(TEXT))
    return (time.perf_counter() - begin) / STATEMENTS


def _records(medians: dict[str, float]) -> list[dict[str, Any]]:
    records = []
    for name, seconds in medians.items():
        added = (seconds - medians["not observed"]) * 1000
        record = {
            "observed by": name,
            "us per statement": round(seconds * 1e6, 1),
            "added us": round(added * 1000, 1),
            f"ratio to a statement of {STATEMENT_MS:.0f} ms": round((STATEMENT_MS + added) / STATEMENT_MS, 4),
        }
        records.append(record)
        print(record, flush=True)
    return records


def _one_write(observer: Observer, repetitions: int) -> dict[str, Any]:
    """Time one write of the file, made every five seconds at most."""
    assert observer._file is not None
    times = []
    for _ in range(10 * repetitions):
        begin = time.perf_counter()
        observer._file.write()
        times.append(time.perf_counter() - begin)
    microseconds = statistics.median(times) * 1e6
    record = {
        "observed by": "one write of the file of counters",
        "us per statement": "",
        "added us": round(microseconds, 1),
        f"ratio to a statement of {STATEMENT_MS:.0f} ms": round((STATEMENT_MS + microseconds / 1000) / STATEMENT_MS, 4),
    }
    print(record, flush=True)
    return record
