"""Names of tables and columns for completion, asked in the background while somebody types, never while a statement runs."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Mapping, Sequence

from imp_driver.cli.shell.catalog import columns, in_sql, tables
from imp_driver.dbapi.connection import Connection
from imp_driver.dbapi.cursor import Cursor
from imp_driver.errors import Error

_CHANGES = re.compile(r"\s*(?:CREATE|DROP|ALTER|USE|REPLACE|UNCACHE|RESTORE|SET\s+CATALOG)\b", re.IGNORECASE)
_MOST = 300
"""Tables whose columns are asked for."""


class Names:
    """A connection serves one thread at a time, so ``pause`` comes before each statement and ``resume`` before each prompt."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._found: dict[str, tuple[str, ...] | None] | None = None
        self._cursor: Cursor | None = None
        self._is_stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def tables(self) -> Mapping[str, Sequence[str]]:
        """Columns by table, as far as they are known."""
        return {table: found or () for table, found in (self._found or {}).items()}

    def note(self, statement: str) -> None:
        """Ask anew after a statement that may have changed names."""
        if _CHANGES.match(statement) is not None:
            self._found = None

    def resume(self) -> None:
        """Ask for what is not known, in the background."""
        if self._found is not None and None not in self._found.values():
            return
        self._is_stopped.clear()
        self._thread = threading.Thread(target=self._ask, name="imp-names", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Stop asking, and wait for that."""
        self._is_stopped.set()
        cursor, thread = self._cursor, self._thread
        if cursor is not None:
            with contextlib.suppress(Error):
                cursor.cancel()
        if thread is not None:
            thread.join()
            self._thread = None

    def _ask(self) -> None:
        # What fails here fails again, and is told, where it is asked for.
        with contextlib.suppress(Error), self._connection.cursor() as cursor:
            self._cursor = cursor
            if self._found is None:
                self._found = dict.fromkeys(name for name, _ in tables(cursor))
            for place, table in enumerate(self._found):
                if self._is_stopped.is_set():
                    return
                if self._found[table] is None:
                    self._found[table] = () if place >= _MOST else self._columns(cursor, table)
        self._cursor = None

    def _columns(self, cursor: Cursor, table: str) -> tuple[str, ...] | None:
        try:
            return tuple(name for name, *_ in columns(cursor, in_sql(table)))
        except Error:
            # Of a view whose table is gone nothing is known; what was stopped is asked for later.
            return None if self._is_stopped.is_set() else ()
