"""A writer that commits at a steady pace while others read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import TracebackType

from imp_driver.cli.workload import Update
from imp_driver.dbapi.connection import Connection


class Writer:
    """Runs an update every so many seconds, on a connection of its own, as long as it is entered. ``commits`` counts those that have ended.

    Raises what an update raises when it is left.
    """

    def __init__(self, connection: Connection, updates: Iterator[Update], seconds: float) -> None:
        self._connection = connection
        self._updates = updates
        self._seconds = seconds
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="imp-demo-writer", daemon=True)
        self._failure: BaseException | None = None
        self.commits = 0

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._is_over.set()
        self._thread.join()
        if error is None and self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._is_over.wait(self._seconds):
                self._connection.execute(next(self._updates).text).close()
                self.commits += 1
        except BaseException as failure:
            self._failure = failure
