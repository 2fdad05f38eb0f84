"""What happens to the first answer when the second one, which it is compared with, cannot be had."""

from __future__ import annotations

import logging

import pyarrow as pa
import pytest

from imp_driver.errors import CANCELLED, OperationalError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import ResultColumn, ResultStream
from imp_driver.reasons import Reason
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Policy, SketchMode
from imp_driver.values.options import Options
from tests.soundness.engine import DuckSession, Warehouse
from tests.unit.observe.watched import rows_of

SUMS = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 10"


class _Noted:
    """A stream that says whether it was closed."""

    def __init__(self, stream: ResultStream) -> None:
        self._stream = stream
        self.columns: tuple[ResultColumn, ...] = stream.columns
        self.schema: pa.Schema = stream.schema
        self.is_closed = False

    def next_batch(self) -> pa.RecordBatch | None:
        return self._stream.next_batch()

    def close(self) -> None:
        self.is_closed = True
        self._stream.close()


class _Failing(DuckSession):
    """A session whose second statement fails."""

    def __init__(self, warehouse: Warehouse) -> None:
        super().__init__(warehouse)
        self.streams: list[_Noted] = []
        self.is_interrupted = False
        self.path: Middleware | None = None

    def execute(self, execution: Execution) -> ResultStream:
        if len(self.streams) == 1:
            if self.is_interrupted and self.path is not None:
                self.path.interrupt(execution)
            raise OperationalError("a worker was lost", error_class=CANCELLED if self.is_interrupted else None)
        self.streams.append(_Noted(super().execute(execution)))
        return self.streams[-1]


def _asked(options: Options) -> tuple[_Failing, Middleware]:
    warehouse = Warehouse()
    warehouse.commit("r", [(number, number % 10, number % 3, number % 5) for number in range(60)])
    session = _Failing(warehouse)
    session.path = Middleware(session, warehouse, Sketches(Relations(warehouse, 1 << 30)), options)
    return session, session.path


def test_an_answer_that_cannot_be_checked_is_given(caplog: pytest.LogCaptureFixture) -> None:
    session, path = _asked(Options(answers=False, policy=Policy.INCREMENTAL, sketch_guard=1.0))
    with caplog.at_level(logging.WARNING, "imp_driver"):
        outcome = path.run(Execution(SUMS))
    assert outcome.report.reason is Reason.FILTERED
    assert rows_of(outcome.stream) == len(session.warehouse.query(SUMS))
    assert session.streams[0].is_closed
    assert "could not be checked" in caplog.text


def test_who_cancels_the_check_cancels_the_query() -> None:
    session, path = _asked(Options(answers=False, policy=Policy.INCREMENTAL, sketch_guard=1.0))
    session.is_interrupted = True
    with pytest.raises(OperationalError) as caught:
        path.run(Execution(SUMS))
    assert caught.value.error_class == CANCELLED
    assert session.streams[0].is_closed


def test_in_shadow_mode_an_answer_without_its_comparison_is_an_error_and_closed() -> None:
    session, path = _asked(Options(answers=False, sketch=SketchMode.SHADOW))
    with pytest.raises(OperationalError, match="a worker was lost"):
        path.run(Execution(SUMS))
    assert session.streams[0].is_closed
