"""One thread for one connection: an event loop waits for what runs there, and a cancelled wait ends it before it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

import imp_driver

ResultT = TypeVar("ResultT")

THREAD_NAME = "imp_driver worker"
"""How the names of the threads begin."""
_INTERVAL = 0.1
"""Seconds between two attempts to stop a call whose wait was cancelled."""


class Worker:
    """A thread that runs one call after the other. It begins with the first and ends with ``end``, or when nothing refers to it."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=THREAD_NAME)
        self._has_ended = False
        self._interrupts: list[Callable[[], object]] = []

    async def open(self, make: Callable[[], ResultT], close: Callable[[ResultT], object]) -> ResultT:
        """Return what ``make`` makes; where the wait is cancelled, the thread closes it as soon as it is made, and ends."""
        made: list[ResultT] = []
        try:
            await asyncio.wrap_future(self._executor.submit(lambda: made.append(make())))
        except BaseException:
            self.end(lambda: [close(each) for each in made])
            raise
        return made[0]

    async def run(self, call: Callable[[], ResultT], interrupt: Callable[[], object] | None = None) -> ResultT:
        """Run a call and return its result.

        Where the wait is cancelled, a call that has not begun does not begin, and one that has is waited for, so that the thread is free
        when CancelledError leaves here. Until then ``interrupt`` is called again and again, from another thread; it may come too early.

        Raises:
            InterfaceError: the thread has ended.
        """
        if self._has_ended:
            raise imp_driver.InterfaceError("The connection is closed.")
        job = self._executor.submit(call)
        waiter = asyncio.wrap_future(job)
        if interrupt is not None:
            self._interrupts.append(interrupt)
        try:
            await asyncio.wait((waiter,))
        except asyncio.CancelledError:
            if not job.cancel():
                await _ended(waiter, interrupt)
            raise
        finally:
            if interrupt is not None:
                self._interrupts.remove(interrupt)
        return waiter.result()

    def stop(self) -> None:
        """Interrupt the calls that other tasks wait for, from another thread; nothing waits for that."""
        for interrupt in self._interrupts:
            helper = ThreadPoolExecutor(1, thread_name_prefix=f"{THREAD_NAME} cancel")
            helper.submit(interrupt)
            helper.shutdown(wait=False)

    def end(self, last: Callable[[], object] | None = None) -> None:
        """End the thread after the calls that it was given and a last one, whose errors nobody hears of; nothing waits for that."""
        if not self._has_ended:
            self._has_ended = True
            if last is not None:
                self._executor.submit(last)
            self._executor.shutdown(wait=False)


async def _ended(waiter: asyncio.Future[Any], interrupt: Callable[[], object] | None) -> None:
    """Wait until a call has ended, however often the waiting task is cancelled meanwhile: it raises the first of these afterwards."""
    helper = ThreadPoolExecutor(1, thread_name_prefix=f"{THREAD_NAME} cancel")
    while not waiter.done():
        if interrupt is not None:
            helper.submit(interrupt)
        with suppress(asyncio.CancelledError):
            await asyncio.wait((waiter,), timeout=_INTERVAL)
    helper.shutdown(wait=False)
    # An exception that nobody asks for would be logged.
    waiter.exception()
