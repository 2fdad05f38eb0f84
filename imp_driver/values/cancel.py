"""A request to cancel, as those see it who wait on behalf of a statement."""

from __future__ import annotations

import threading
from collections.abc import Callable

from imp_driver.errors import cancelled


class CancellationToken:
    """Says whether a run was cancelled, and wakes whoever waits for its sake; ``query_id`` is that of the run. Safe in several threads."""

    def __init__(self, query_id: str | None = None) -> None:
        self.query_id = query_id
        self._is_cancelled = False
        self._waited_for: list[threading.Condition] = []
        self._lock = threading.Lock()

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def cancel(self) -> None:
        with self._lock:
            self._is_cancelled = True
            waited_for = list(self._waited_for)
        # Not under the lock of the token: a waiter takes that while it holds its condition.
        for condition in waited_for:
            with condition:
                condition.notify_all()

    def wait_for(self, condition: threading.Condition, predicate: Callable[[], bool]) -> None:
        """Wait until the predicate holds; the caller holds the condition. Raises OperationalError when the run is cancelled."""
        with self._lock:
            self._waited_for.append(condition)
        try:
            condition.wait_for(lambda: self._is_cancelled or predicate())
        finally:
            with self._lock:
                self._waited_for.remove(condition)
        if self._is_cancelled:
            raise cancelled(self.query_id)
