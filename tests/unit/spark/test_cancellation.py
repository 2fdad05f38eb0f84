"""Statements stay tagged, and cancelled again and again, until their outermost end."""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass, field

import pytest

from imp_driver.spark import cancellation
from imp_driver.spark.cancellation import Cancellation, log_no_interrupts


@dataclass(slots=True)
class FakeJobs:
    """Notes what it is asked; its engine is up."""

    has_ended: bool = False
    calls: list[str] = field(default_factory=list)

    def add(self, tag: str) -> None:
        self.calls.append(f"add {tag}")

    def remove(self, tag: str) -> None:
        self.calls.append(f"remove {tag}")

    def cancel(self, tag: str) -> None:
        self.calls.append(f"cancel {tag}")


def test_a_statement_that_enters_twice_stays_tagged_to_its_outermost_end() -> None:
    jobs = FakeJobs()
    cancellation = Cancellation(jobs)
    with cancellation.running("a"):
        with cancellation.running("a"):
            pass
        assert jobs.calls == ["add a"]
    assert jobs.calls == ["add a", "remove a"]


def test_cancelling_goes_on_after_an_inner_end_and_stops_at_the_outermost() -> None:
    jobs = FakeJobs()
    cancellation = Cancellation(jobs)
    with cancellation.running("a"):
        with cancellation.running("a"):
            cancellation.cancel("a")
        while jobs.calls.count("cancel a") < 3:
            time.sleep(0.01)
    for thread in threading.enumerate():
        if thread.name == "cancel a":
            thread.join()
    assert jobs.calls[-1] in ("remove a", "cancel a")
    assert not any(thread.name == "cancel a" for thread in threading.enumerate())


def test_threads_are_tagged_each_on_its_own() -> None:
    jobs = FakeJobs()
    cancellation = Cancellation(jobs)

    def other() -> None:
        with cancellation.running("a"):
            pass

    with cancellation.running("a"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert jobs.calls == ["add a", "add a", "remove a", "remove a"]


def test_an_interruption_leaves_no_stack_trace_of_the_gateway_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    log_no_interrupts()
    log_no_interrupts()
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        logging.exception("KeyboardInterrupt while sending command.")
        logging.getLogger("py4j.clientserver").exception("Exception occurred while shutting down connection")
        logging.error("something else")
    # What other threads were just doing fails too, and goes on as an error of theirs.
    logging.error("Exception while sending command.")
    assert [record.getMessage() for record in caplog.records] == ["something else"]


def test_what_the_gateway_says_otherwise_stays_in_the_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    log_no_interrupts()
    monkeypatch.setattr(cancellation, "_AFTERMATH", -math.inf)
    logging.error("Exception while sending command.")
    logging.getLogger("py4j.clientserver").error("Exception occurred while shutting down connection")
    assert len(caplog.records) == 2
