"""Cancelling statements: Spark cancels the jobs that are active, and a statement that is being planned has none yet."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from imp_driver.errors import OperationalError
from imp_driver.spark.errors import mapped

_INTERVAL, _PATIENCE = 0.25, 120.0
"""Seconds between two attempts, and until a statement that the application has abandoned is given up."""
_ATTEMPTS = 5


_AFTERMATH = 10.0
"""Seconds in which calls may fail after Ctrl-C, since the gateway gives threads other connections."""


class _WithoutInterrupts(logging.Filter):
    """Leaves out what py4j logs for Ctrl-C, with stack traces; the interruption, and what it breaks, go on as exceptions."""

    def __init__(self) -> None:
        super().__init__()
        self._last = -math.inf

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg == "KeyboardInterrupt while sending command.":
            self._last = record.created
            return False
        if record.msg == "Exception occurred while shutting down connection":
            return record.created > self._last + _AFTERMATH and not _is_interrupt(record)
        return record.msg != "Exception while sending command." or record.created > self._last + _AFTERMATH


def _is_interrupt(record: logging.LogRecord) -> bool:
    """Say whether the exception of a record came of Ctrl-C."""
    found = record.exc_info[1] if record.exc_info else None
    while found is not None and not isinstance(found, KeyboardInterrupt):
        found = found.__cause__ or found.__context__
    return found is not None


_WITHOUT_INTERRUPTS = _WithoutInterrupts()
_LOGGERS = (None, "py4j.clientserver")
"""Those that py4j writes to: the root and its own."""


def log_no_interrupts() -> None:
    """Keep interruptions by the user out of the application's log."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_WITHOUT_INTERRUPTS)


@contextmanager
def undone(undo: Callable[[], None]) -> Iterator[None]:
    """Call ``undo`` at the end, unless the interrupt key ends it.

    The gateway then gives this thread another one in the JVM: what the old one had set is out of reach, and must stay, since Spark goes
    on with what it was doing.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException:
        undo()
        raise
    else:
        undo()


class TaggedJobs(Protocol):
    """Where the engine notes under which tag a thread runs, and cancels what runs under one."""

    def add(self, tag: str) -> None:
        """Tag what this thread starts from now on."""

    def remove(self, tag: str) -> None: ...

    def cancel(self, tag: str) -> None:
        """Cancel what runs under a tag at this moment."""

    @property
    def has_ended(self) -> bool:
        """True when the engine is gone, and nothing can run any more."""


class ContextJobs:
    """The tagged jobs of a SparkContext."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def add(self, tag: str) -> None:
        self._context.addJobTag(tag)

    def remove(self, tag: str) -> None:
        self._context.removeJobTag(tag)

    def cancel(self, tag: str) -> None:
        self._context.cancelJobsWithTag(tag)

    @property
    def has_ended(self) -> bool:
        return self._context._jsc is None


class Cancellation:
    """Which statements of a session run, so that those that are cancelled can be stopped."""

    def __init__(self, jobs: TaggedJobs) -> None:
        self._jobs = jobs
        self._depths: Counter[tuple[str, int]] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def running(self, tag: str) -> Iterator[None]:
        """Tag the jobs that this thread starts inside; a statement that enters again stays tagged until its outermost end."""
        inside = (tag, threading.get_ident())
        with self._lock:
            self._depths[inside] += 1
            is_outermost = self._depths[inside] == 1
        with undone(lambda: self._finish(inside)):
            if is_outermost:
                with mapped(tag):
                    self._jobs.add(tag)
            yield

    def _finish(self, inside: tuple[str, int]) -> None:
        with self._lock:
            self._depths[inside] -= 1
            if self._depths[inside] > 0:
                return
            del self._depths[inside]
        with mapped(inside[0]):
            self._jobs.remove(inside[0])

    def _is_running(self, tag: str) -> bool:
        with self._lock:
            return any(running == tag for running, _ in self._depths)

    def _forget(self, tag: str) -> None:
        with self._lock:
            for inside in [each for each in self._depths if each[0] == tag]:
                del self._depths[inside]

    def cancel(self, tag: str) -> None:
        """Cancel a statement, and go on until no job of it can follow."""
        for attempt in range(_ATTEMPTS):
            try:
                with mapped(tag):
                    self._jobs.cancel(tag)
                break
            except OperationalError:
                # Just after Ctrl-C the gateway may refuse a thread's first call.
                if attempt + 1 == _ATTEMPTS:
                    raise
                time.sleep(_INTERVAL)
        threading.Thread(target=self._keep_cancelling, args=(tag,), daemon=True, name=f"cancel {tag}").start()

    def _keep_cancelling(self, tag: str) -> None:
        pause = threading.Event()
        for _ in range(int(_PATIENCE / _INTERVAL)):
            pause.wait(_INTERVAL)
            if not self._is_running(tag) or self._jobs.has_ended:
                return
            try:
                self._jobs.cancel(tag)
            except Exception:
                # The engine is being shut down; its jobs end with it.
                return
        self._forget(tag)
