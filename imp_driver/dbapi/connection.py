"""Connection of PEP 249: opening, lifetime, and honesty about transactions."""

from __future__ import annotations

import warnings
import weakref
from types import TracebackType
from typing import Any, NoReturn

from imp_driver import errors
from imp_driver.dbapi.cursor import Cursor
from imp_driver.errors import InterfaceError, NotSupportedError, ProgrammingError
from imp_driver.ports import Pipeline, TableDefinition
from imp_driver.url import options_from_url
from imp_driver.values.options import Options


class Connection:
    """A session of Spark with its own temporary views, current schema and settings.

    Delta commits every statement by itself, so there is nothing to commit, and nothing that could be rolled back.
    """

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    _closed = True
    """True until a connection is complete, so that one that failed to open is not warned about."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._cursors: weakref.WeakSet[Cursor] = weakref.WeakSet()
        self.messages: list[Any] = []
        self._closed = False

    def cursor(self) -> Cursor:
        """Return a new cursor."""
        self.check_open()
        cursor = Cursor(self, self._pipeline)
        self._cursors.add(cursor)
        return cursor

    def execute(self, operation: str, parameters: Any = None) -> Cursor:
        """Run one statement on a new cursor and return it."""
        return self.cursor().execute(operation, parameters)

    def definition(self, table: str, schema: str | None = None) -> TableDefinition | None:
        """Return the columns, properties and partitions of a table or view.

        None for a name that stands for nothing, for temporary views and while another catalog than Spark's own is the current one.
        """
        self.check_open()
        if not all(isinstance(name, str) for name in (table, schema or "")):
            raise ProgrammingError(
                "definition needs the name of a table and, where it is another than the current one, of its schema, as text."
            )
        return self._pipeline.definition((table,) if schema is None else (schema, table))

    def commit(self) -> None:
        """End a transaction that BEGIN started, so that the newest versions are read; there is nothing else to commit."""
        self.check_open()
        self._pipeline.end_transaction()

    def rollback(self) -> NoReturn:
        """Raise NotSupportedError: what a statement changed is committed and stays."""
        self.check_open()
        self._pipeline.end_transaction()
        raise NotSupportedError(
            "Every statement is its own transaction and is committed already; RESTORE TABLE brings an earlier version back."
        )

    @property
    def autocommit(self) -> bool:
        """Always True; setting False raises NotSupportedError."""
        return True

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if not value:
            raise NotSupportedError("Delta commits every statement by itself; autocommit cannot be switched off.")

    def close(self) -> None:
        """Close the cursors, then the session; harmless when called twice."""
        if self._closed:
            return
        self._closed = True
        for cursor in list(self._cursors):
            cursor.close()
        self._pipeline.close()

    @property
    def closed(self) -> bool:
        return self._closed

    def check_open(self) -> None:
        """Raise InterfaceError on a closed connection."""
        if self._closed:
            raise InterfaceError("The connection is closed.")

    def __enter__(self) -> Connection:
        self.check_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if not self._closed:
            warnings.warn(
                "A connection was not closed; use it in a with statement or call close().", ResourceWarning, source=self, stacklevel=1
            )


def connect(
    url: str | None = None,
    /,
    *,
    warehouse: str | None = None,
    server: str | None = None,
    session: object | None = None,
    **options: Any,
) -> Connection:
    """Open a connection.

    Args:
        url: ``imp:///folder?sketch=lazy`` or ``imp+connect://host:15002``; options in the query part.
        warehouse: folder of an embedded warehouse, made when it is not there.
        server: ``host:port`` of a Spark Connect server (``imp_driver[connect]``).
        session: a SparkSession of the application, classic or of Spark Connect; its configuration stays as it is, and it is not stopped.
        options: see imp_driver.values.options.Options; ``sketch`` is off, lazy, eager or shadow.

    Raises:
        InterfaceError: not exactly one of url, warehouse, server and session, or a bad option.
        OperationalError: no fit Java, no warehouse there, another process holds it, no server answers.
        NotSupportedError: the server runs another version of Spark, or sqlglot is the compiled variant.
    """
    places = (("a URL", url), ("warehouse", warehouse), ("server", server), ("session", session))
    given = [name for name, value in places if value is not None]
    if len(given) != 1:
        raise InterfaceError(f"connect needs exactly one of a URL, warehouse=, server= or session=, not {' and '.join(given) or 'none'}.")
    if url is not None and not isinstance(url, str):
        raise InterfaceError(f"The URL must be text, not {type(url).__name__}; a SparkSession is given as session=.")
    chosen = options_from_url(url) if url is not None else Options()
    chosen_place = {name: value for name, value in (("warehouse", warehouse), ("server", server)) if value is not None}
    chosen = chosen.with_values({**chosen_place, **options})
    chosen.check_deployment()
    from imp_driver.pipeline import open_pipeline

    return Connection(open_pipeline(chosen, session))
