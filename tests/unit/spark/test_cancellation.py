"""Statements stay tagged, and cancelled again and again, until their outermost end."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from imp_driver.spark.cancellation import Cancellation


@dataclass(slots=True)
class FakeContext:
    """Notes what it is asked; its engine is up."""

    _jsc: object = "up"
    calls: list[str] = field(default_factory=list)

    def addJobTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        self.calls.append(f"add {tag}")

    def removeJobTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        self.calls.append(f"remove {tag}")

    def cancelJobsWithTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        self.calls.append(f"cancel {tag}")


def test_a_statement_that_enters_twice_stays_tagged_to_its_outermost_end() -> None:
    context = FakeContext()
    cancellation = Cancellation(context)
    with cancellation.running("a"):
        with cancellation.running("a"):
            pass
        assert context.calls == ["add a"]
    assert context.calls == ["add a", "remove a"]


def test_cancelling_goes_on_after_an_inner_end_and_stops_at_the_outermost() -> None:
    context = FakeContext()
    cancellation = Cancellation(context)
    with cancellation.running("a"):
        with cancellation.running("a"):
            cancellation.cancel("a")
        while context.calls.count("cancel a") < 3:
            time.sleep(0.01)
    for thread in threading.enumerate():
        if thread.name == "cancel a":
            thread.join()
    assert cancellation.is_cancelled("a")
    assert context.calls[-1] in ("remove a", "cancel a")
    assert not any(thread.name == "cancel a" for thread in threading.enumerate())


def test_threads_are_tagged_each_on_its_own() -> None:
    context = FakeContext()
    cancellation = Cancellation(context)

    def other() -> None:
        with cancellation.running("a"):
            pass

    with cancellation.running("a"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert context.calls == ["add a", "add a", "remove a", "remove a"]
