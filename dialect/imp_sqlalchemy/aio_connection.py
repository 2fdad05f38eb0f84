"""A connection of the driver that is awaited: every call that may take time runs in the connection's own thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import imp_driver
from imp_sqlalchemy.worker import Worker

ResultT = TypeVar("ResultT")

_LOG = logging.getLogger("imp_driver")


class AwaitedCursor:
    """A cursor of which one call at a time is awaited. A call whose wait is cancelled is cancelled in Spark.

    Attributes:
        driver_cursor: the cursor of the driver.
    """

    __slots__ = ("_cancelled", "_worker", "driver_cursor")

    def __init__(self, worker: Worker, driver_cursor: imp_driver.Cursor) -> None:
        self._worker = worker
        self.driver_cursor = driver_cursor
        self._cancelled: str | None = None

    async def __aenter__(self) -> AwaitedCursor:
        return self

    @property
    def description(self) -> Any:
        return self.driver_cursor.description

    @property
    def rowcount(self) -> int:
        return self.driver_cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        return self.driver_cursor.lastrowid

    @property
    def arraysize(self) -> int:
        return self.driver_cursor.arraysize

    @arraysize.setter
    def arraysize(self, value: int) -> None:
        self.driver_cursor.arraysize = value

    async def execute(self, operation: str, parameters: Any = None) -> None:
        await self._run(lambda: self.driver_cursor.execute(operation, parameters))

    async def executemany(self, operation: str, parameters: Sequence[Any]) -> None:
        await self._run(lambda: self.driver_cursor.executemany(operation, parameters))

    async def fetchone(self) -> tuple[Any, ...] | None:
        return await self._run(self.driver_cursor.fetchone)

    async def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        return await self._run(lambda: self.driver_cursor.fetchmany(size))

    async def fetchall(self) -> list[tuple[Any, ...]]:
        return await self._run(self.driver_cursor.fetchall)

    def __aiter__(self) -> AwaitedCursor:
        return self

    async def __anext__(self) -> tuple[Any, ...]:
        row = await self.fetchone()
        if row is None:
            raise StopAsyncIteration
        return row

    async def close(self) -> None:
        """Free the result; harmless when the connection is closed."""
        if not self.driver_cursor.connection.closed:
            await self._worker.run(self.driver_cursor.close)

    async def _run(self, call: Callable[[], ResultT]) -> ResultT:
        return await self._worker.run(call, self._cancel)

    def _cancel(self) -> None:
        """Cancel the run that goes on, once. A call that has only just begun still has the identifier of the run before, or none."""
        run = self.driver_cursor.query_id
        if run is None or run == self._cancelled:
            return
        self._cancelled = run
        try:
            self.driver_cursor.cancel()
        except imp_driver.Error as error:
            _LOG.warning("A statement could not be cancelled; its end is waited for: %s", error)


class AwaitedConnection:
    """A connection and its thread.

    Attributes:
        driver_connection: the connection of the driver, which is not for the event loop's thread.
    """

    def __init__(self, worker: Worker, driver_connection: imp_driver.Connection) -> None:
        self._worker = worker
        self.driver_connection = driver_connection

    @classmethod
    async def open(cls, connect: Callable[[], imp_driver.Connection]) -> AwaitedConnection:
        """Open a connection; one that is still being opened when the wait is cancelled is closed then."""
        worker = Worker()
        return cls(worker, await worker.open(connect, lambda made: made.close()))

    def cursor(self) -> AwaitedCursor:
        return AwaitedCursor(self._worker, self.driver_connection.cursor())

    async def definition(self, table: str, schema: str | None = None) -> imp_driver.TableDefinition | None:
        return await self._worker.run(lambda: self.driver_connection.definition(table, schema))

    async def commit(self) -> None:
        await self._worker.run(self.driver_connection.commit)

    async def rollback(self) -> None:
        """Raise NotSupportedError, as the driver does."""
        await self._worker.run(self.driver_connection.rollback)

    async def close(self) -> None:
        """Cancel what other tasks still run, close the connection, then end its thread; harmless when called twice."""
        if self.driver_connection.closed:
            return
        self._worker.stop()
        try:
            await self._worker.run(self.driver_connection.close)
        finally:
            self._worker.end()

    def abandon(self) -> None:
        """Close without waiting, from any thread: after what runs."""
        self._worker.end(self.driver_connection.close)
