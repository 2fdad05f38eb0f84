"""The dialect for asyncio (``imp+aio://``): SQLAlchemy's adapters over connections that are awaited."""

from __future__ import annotations

import asyncio
from typing import Any

from sqlalchemy import event
from sqlalchemy.connectors.asyncio import (
    AsyncAdapt_dbapi_connection,
    AsyncAdapt_dbapi_cursor,
    AsyncAdapt_dbapi_module,
    AsyncAdapt_dbapi_ss_cursor,
    AsyncAdapt_terminate,
)
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.util.concurrency import await_

import imp_driver
from imp_sqlalchemy.aio_connection import AwaitedConnection, AwaitedCursor
from imp_sqlalchemy.dialect import ImpDialect, ImpExecutionContext


class _Extensions:
    """What cursors of the driver have beyond PEP 249; none of it waits for anything."""

    __slots__ = ()
    _cursor: AwaitedCursor

    @property
    def connection(self) -> imp_driver.Connection:
        return self._cursor.driver_cursor.connection

    @property
    def sketch(self) -> str | None:
        return self._cursor.driver_cursor.sketch

    @sketch.setter
    def sketch(self, value: str | None) -> None:
        self._cursor.driver_cursor.sketch = value

    @property
    def sketch_report(self) -> Any:
        return self._cursor.driver_cursor.sketch_report

    @property
    def query_id(self) -> str | None:
        return self._cursor.driver_cursor.query_id


class ImpAsyncCursor(_Extensions, AsyncAdapt_dbapi_cursor):
    """A cursor whose rows are all there when ``execute`` returns."""

    __slots__ = ()
    _cursor: Any


class ImpAsyncStreamCursor(_Extensions, AsyncAdapt_dbapi_ss_cursor):
    """A cursor whose rows are fetched from the running query in portions."""

    __slots__ = ()
    _cursor: Any

    def fetchmany(self, size: int | None = None) -> Any:
        # SQLAlchemy asks for a first portion before it knows whether a statement has rows.
        return [] if self.description is None else super().fetchmany(size)

    def close(self) -> None:
        """Free the result, and keep the cursor, which still has the report."""
        await_(self._cursor.close())


class ImpAsyncConnection(AsyncAdapt_terminate, AsyncAdapt_dbapi_connection):
    """A connection as SQLAlchemy's engine sees it."""

    __slots__ = ()
    _connection: Any
    _cursor_cls = ImpAsyncCursor
    _ss_cursor_cls = ImpAsyncStreamCursor

    @property
    def dbapi_connection(self) -> imp_driver.Connection:
        """The driver's connection below."""
        connection: imp_driver.Connection = self._connection.driver_connection
        return connection

    def definition(self, table: str, schema: str | None = None) -> imp_driver.TableDefinition | None:
        found: imp_driver.TableDefinition | None = await_(self._connection.definition(table, schema))
        return found

    async def _terminate_graceful_close(self) -> None:
        await self._connection.close()

    def _terminate_force_close(self) -> None:
        self._connection.abandon()


class ImpAsyncModule(AsyncAdapt_dbapi_module):
    """The driver's module, with a ``connect`` that is awaited; everything else is the driver's own."""

    def connect(self, *arguments: Any, **options: Any) -> ImpAsyncConnection:
        if "async_creator_fn" in options:
            raise imp_driver.NotSupportedError("imp+aio:// has no async_creator; give a session of Spark as connect_args={'session': ..}.")
        opened: Any = await_(AwaitedConnection.open(lambda: self.driver.connect(*arguments, **options)))
        return ImpAsyncConnection(self, opened)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)


class ImpAsyncExecutionContext(ImpExecutionContext):
    """One statement, whose rows are streamed where the application asks for a stream."""

    def create_server_side_cursor(self) -> DBAPICursor:
        connection: Any = self._dbapi_connection
        cursor: DBAPICursor = connection.cursor(server_side=True)
        return cursor


class ImpAsyncDialect(ImpDialect):
    """Spark SQL over Delta tables for ``create_async_engine``: each connection works in a thread of its own."""

    driver = "aio"
    is_async = True
    has_terminate = True
    supports_statement_cache = True
    supports_server_side_cursors = True
    execution_ctx_cls = ImpAsyncExecutionContext

    @classmethod
    def import_dbapi(cls) -> Any:
        return ImpAsyncModule(imp_driver, dbapi_module=imp_driver)

    def get_driver_connection(self, connection: DBAPIConnection) -> Any:
        adapted: Any = connection
        return adapted.driver_connection

    def do_terminate(self, dbapi_connection: DBAPIConnection) -> None:
        adapted: Any = dbapi_connection
        adapted.terminate()


@event.listens_for(ImpAsyncDialect, "handle_error")
def _keep_the_connection(context: ExceptionContext) -> None:
    """Keep a connection on which a wait was cancelled, which SQLAlchemy would drop: its statement has ended by now."""
    if isinstance(context.original_exception, asyncio.CancelledError):
        context.is_disconnect = False
