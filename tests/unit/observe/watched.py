"""A warehouse without a JVM behind an observed pipeline, and a pipeline without an engine."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.observe.instrumentation import Observed
from imp_driver.observe.registry import Observer
from imp_driver.observe.spans import Spans
from imp_driver.ports import Outcome, ResultStream
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from tests.soundness.engine import DuckSession, Warehouse
from tests.unit.dbapi.fakes import REPORT, FakePipeline, FakeStream, numbers

SECRET = 31415
"""A value in rows and in queries."""
SUMS = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > ?"


class FakeWatched(FakePipeline):
    """Spends nothing in one stage inside another."""

    def run(self, execution: Execution) -> Outcome:
        with execution.watch.stage("maintain"), execution.watch.stage("capture"):
            return super().run(execution)

    def run_many(self, execution: Execution, rows: Sequence[Parameters]) -> Outcome:
        self.asked += [(execution.text, row) for row in rows]
        with execution.watch.stage("execute"):
            return Outcome(None, len(rows), REPORT)

    def using(self, sketch: SketchMode) -> FakeWatched:
        self.modes.append(sketch)
        return self


class BreakingStream(FakeStream):
    """Fails at its second batch."""

    def __init__(self, error: BaseException) -> None:
        whole = numbers(2, [1])
        super().__init__(whole.schema, whole._batches)
        self.error = error

    def next_batch(self) -> pa.RecordBatch | None:
        if len(self._batches) == 1:
            raise self.error
        return super().next_batch()


def observed(inner: FakeWatched, spans: Spans | None = None) -> tuple[Observed, Observer]:
    """Return a pipeline around ``inner``, and its counters."""
    observer = Observer(None)
    observer.connect("none", dict)
    return Observed(inner, observer, spans or Spans(with_text=False)), observer


class World:
    """One warehouse whose rows hold SECRET, and a connection to it."""

    def __init__(self, options: Options, spans: Spans | None = None) -> None:
        self.warehouse = Warehouse()
        self.warehouse.commit("r", [(number, number % 10, number % 3, SECRET + number % 5) for number in range(60)])
        self.observer = Observer(None)
        self.sketches = Sketches(Relations(self.warehouse, 1 << 30, metrics=self.observer.metrics))
        middleware = Middleware(DuckSession(self.warehouse), self.warehouse, self.sketches, options)
        self.observer.connect("store", self.sketches.relations.gauges)
        self.pipeline = Observed(middleware, self.observer, spans or Spans(with_text=False))

    def ask(self, text: str) -> Outcome:
        """Run a query and read its rows."""
        outcome = self.pipeline.run(Execution(text, tag="tag-1"))
        assert outcome.stream is not None
        while outcome.stream.next_batch() is not None:
            pass
        return outcome

    def insert(self) -> None:
        self.warehouse.commit("r", [*self.warehouse.rows("r"), (60, 3, 0, SECRET)])


def rows_of(stream: ResultStream | None) -> int:
    """Read a stream; return how many rows it had."""
    assert stream is not None
    count = 0
    while (batch := stream.next_batch()) is not None:
        count += batch.num_rows
    return count
