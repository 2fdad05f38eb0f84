"""Two connections ask one query while its state is being captured: the one that waits can be cancelled."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from imp_driver.errors import CANCELLED, OperationalError, cancelled
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.reasons import Decision, Reason
from imp_driver.state.maintained import Maintained
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.refusal import Refused
from tests.soundness.engine import DuckSession, Warehouse

SUMS = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 3"
PATIENT = 30.0


class _Slow(DuckSession):
    """A session whose captures wait for the event ``go``."""

    def __init__(self, warehouse: Warehouse) -> None:
        super().__init__(warehouse)
        self.began, self.go = threading.Event(), threading.Event()

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        self.began.set()
        assert self.go.wait(PATIENT)
        if execution.token.is_cancelled:
            raise cancelled(execution.tag)
        return super().read(text, execution, most_bytes)


class _Asking(threading.Thread):
    """Asks a query."""

    def __init__(self, middleware: Middleware) -> None:
        super().__init__()
        self.asked = Execution(SUMS)
        self.decision: Decision | None = None
        self.error: OperationalError | None = None
        self._middleware = middleware
        self.start()

    def run(self) -> None:
        try:
            outcome = self._middleware.run(self.asked)
        except OperationalError as error:
            self.error = error
            return
        self.decision = outcome.report.decision
        assert outcome.stream is not None
        outcome.stream.close()


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    found = Warehouse()
    found.commit("r", [(number, number % 10, number % 3, number % 5) for number in range(60)])
    yield found
    found.connection.close()


def test_who_waits_for_the_capture_of_another_can_be_cancelled(warehouse: Warehouse) -> None:
    sketches, session = Sketches(Relations(warehouse, 1 << 30)), _Slow(warehouse)
    first = Middleware(session, warehouse, sketches, Options(answers=False))
    second = Middleware(DuckSession(warehouse), warehouse, sketches, Options(answers=False))
    capturing = _Asking(first)
    assert session.began.wait(PATIENT)
    [relation] = sketches.relations.registry.relations()
    waiting = _Asking(second)
    condition = relation.ownership._condition
    while not condition._waiters:  # type: ignore[attr-defined]
        waiting.join(0.01)
        assert waiting.is_alive()
    second.interrupt(waiting.asked)
    waiting.join(PATIENT)
    assert waiting.error is not None
    assert (waiting.error.error_class, waiting.error.query_id) == (CANCELLED, waiting.asked.tag)
    session.go.set()
    capturing.join(PATIENT)
    assert capturing.decision is Decision.CAPTURED
    assert second.run(Execution(SUMS)).report.decision is Decision.FRESH


def test_who_waited_for_a_capture_that_failed_leaves_its_own_for_others(warehouse: Warehouse) -> None:
    sketches, session = Sketches(Relations(warehouse, 1 << 30)), _Slow(warehouse)
    first = Middleware(session, warehouse, sketches, Options(answers=False))
    second = Middleware(DuckSession(warehouse), warehouse, sketches, Options(answers=False))
    capturing = _Asking(first)
    assert session.began.wait(PATIENT)
    [relation] = sketches.relations.registry.relations()
    waiting = _Asking(second)
    while not relation.ownership._condition._waiters:  # type: ignore[attr-defined]
        waiting.join(0.01)
    first.interrupt(capturing.asked)
    session.go.set()
    for asking in (capturing, waiting):
        asking.join(PATIENT)
    assert capturing.error is not None
    assert waiting.decision is Decision.CAPTURED
    assert [each.is_ready for each in sketches.relations.registry.relations()] == [True]
    assert second.run(Execution(SUMS)).report.decision is Decision.FRESH


def test_no_refusal_that_is_remembered_keeps_what_it_was_found_with(warehouse: Warehouse) -> None:
    middleware = Middleware(DuckSession(warehouse), warehouse, Sketches(Relations(warehouse, 1 << 30)), Options(answers=False))
    texts = {
        "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > rand()": Reason.NON_DETERMINISTIC,
        "SELECT x, count(*) AS f FROM r GROUP BY x HAVING count(*) < 3": Reason.NOT_CLUSTERED,
        "SELECT g + 1 AS g, max(a) AS f FROM r GROUP BY g + 1 HAVING max(a) < 3": Reason.NO_PLAIN_GROUP_KEY,
    }
    for text, reason in texts.items():
        for _ in range(2):
            outcome = middleware.run(Execution(text))
            assert outcome.report.reason is reason
            assert outcome.stream is not None
            outcome.stream.close()
    gc.collect()
    assert [refused for refused in gc.get_objects() if isinstance(refused, Refused)] == []


def test_what_another_connection_is_changing_can_be_shown(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    middleware = Middleware(DuckSession(warehouse), warehouse, Sketches(Relations(warehouse, 1 << 30)), Options(answers=False))
    middleware.run(Execution(SUMS))

    def changing(_: Maintained) -> int:
        raise RuntimeError("dictionary changed size during iteration")

    monkeypatch.setattr(Maintained, "memory", property(changing))
    stream = middleware.run(Execution("SHOW SKETCHES")).stream
    assert stream is not None
    batch = stream.next_batch()
    assert batch is not None
    [row] = batch.to_pylist()
    assert row["bytes"] > 0
    assert row["groups"] == 10
