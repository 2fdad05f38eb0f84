"""A pipeline without an engine: it answers every statement with the batches it was given and writes down what was asked."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from imp_driver.ports import Outcome, ResultColumn, TableDefinition
from imp_driver.reasons import Decision, Reason
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.report import SketchReport

REPORT = SketchReport(Decision.NOT_USED, Reason.SKETCH_OFF)


class FakeStream:
    def __init__(self, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> None:
        self.schema = schema
        self.columns = tuple(ResultColumn(field.name, str(field.type), None, None, True) for field in schema)
        self.closed = False
        self._batches = list(batches)

    def next_batch(self) -> pa.RecordBatch | None:
        return self._batches.pop(0) if self._batches else None

    def close(self) -> None:
        self.closed = True


class FakePipeline:
    """``error`` is raised by the next run."""

    def __init__(self, stream: FakeStream | None = None, rowcount: int = -1, error: BaseException | None = None) -> None:
        self.stream = stream
        self.rowcount = rowcount
        self.error = error
        self.asked: list[tuple[str, object]] = []
        self.interrupted: list[str] = []
        self.modes: list[SketchMode] = []
        self.closed = False

    def run(self, execution: Execution) -> Outcome:
        self.asked.append((execution.text, execution.parameters))
        if self.error is not None:
            raise self.error
        return Outcome(self.stream, self.rowcount, REPORT)

    def run_many(self, execution: Execution, rows: Sequence[Parameters]) -> Outcome:
        self.asked.append((execution.text, list(rows)))
        return Outcome(None, len(rows), REPORT)

    def using(self, sketch: SketchMode) -> FakePipeline:
        self.modes.append(sketch)
        return self

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return TableDefinition("{}", (), {"name": ".".join(name)}, None, None)

    def interrupt(self, execution: Execution) -> None:
        self.interrupted.append(execution.tag)

    def end_transaction(self) -> None:
        self.asked.append(("COMMIT", None))

    def close(self) -> None:
        self.closed = True


def numbers(count: int, sizes: Sequence[int]) -> FakeStream:
    """Return the numbers 0..count-1 in one column, in batches of these sizes (the rest in a last one)."""
    schema = pa.schema([("n", pa.int64())])
    batches, start = [], 0
    for size in [*sizes, count]:
        end = min(count, start + size)
        batches.append(pa.RecordBatch.from_arrays([pa.array(range(start, end), pa.int64())], schema=schema))
        start = end
    return FakeStream(schema, batches)
