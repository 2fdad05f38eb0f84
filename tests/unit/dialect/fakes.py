"""A driver without an engine: real connections and cursors over pipelines that wait, fail and answer as they are told."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

import imp_driver
from imp_driver.ports import Outcome, TableDefinition
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.option_kinds import SketchMode
from tests.unit.dbapi.fakes import REPORT, FakeStream, numbers

PATIENCE = 20.0
"""Seconds after which a test that would hang fails."""


def text_row(text: str) -> FakeStream:
    schema = pa.schema([("text", pa.string())])
    return FakeStream(schema, [pa.RecordBatch.from_arrays([pa.array([text])], schema=schema)])


class FakePipeline:
    """The ``slow`` statement runs until ``released`` is set or it is interrupted; ``error`` is raised by the next statement.

    ``threads`` are those that made the calls, ``given`` the values for what was ``asked``, ``modes`` the ways to use sketches that
    statements asked for.
    """

    def __init__(self, slow: str = "SELECT wait") -> None:
        self.slow = slow
        self.began, self.released = threading.Event(), threading.Event()
        self.error: Exception | None = None
        self.stream = numbers(5, [])
        self.asked: list[str] = []
        self.given: list[Any] = []
        self.generated: int | None = None
        self.ended: list[str] = []
        self.interrupted: list[str] = []
        self.modes: list[SketchMode] = []
        self.threads: set[threading.Thread] = set()
        self.closed = False

    def run(self, execution: Execution) -> Outcome:
        self.threads.add(threading.current_thread())
        self.asked.append(execution.text)
        self.given.append(execution.parameters)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        if execution.text == self.slow:
            self._wait(execution.tag)
        if execution.text.startswith("INSERT"):
            return Outcome(None, 1, REPORT, lambda: self.generated)
        known = {"VALUES (version())": text_row("4.2.0"), "VALUES (current_schema())": text_row("default")}
        return Outcome(known.get(execution.text, self.stream), -1, REPORT)

    def _wait(self, tag: str) -> None:
        self.began.set()
        assert self.released.wait(PATIENCE)
        self.released.clear()
        self.ended.append(tag)
        if tag in self.interrupted:
            raise imp_driver.OperationalError("The statement was cancelled.")

    def run_many(self, execution: Execution, rows: Sequence[Parameters]) -> Outcome:
        self.threads.add(threading.current_thread())
        self.asked.append(execution.text)
        self.given.append(rows)
        return Outcome(None, len(rows), REPORT)

    def using(self, sketch: SketchMode) -> FakePipeline:
        self.modes.append(sketch)
        return self

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        self.threads.add(threading.current_thread())
        return None

    def interrupt(self, execution: Execution) -> None:
        self.interrupted.append(execution.tag)
        self.released.set()

    def end_transaction(self) -> None:
        return None

    def close(self) -> None:
        self.threads.add(threading.current_thread())
        self.closed = True


class FakeDriver:
    """The driver's module, but for ``connect``, which waits while ``gate`` is not set."""

    def __init__(self, slow: str = "SELECT wait") -> None:
        self.slow = slow
        self.pipelines: list[FakePipeline] = []
        self.connecting, self.gate = threading.Event(), threading.Event()
        self.gate.set()

    def connect(self, **options: Any) -> imp_driver.Connection:
        self.connecting.set()
        assert self.gate.wait(PATIENCE)
        self.pipelines.append(FakePipeline(self.slow))
        return imp_driver.Connection(self.pipelines[-1])

    def __getattr__(self, name: str) -> Any:
        return getattr(imp_driver, name)


def ended(threads: set[threading.Thread]) -> bool:
    """Wait for threads that should end; say whether they have."""
    for thread in threads:
        thread.join(PATIENCE)
    return not any(thread.is_alive() for thread in threads)
