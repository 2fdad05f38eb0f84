"""Ctrl-C while a statement runs: it is cancelled, and KeyboardInterrupt is raised when the engine has let go of it.

Raised in the middle of a call, the interruption would have py4j shut the connections of other threads down too, under calls that then never
end, and leave the thread in the JVM where it is.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from imp_driver.errors import Error
from imp_driver.values.failures import described

_LOG = logging.getLogger("imp_driver")


class _Interrupt:
    """The handler of one statement: the first time it cancels, from a thread of its own, the second time it raises at once."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self.was_pressed = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.was_pressed:
            raise KeyboardInterrupt
        self.was_pressed = True
        # The main thread may be within a call, and hold what cancelling needs.
        threading.Thread(target=self._run, name="imp-interrupt", daemon=True).start()

    def _run(self) -> None:
        try:
            self._cancel()
        except Error as error:
            _LOG.warning("A statement could not be cancelled: %s", described(error))


@contextmanager
def interruptible(cancel: Callable[[], None]) -> Iterator[None]:
    """Have Ctrl-C call ``cancel`` and end what is inside with KeyboardInterrupt, where it would raise that anyway.

    Threads other than the main one are not interrupted, and an application's own handler stays.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    interrupt = _Interrupt(cancel)
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except Error:
        if interrupt.was_pressed:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupt.was_pressed:
        raise KeyboardInterrupt
