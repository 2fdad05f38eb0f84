"""The life of a background thread of a warehouse: from the first connection to the last."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable


class Life:
    """One thread. ``condition`` is what its body waits on; ``finished`` is told at the end whether it ended within ``patience`` seconds."""

    def __init__(
        self,
        name: str,
        body: Callable[[Life], None],
        condition: threading.Condition,
        patience: float,
        finished: Callable[[bool], None],
    ) -> None:
        self._condition = condition
        self._patience = patience
        self._finished = finished
        self._is_over = False
        self._thread = threading.Thread(target=body, args=(self,), name=name, daemon=True)
        self._thread.start()
        # A daemon thread inside a library while the interpreter ends could crash it.
        atexit.register(self.stop)

    @property
    def is_over(self) -> bool:
        """Whether the body is to return."""
        return self._is_over

    def stop(self) -> None:
        """Let the body return, and wait for that."""
        with self._condition:
            self._is_over = True
            self._condition.notify_all()
        atexit.unregister(self.stop)
        self._thread.join(self._patience)
        self._finished(not self._thread.is_alive())


class Worker:
    """Has one life while connections are open. Safe to use from several threads."""

    def __init__(self) -> None:
        self._connections = 0
        self._life: Life | None = None
        self._lock = threading.Lock()

    @property
    def is_running(self) -> bool:
        return self._life is not None

    @property
    def is_last(self) -> bool:
        """Whether the next connection that is counted off is the last."""
        return self._connections == 1

    def open(self, begin: Callable[[], Life]) -> None:
        """Count a connection; the first begins a life."""
        with self._lock:
            self._connections += 1
            if self._life is None:
                self._life = begin()

    def close(self) -> None:
        """Count a connection off; the last ends the life and waits for that."""
        # One critical section: a connection that opens in between would count on a life that is ending.
        with self._lock:
            self._connections -= 1
            life = self._life if self._connections == 0 else None
            if life is not None:
                self._life = None
        if life is not None:
            life.stop()
