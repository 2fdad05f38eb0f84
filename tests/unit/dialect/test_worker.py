"""The thread of a connection: what a cancelled wait does to the call that it waited for."""

from __future__ import annotations

import asyncio
import threading

import pytest

import imp_driver
from imp_sqlalchemy.worker import Worker
from tests.unit.dialect.fakes import PATIENCE


async def reached(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, PATIENCE)


def test_an_interruption_may_come_too_early_and_a_wait_be_cancelled_twice() -> None:
    began, released = threading.Event(), threading.Event()
    steps: list[str] = []

    def call() -> None:
        began.set()
        assert released.wait(PATIENCE)
        steps.append("ended")

    def interrupt() -> None:
        steps.append("interrupted")
        if len(steps) == 3:
            released.set()

    async def main() -> None:
        worker = Worker()
        task = asyncio.create_task(worker.run(call, interrupt))
        await reached(began)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert steps[:4] == ["interrupted"] * 3 + ["ended"]
        assert await worker.run(lambda: "free") == "free"
        worker.end()

    asyncio.run(main())


def test_a_call_that_has_not_begun_does_not_begin() -> None:
    began, released = threading.Event(), threading.Event()
    calls: list[str] = []

    def first() -> None:
        began.set()
        assert released.wait(PATIENCE)
        calls.append("first")

    async def main() -> None:
        worker = Worker()
        busy = asyncio.create_task(worker.run(first))
        queued = asyncio.create_task(worker.run(lambda: calls.append("second")))
        await reached(began)
        queued.cancel()
        with pytest.raises(asyncio.CancelledError):
            await queued
        released.set()
        await busy
        await worker.run(lambda: calls.append("third"))
        worker.end()

    asyncio.run(main())
    assert calls == ["first", "third"]


def test_the_end_comes_after_what_was_begun() -> None:
    calls: list[str] = []

    async def main() -> None:
        worker = Worker()
        thread = await worker.run(threading.current_thread)
        worker.end(lambda: calls.append("last"))
        worker.end(lambda: calls.append("once"))
        with pytest.raises(imp_driver.InterfaceError, match="closed"):
            await worker.run(lambda: calls.append("late"))
        await asyncio.to_thread(thread.join, PATIENCE)
        assert not thread.is_alive()

    asyncio.run(main())
    assert calls == ["last"]
