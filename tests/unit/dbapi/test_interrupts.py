"""Ctrl-C cancels a statement, and is raised when the engine has let go of it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from imp_driver.dbapi.connection import Connection
from imp_driver.dbapi.interrupts import interruptible
from imp_driver.errors import OperationalError, cancelled
from imp_driver.ports import Outcome
from imp_driver.values.execution import Execution
from tests.unit.dbapi.fakes import REPORT, FakePipeline


@pytest.fixture(autouse=True)
def default_handler() -> Iterator[None]:
    """A process that a shell has put in the background ignores the key."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def _press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class _Busy(FakePipeline):
    """Runs until it is interrupted; ``is_deaf`` goes on to the end of its work all the same."""

    def __init__(self, *, is_deaf: bool = False) -> None:
        super().__init__()
        self._is_deaf = is_deaf
        self._stop = threading.Event()
        self.interrupting: list[threading.Thread] = []

    def run(self, execution: Execution) -> Outcome:
        _press()
        assert self._stop.wait(30)
        if self._is_deaf:
            return Outcome(None, -1, REPORT)
        raise cancelled(execution.tag)

    def interrupt(self, execution: Execution) -> None:
        self.interrupting.append(threading.current_thread())
        self._stop.set()


@pytest.mark.parametrize("is_deaf", [False, True])
def test_the_statement_is_cancelled_from_another_thread_and_the_key_raised_at_its_end(is_deaf: bool) -> None:
    pipeline = _Busy(is_deaf=is_deaf)
    with Connection(pipeline) as connection:
        with pytest.raises(KeyboardInterrupt):
            connection.execute("select long")
        assert threading.main_thread() not in pipeline.interrupting[:1]


def test_the_second_time_it_is_raised_at_once() -> None:
    asked, went_on = threading.Event(), []

    def work() -> None:
        with interruptible(asked.set):
            _press()
            assert asked.wait(30)
            _press()
            went_on.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert went_on == []


def test_an_engine_that_cannot_be_told_does_not_keep_the_key(caplog: pytest.LogCaptureFixture) -> None:
    told = threading.Event()

    def refuse() -> None:
        told.set()
        raise OperationalError("secret", error_class="GONE")

    def work() -> None:
        with interruptible(refuse):
            _press()
            assert told.wait(30)

    with pytest.raises(KeyboardInterrupt):
        work()
    for thread in threading.enumerate():
        if thread.name == "imp-interrupt":
            thread.join(30)
    assert "OperationalError GONE" in caplog.text
    assert "secret" not in caplog.text


def test_errors_and_rows_without_the_key_are_as_they_were() -> None:
    with pytest.raises(OperationalError), interruptible(lambda: None):
        raise OperationalError("as it was")
    with interruptible(lambda: None):
        pass


def test_an_application_s_own_handler_stays() -> None:
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        with interruptible(lambda: pytest.fail("it is the application's")):
            _press()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert pressed == [signal.SIGINT]


def test_in_other_threads_nothing_is_done() -> None:
    done: list[bool] = []

    def work() -> None:
        with interruptible(lambda: None):
            done.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert done == [True]
