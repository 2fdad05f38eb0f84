"""The lock of a maintained relation: whoever holds it may read and change the relation; who waits for it can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from imp_driver.values.cancel import CancellationToken


class Ownership:
    """One thread at a time, which may enter again. A wait ends with Ctrl-C and with the cancellation of the run that waits."""

    def __init__(self) -> None:
        # ``with`` on the lock itself: Ctrl-C between a condition's taking its lock and saying so would leave it taken for good.
        self._mutex = threading.Lock()
        self._condition = threading.Condition(self._mutex)
        self._owner: int | None = None
        self._depth = 0

    @contextmanager
    def held(self, token: CancellationToken | None = None) -> Iterator[None]:
        """Hold the lock. Raises OperationalError when the run of ``token`` is cancelled while it waits."""
        before = self._own_depth()
        try:
            with self._mutex:
                (token or CancellationToken()).wait_for(self._condition, self._is_mine_or_free)
                self._enter()
            yield
        finally:
            # Once more where the interrupt key is pressed just here: a lock that is held for ever helps nobody.
            try:
                self._leave(before)
            except KeyboardInterrupt:
                self._leave(before)
                raise

    @contextmanager
    def held_if_free(self) -> Iterator[bool]:
        """Hold the lock if that takes no wait; say whether it is held."""
        before = self._own_depth()
        try:
            with self._mutex:
                is_held = self._is_mine_or_free()
                if is_held:
                    self._enter()
            yield is_held
        finally:
            try:
                self._leave(before)
            except KeyboardInterrupt:
                self._leave(before)
                raise

    def _own_depth(self) -> int:
        return self._depth if self._owner == threading.get_ident() else 0

    def _is_mine_or_free(self) -> bool:
        return self._owner in (None, threading.get_ident())

    def _enter(self) -> None:
        self._owner = threading.get_ident()
        self._depth += 1

    def _leave(self, before: int) -> None:
        """Go back to the depth before; nothing is left to do the second time."""
        with self._mutex:
            if self._own_depth() > before:
                self._depth = before
                if before == 0:
                    self._owner = None
            # All: the one that is woken may just have been cancelled.
            self._condition.notify_all()
