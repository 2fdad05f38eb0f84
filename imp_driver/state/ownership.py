"""The lock of a maintained relation: whoever holds it may read and change the relation; who waits for it can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from imp_driver.cancel import CancellationToken


class Ownership:
    """One thread at a time, which may enter again. A wait ends with Ctrl-C and with the cancellation of the run that waits."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._owner: int | None = None
        self._depth = 0

    @contextmanager
    def held(self, token: CancellationToken | None = None) -> Iterator[None]:
        """Hold the lock. Raises OperationalError when the run of ``token`` is cancelled while it waits."""
        is_held = False
        try:
            with self._condition:
                (token or CancellationToken()).wait_for(self._condition, self._is_mine_or_free)
                self._enter()
                is_held = True
            yield
        finally:
            if is_held:
                self._leave()

    @contextmanager
    def held_if_free(self) -> Iterator[bool]:
        """Hold the lock if that takes no wait; say whether it is held."""
        with self._condition:
            is_held = self._is_mine_or_free()
            if is_held:
                self._enter()
        try:
            yield is_held
        finally:
            if is_held:
                self._leave()

    def _is_mine_or_free(self) -> bool:
        return self._owner in (None, threading.get_ident())

    def _enter(self) -> None:
        self._owner = threading.get_ident()
        self._depth += 1

    def _leave(self) -> None:
        with self._condition:
            self._depth -= 1
            if self._depth == 0:
                self._owner = None
                # All: the one that is woken may just have been cancelled.
                self._condition.notify_all()
