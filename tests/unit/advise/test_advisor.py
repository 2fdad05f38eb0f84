"""Recording of queries on fakes: what is sampled when, and that no query fails for it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from imp_driver.advise.advisor import RUNS_BEFORE_SAMPLE, Advisor
from imp_driver.errors import CANCELLED, OperationalError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.request import Request
from imp_driver.maintain.sketches import Sketches
from imp_driver.parse.statement import parse
from imp_driver.parse.template import make_template, template_text
from imp_driver.plan.bind import bind
from imp_driver.ports import KeptRows, Relation, RelationKind, ResultShape, ResultStream, TableDefinition
from imp_driver.reasons import Decision, Reason
from imp_driver.values.execution import Execution
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import ChangePlan, SchemaColumn, TableSnapshot, ZSet
from tests.unit.tables import analysis_of

SCHEMA = (SchemaColumn("g", "integer", True), SchemaColumn("x", "long", True))
QUERY = "SELECT g FROM t GROUP BY g HAVING sum(x) > 70"


@dataclass(slots=True)
class Files:
    """16 files of 1000 bytes with the whole range of g each."""

    sizes: npt.NDArray[np.int64] = field(default_factory=lambda: np.full(16, 1000, np.int64))
    rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.full(16, 10, np.int64))

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        return pa.array([0] * 16, pa.int32()), pa.array([15] * 16, pa.int32()), np.zeros(16, np.int64)


SNAPSHOT = TableSnapshot("/t", "id", 3, SCHEMA, 160, Files())


@dataclass(slots=True)
class FakeSource:
    table: TableSnapshot = SNAPSHOT

    def snapshot(self, location: str) -> TableSnapshot:
        return self.table

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        raise AssertionError("no change is read")

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        raise AssertionError("no change is read")

    def rows_with(self, snapshot: TableSnapshot, columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        return None

    def snapshot_at(self, location: str, version: int) -> TableSnapshot:
        raise AssertionError("not asked for")

    def version_at(self, location: str, moment: float) -> int:
        raise AssertionError("not asked for")

    def commit_digest(self, location: str, version: int) -> str | None:
        return f"{location} {version}"

    def commit_metrics(self, location: str, version: int) -> dict[str, int]:
        return {}


@dataclass(slots=True)
class FakeSession:
    """Answers the sample query with 16 groups of 10 rows, the sum of group i being 5 * i."""

    asked: list[str] = field(default_factory=list)
    error: Exception | None = None

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        self.asked.append(text)
        if self.error is not None and not text.startswith("DESCRIBE"):
            raise self.error
        if text.startswith("DESCRIBE"):
            return pa.table({"partitionColumns": pa.array([[]], pa.list_(pa.string()))})
        ten, mean = [10] * 16, [number / 2 for number in range(16)]
        columns = {"key_0": pa.array(range(16), pa.int32()), "sampled": ten, "drawn": ten, "matching": ten}
        columns |= {"aggregate_0_count": ten, "aggregate_0_mean": mean, "aggregate_0_variance": [0.0] * 16}
        return pa.table(columns)

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        return Relation(RelationKind.DELTA_TABLE, name, "/t")

    def execute(self, execution: Execution) -> ResultStream:
        raise AssertionError("nothing else runs")

    def buckets(self, execution: Execution) -> None:
        return None

    def kept_rows(self, execution: Execution) -> KeptRows:
        raise AssertionError("nothing else runs")

    def read_with(self, text: str, view: str, rows: pa.Table, execution: Execution) -> pa.Table:
        raise AssertionError("nothing else runs")

    def execute_with(self, execution: Execution, views: Mapping[str, pa.Table]) -> ResultStream:
        raise AssertionError("nothing else runs")

    def append(self, text: str, view: str, rows: pa.Table, execution: Execution) -> None:
        raise AssertionError("nothing else runs")

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        raise NotImplementedError

    def may_read(self, name: tuple[str, ...]) -> bool:
        return True

    def describe(self, execution: Execution) -> ResultShape:
        raise NotImplementedError

    def knows_zone(self, name: str) -> bool:
        return False

    def moment(self) -> None:
        return None

    def parallelism(self) -> int:
        return 1

    def has_row_rules(self) -> bool:
        return True

    def settings(self) -> tuple[tuple[str, str], ...]:
        return ()

    def version_at(self, name: tuple[str, ...], time: str, execution: Execution) -> int | None:
        return None

    def last_commit_version(self) -> int | None:
        return None

    def interrupt(self, execution: Execution) -> None: ...

    def close(self) -> None: ...


def _request(text: str = QUERY) -> Request:
    analysis = analysis_of(text, SCHEMA)
    tree = parse(text).tree
    assert tree is not None
    template = make_template(template_text(tree), (("/t", "id"),), ())
    block = bind(analysis.block, None, analysis.columns)
    return Request(template, analysis, block, {("t",): SNAPSHOT}, (), 100)


def _report(reason: Reason, template: str | None = None) -> SketchReport:
    return SketchReport(Decision.NOT_USED, reason, template=template, times={"execute": 2.0, "parse": 9.0})


def _run(advisor: Advisor, reason: Reason, times: int = 1, text: str = QUERY) -> None:
    for _ in range(times):
        execution = Execution(text)
        advisor.asked(execution, [_request(text)])
        advisor.record(execution, parse(text), _report(reason))


def _advisor() -> tuple[Advisor, FakeSession, Sketches]:
    session, source = FakeSession(), FakeSource()
    sketches = Sketches(Relations(source, 1 << 20))
    return Advisor(session, source, sketches), session, sketches


def test_runs_are_recorded_with_their_cost_and_reason() -> None:
    advisor, session, sketches = _advisor()
    _run(advisor, Reason.NOT_CLUSTERED, 2)
    (record,) = sketches.workload.records()
    assert record.text == "SELECT g FROM t GROUP BY g HAVING SUM(x) > ?"
    assert (record.table, record.table_id, record.attributes) == ("t", "id", ("g",))
    assert (record.runs, record.milliseconds, record.bytes, record.reason) == (2, 4.0, 32_000, "NOT_CLUSTERED")
    assert session.asked == []
    (question,) = sketches.workload.questions().values()
    assert len(question.snapshots["t",].files.sizes) == 0


def test_a_query_that_cut_other_tables_too_is_recorded_with_its_share_of_this_one() -> None:
    advisor, _, sketches = _advisor()
    request, execution = _request(), Execution(QUERY)
    advisor.asked(execution, [request])
    own = _report(Reason.FILTERED, request.template.identifier)
    report = replace(own, table="t", attribute="g", bytes_kept=25_000, bytes_total=100_000)
    advisor.record(execution, parse(QUERY), report)
    (record,) = sketches.workload.records()
    assert (record.last_bytes, record.table_bytes) == (4_000, 16_000)
    assert record.beside == {}
    for table, attribute in (("other", "g"), ("t", "no_key")):
        cut = replace(report, table=table, attribute=attribute)
        advisor.asked(execution, [request])
        advisor.record(execution, parse(QUERY), cut)
        (record,) = sketches.workload.records()
        assert record.beside == {table: 75_000}


def test_only_a_query_that_ran_often_without_a_sketch_is_sampled_and_once() -> None:
    advisor, session, sketches = _advisor()
    _run(advisor, Reason.NOT_CLUSTERED, RUNS_BEFORE_SAMPLE - 1)
    assert session.asked == []
    _run(advisor, Reason.NOT_CLUSTERED, 5)
    assert len(session.asked) == 1
    (record,) = sketches.workload.records()
    # One of 16 groups has a sum above 70.
    assert record.shares["g"][4] == pytest.approx(1 / 16)
    assert record.runs == RUNS_BEFORE_SAMPLE + 4
    advisor, session, sketches = _advisor()
    _run(advisor, Reason.CAPTURE_DEFERRED, RUNS_BEFORE_SAMPLE + 5)
    assert session.asked == []


@pytest.mark.parametrize("reason", [Reason.SKETCH_OFF, Reason.INTERNAL, Reason.NOT_A_QUERY])
def test_what_says_nothing_of_the_query_is_not_recorded(reason: Reason) -> None:
    advisor, _, sketches = _advisor()
    _run(advisor, reason)
    assert sketches.workload.records() == ()


def test_what_was_asked_counts_only_for_its_own_run() -> None:
    advisor, _, sketches = _advisor()
    advisor.asked(Execution(QUERY), [_request()])
    refused = parse("SELECT g, 'Bob' FROM t WHERE x = 5")
    advisor.record(Execution(refused.text), refused, _report(Reason.NO_AGGREGATION))
    advisor.record(Execution(refused.text), refused, _report(Reason.NO_AGGREGATION))
    (record,) = sketches.workload.records()
    assert (record.text, record.table, record.runs, record.reason) == ("SELECT g, ? FROM t WHERE x = ?", "", 2, "NO_AGGREGATION")


def test_a_failing_sample_is_no_failing_query(caplog: pytest.LogCaptureFixture) -> None:
    advisor, session, sketches = _advisor()
    session.error = OperationalError("no Spark", error_class="NO_SPARK")
    with caplog.at_level(logging.WARNING, "imp_driver"):
        _run(advisor, Reason.NOT_CLUSTERED, RUNS_BEFORE_SAMPLE)
    assert "OperationalError NO_SPARK" in caplog.text
    assert "no Spark" not in caplog.text
    with caplog.at_level(logging.WARNING, "imp_driver"):
        _run(advisor, Reason.NOT_CLUSTERED, RUNS_BEFORE_SAMPLE - 1)
    assert len(session.asked) == 1
    _run(advisor, Reason.NOT_CLUSTERED)
    assert len(session.asked) == 2
    assert sketches.workload.records()[0].runs == 2 * RUNS_BEFORE_SAMPLE
    (advice,) = advisor.advise(Execution(""))
    assert (advice.clustering, advice.bytes_then) == (None, None)
    assert "estimated by ADVISE SKETCHES" in (advice.reason or "")
    session.error = OperationalError("cancelled", error_class=CANCELLED)
    with pytest.raises(OperationalError):
        advisor.advise(Execution(""))


def test_advice_samples_what_was_asked_in_this_process() -> None:
    advisor, session, _ = _advisor()
    _run(advisor, Reason.NOT_CLUSTERED, 3)
    advisor.record(Execution("SELECT g FROM t"), parse("SELECT g FROM t"), _report(Reason.NO_AGGREGATION))
    best, rest = advisor.advise(Execution(""))
    assert (best.clustering, best.executions, best.bytes_now, best.bytes_then) == ("g", 3, 48_000, 3_000)
    assert rest.reason is not None
    assert rest.reason.startswith("NO_AGGREGATION")
    assert advisor.advise(Execution(""))[0] == best
    assert sum("place" in text for text in session.asked) == 1


def test_a_table_that_was_made_anew_needs_no_advice() -> None:
    session, source = FakeSession(), FakeSource()
    advisor = Advisor(session, source, Sketches(Relations(source, 1 << 20)))
    _run(advisor, Reason.NOT_CLUSTERED)
    source.table = replace(SNAPSHOT, table_id="another")
    assert advisor.advise(Execution("")) == []
