"""What a statement leaves in the counters and the log, and that neither can make it fail."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.errors import DataError, OperationalError, ProgrammingError
from imp_driver.observe.decisions import has_plain_detail
from imp_driver.observe.instrumentation import Observed
from imp_driver.observe.outcome import operation_of
from imp_driver.observe.registry import Observer, metrics, observer_of
from imp_driver.reasons import Decision, Reason, RecaptureReason
from imp_driver.values.execution import Execution
from imp_driver.values.failures import described
from imp_driver.values.option_kinds import Policy, SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.unit.dbapi.fakes import REPORT, numbers
from tests.unit.observe.watched import SECRET, BreakingStream, FakeWatched, World, observed, rows_of

SUMS = f"SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > {6 * SECRET + 12}"
OFTEN = Options(answers=False, policy=Policy.INCREMENTAL)


def _counters(observer: Observer, name: str) -> dict[tuple[str, ...], float]:
    return {labels: value for (family, labels), value in observer.metrics.snapshot().counters.items() if family == name}


def _observations(observer: Observer, name: str) -> dict[tuple[str, ...], int]:
    found = observer.metrics.snapshot().distributions
    return {labels: sum(each.counts) for (family, labels), each in found.items() if family == name}


def _gauge(observer: Observer, name: str) -> float:
    return observer.metrics.snapshot().gauges[name, ()]


def test_queries_by_decision_and_what_was_done_for_them() -> None:
    world = World(OFTEN)
    reports = [world.ask(SUMS).report, world.ask(SUMS).report]
    world.insert()
    reports.append(world.ask(SUMS).report)
    decisions = _counters(world.observer, "imp_decisions_total")
    assert decisions == {(report.decision.name, report.reason.name): 1 for report in reports}
    assert [report.decision.name for report in reports] == ["CAPTURED", "FRESH", "MAINTAINED"]
    assert _counters(world.observer, "imp_statements_total") == {("query",): 3}
    assert _counters(world.observer, "imp_captures_total") == {("",): 1}
    assert _counters(world.observer, "imp_maintenance_steps_total") == {("query",): 1}
    assert _counters(world.observer, "imp_delta_rows_total") == {("query",): 1}
    assert _counters(world.observer, "imp_errors_total") == {}
    assert _observations(world.observer, "imp_statement_seconds") == {("query",): 3}
    stages = _observations(world.observer, "imp_stage_seconds")
    assert (stages["parse",], stages["maintain",], stages["capture",], stages["execute",]) == (3, 3, 1, 3)
    assert (_gauge(world.observer, "imp_sketches"), _gauge(world.observer, "imp_connections")) == (1, 1)
    assert _gauge(world.observer, "imp_state_bytes") > 0


def test_bytes_that_a_filter_skips() -> None:
    world = World(Options(answers=False))
    world.warehouse.commit("r", [(number, number // 4, 0, SECRET if number < 8 else 1) for number in range(80)])
    report = world.ask(f"SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > {SECRET}").report
    assert report.reason.name == "FILTERED"
    assert report.bytes_total is not None
    assert report.bytes_kept is not None
    assert _counters(world.observer, "imp_considered_bytes_total") == {(): report.bytes_total}
    assert _counters(world.observer, "imp_skipped_bytes_total") == {(): report.bytes_total - report.bytes_kept}
    assert 0 < report.bytes_kept < report.bytes_total


def test_states_that_were_dropped_for_their_size() -> None:
    world = World(Options(answers=False))
    other = SUMS.replace("sum(a)", "max(x)")
    world.ask(SUMS)
    world.ask(other)
    world.sketches.relations.registry.memory_budget = 10
    world.ask(other)
    assert _counters(world.observer, "imp_evictions_total") == {(): 1}
    assert (_gauge(world.observer, "imp_sketches"), _gauge(world.observer, "imp_state_limit_bytes")) == (1, 10)


@pytest.mark.parametrize(
    ("error", "label"),
    [
        (ProgrammingError("no such table"), "ProgrammingError"),
        (OperationalError("cancelled"), "OperationalError"),
        (KeyboardInterrupt(), "other"),
        (ZeroDivisionError(), "other"),
    ],
)
def test_a_statement_that_fails_is_counted_and_fails_as_it_would(error: BaseException, label: str) -> None:
    pipeline, observer = observed(FakeWatched(error=error))
    with pytest.raises(type(error)) as caught:
        pipeline.run(Execution("INSERT INTO t SELECT 1"))
    assert caught.value is error
    assert _counters(observer, "imp_errors_total") == {(label,): 1}
    assert _counters(observer, "imp_statements_total") == {("change",): 1}
    assert _counters(observer, "imp_decisions_total") == {}
    assert _observations(observer, "imp_stage_seconds") == {("maintain",): 1, ("capture",): 1}


def test_an_error_in_the_middle_of_the_rows_is_counted() -> None:
    error = DataError("division by zero")
    pipeline, observer = observed(FakeWatched(BreakingStream(error)))
    outcome = pipeline.run(Execution("SELECT 1"))
    with pytest.raises(DataError) as caught:
        rows_of(outcome.stream)
    assert caught.value is error
    assert _counters(observer, "imp_errors_total") == {("DataError",): 1}


def test_the_rows_and_the_report_are_handed_on() -> None:
    inner = FakeWatched(numbers(5, [2]), rowcount=7)
    pipeline, observer = observed(inner)
    outcome = pipeline.run(Execution("SELECT n FROM t", (1,)))
    assert outcome.stream is not None
    assert inner.stream is not None
    assert (outcome.stream.columns, outcome.stream.schema) == (inner.stream.columns, inner.stream.schema)
    assert rows_of(outcome.stream) == 5
    outcome.stream.close()
    assert (inner.stream.closed, outcome.rowcount, outcome.report, inner.asked) == (True, 7, REPORT, [("SELECT n FROM t", (1,))])
    assert pipeline.run_many(Execution("INSERT INTO t VALUES (?)"), [(1,), (2,)]).rowcount == 2
    assert _counters(observer, "imp_statements_total") == {("query",): 1, ("change",): 1}


def test_the_rest_of_a_pipeline_is_handed_on() -> None:
    inner = FakeWatched()
    pipeline, observer = observed(inner)
    assert isinstance(pipeline.using(SketchMode.OFF), Observed)
    execution = Execution("SELECT 1", tag="a")
    pipeline.using(SketchMode.SHADOW).run(execution)
    pipeline.interrupt(execution)
    definition = pipeline.definition(("s", "t"))
    assert definition is not None
    assert definition.properties == {"name": "s.t"}
    assert (inner.modes, inner.interrupted) == ([SketchMode.OFF, SketchMode.SHADOW], ["a"])
    assert (_counters(observer, "imp_statements_total"), _gauge(observer, "imp_connections")) == ({("query",): 1}, 1)
    pipeline.close()
    assert (inner.closed, _gauge(observer, "imp_connections")) == (True, 0)


def test_counting_that_fails_is_no_failing_statement(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    pipeline, observer = observed(FakeWatched(numbers(1, [])))

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"value {SECRET}")

    monkeypatch.setattr(observer.metrics, "count", fail)
    with caplog.at_level(logging.WARNING, "imp_driver"):
        assert rows_of(pipeline.run(Execution("SELECT 1")).stream) == 1
    assert "A statement could not be counted: RuntimeError in" in caplog.text
    assert str(SECRET) not in caplog.text


def _line(caplog: pytest.LogCaptureFixture) -> dict[str, str]:
    (message,) = [record.getMessage() for record in caplog.records if record.getMessage().startswith("statement ")]
    return dict(field.split("=", 1) for field in message.split() if "=" in field)


def test_one_line_says_what_was_decided(caplog: pytest.LogCaptureFixture) -> None:
    world = World(OFTEN)
    world.ask(SUMS)
    world.insert()
    with caplog.at_level(logging.DEBUG, "imp_driver"):
        report = world.ask(SUMS).report
    line = _line(caplog)
    assert {record.name for record in caplog.records} == {"imp_driver.observe"}
    assert (line["tag"], line["kind"], line["operation"], line["template"]) == ("tag-1", "query", "SELECT", report.template)
    assert (line["decision"], line["reason"], line["versions"]) == (report.decision.name, report.reason.name, '{"r":1}')
    assert (line["from_version"], line["delta_rows"], line["attribute"]) == ("0", "1", '"r.g"')
    assert [name for name in line if name.endswith("_ms")] == [*(f"{stage}_ms" for stage in report.times), "total_ms"]


def test_a_query_without_a_template_is_known_by_its_shape(caplog: pytest.LogCaptureFixture) -> None:
    world = World(Options(answers=False))
    shapes = []
    for constant in (1, 2):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "imp_driver"):
            world.ask(f"SELECT a FROM r WHERE a > {constant} LIMIT 3")
        line = _line(caplog)
        assert (line["decision"], "template" in line) == ("NOT_USED", False)
        shapes.append(line["shape"])
    assert shapes[0] == shapes[1]


def test_a_statement_that_fails_has_its_line(caplog: pytest.LogCaptureFixture) -> None:
    error = ProgrammingError(f"no column {SECRET}", error_class="UNRESOLVED_COLUMN", sqlstate="42703")
    pipeline, _ = observed(FakeWatched(error=error))
    with caplog.at_level(logging.DEBUG, "imp_driver"), pytest.raises(ProgrammingError):
        pipeline.run(Execution("SELECT x"))
    assert 'error="ProgrammingError UNRESOLVED_COLUMN 42703"' in caplog.text
    assert str(SECRET) not in caplog.text


@pytest.mark.parametrize(
    ("reason", "recapture_reason", "is_told"),
    [
        (Reason.COVERS_ALMOST_ALL, None, True),
        (Reason.COVERS_ALMOST_ALL, RecaptureReason.ROW_COUNT_DIFFERS, True),
        (Reason.COVERS_ALMOST_ALL, RecaptureReason.CHANGES_UNREADABLE, False),
        (Reason.UNSUPPORTED_PARAMETER, None, False),
        (Reason.INTERNAL, None, False),
        (Reason.CAPTURE_FAILED, None, False),
        (Reason.TEMPLATE_DISABLED, None, False),
        (Reason.NON_DETERMINISTIC, None, False),
    ],
)
def test_details_that_quote_others_are_not_told(reason: Reason, recapture_reason: RecaptureReason | None, is_told: bool) -> None:
    report = SketchReport(Decision.RECAPTURED, reason, "some words", recapture_reason=recapture_reason)
    assert has_plain_detail(report) is is_told


def test_an_entry_without_a_state_is_no_sketch() -> None:
    world = World(Options(answers=False))
    world.ask(SUMS)
    (entry,) = world.sketches.relations.registry.relations()
    entry._contents = None
    world.sketches.relations.registry.weigh(entry)
    assert (_gauge(world.observer, "imp_sketches"), _gauge(world.observer, "imp_state_bytes")) == (0, entry.memory)


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_there_is_no_line_above_debug(level: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(level, "imp_driver"):
        World(Options(answers=False)).ask(SUMS)
    assert caplog.records == []


def _differ(world: World) -> None:
    """Let a state miss rows, so that the guard sees a difference."""
    world.ask(SUMS)
    (entry,) = world.sketches.relations.registry.relations()
    assert entry.in_memory is not None
    for cut in entry.cuts:
        entry.sketches(cut.name).clear()
    entry.in_memory.apply = lambda *_: None  # type: ignore[method-assign]
    world.warehouse.commit("r", [*world.warehouse.rows("r"), (100, 0, 0, 30 * SECRET)])


def test_no_constant_and_no_value_of_a_row_is_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(Options(answers=False, policy=Policy.INCREMENTAL, sketch_guard=1.0))
    with caplog.at_level(logging.DEBUG, "imp_driver"):
        for text in (
            SUMS,
            f"SELECT count(*) FROM r WHERE a = {SECRET}",
            f"SELECT g FROM r WHERE now() > '{SECRET}' GROUP BY g HAVING sum(a) > {SECRET}",
            f"SELECT g, count(*) AS n FROM r GROUP BY g HAVING count(*) > {SECRET} AND nothing_known(g)",
            f"SELECT a FROM r ORDER BY {SECRET} + a LIMIT 3",
            f"SELECT g, {SECRET} FROM r GROUP BY g, a + {SECRET} HAVING max(a + {SECRET}) > 1",
            f"{SECRET} is no statement",
        ):
            # DuckDB knows not all of it.
            with contextlib.suppress(Exception):
                world.ask(text)
        monkeypatch.setattr(world.sketches, "prepare", _broken)
        world.ask(SUMS)
    assert sum(record.getMessage().startswith("statement ") for record in caplog.records) == 8
    assert "The sketch could not be used" in caplog.text
    assert str(SECRET) not in caplog.text
    assert not any(record.exc_info for record in caplog.records)


def _broken(*_: object) -> None:
    raise KeyError(SECRET)


def test_a_difference_is_an_error_in_the_log_and_its_rows_are_in_the_report_alone(caplog: pytest.LogCaptureFixture) -> None:
    world = World(Options(answers=False, policy=Policy.INCREMENTAL, sketch_guard=1.0))
    _differ(world)
    with caplog.at_level(logging.DEBUG, "imp_driver"):
        report = world.ask(SUMS).report
    assert report.reason.name == "TEMPLATE_DISABLED"
    assert report.detail == "4 rows against 5"
    (error,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert (error.name, str(report.template) in error.getMessage()) == ("imp_driver.observe", True)
    assert report.detail not in caplog.text
    assert _gauge(world.observer, "imp_disabled_templates") == 1
    world.sketches.relations.guard.record(("other",), f"row {SECRET} occurs twice")
    assert "Templates that are disabled: other" in caplog.text
    assert str(SECRET) not in caplog.text


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("select 1", "SELECT"),
        ("  \n(SELECT 1)", "SELECT"),
        ("WITH a AS (SELECT 1) SELECT * FROM a", "SELECT"),
        ("insert into t values (1)", "INSERT"),
        ("OPTIMIZE t", "OPTIMIZE"),
        ("secretword", ""),
        ("31415", ""),
        ("", ""),
    ],
)
def test_operations_are_known_words(text: str, operation: str) -> None:
    assert operation_of(text) == operation


def test_of_an_exception_classes_and_places_are_told() -> None:
    assert described(DataError("text", error_class="DIVIDE_BY_ZERO", sqlstate="22012")) == "DataError DIVIDE_BY_ZERO 22012"
    assert described(KeyError("text")) == "KeyError"
    with pytest.raises(KeyError) as caught:
        _broken()
    text = described(caught.value)
    assert text.startswith("KeyError in ")
    assert "_broken" in text.split(" < ")[0]
    assert str(SECRET) not in text


def test_the_library_handles_no_record_itself() -> None:
    (handler,) = logging.getLogger("imp_driver").handlers
    assert isinstance(handler, logging.NullHandler)


def test_the_counters_of_a_process_are_told_by_warehouse(tmp_path: Path) -> None:
    (tmp_path / "_imp").mkdir()
    observer: Any = observer_of(tmp_path)
    assert observer_of(tmp_path) is observer
    observer.connect("store", lambda: {"imp_sketches": 5})
    try:
        assert f'imp_sketches{{warehouse="{tmp_path}"}} 5' in metrics().splitlines()
        assert imp_driver.metrics is metrics
    finally:
        observer.disconnect()
