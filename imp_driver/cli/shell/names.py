"""Names of tables and columns for completion, asked in the background through a connection of their own."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from imp_driver.cli.shell.catalog import columns, in_sql, tables
from imp_driver.dbapi.connection import Connection
from imp_driver.dbapi.cursor import Cursor
from imp_driver.errors import Error

_CHANGES = re.compile(r"\s*(?:CREATE|DROP|ALTER|USE|REPLACE|UNCACHE|RESTORE|SET\s+CATALOG)\b", re.IGNORECASE)
_OF_SESSION = re.compile(r"\s*(?:USE|SET\s+CATALOG|CREATE\s+(?:OR\s+REPLACE\s+)?TEMP(?:ORARY)?\s+VIEW)\b", re.IGNORECASE)
"""What changes names in its own session alone, and nothing that is stored: run again where names are asked for."""
_MOST = 300
"""Tables whose columns are asked for."""
_PATIENCE = 5.0
"""Seconds in which a question may end when the shell is left."""


@dataclass(slots=True)
class _Known:
    """Columns by table; None is what is still to be asked. After a change of names another one takes its place."""

    columns: dict[str, tuple[str, ...] | None] | None = None

    @property
    def is_complete(self) -> bool:
        return self.columns is not None and None not in self.columns.values()


class Names:
    """A thread with the connection that ``connect`` opens. No statement waits for it: it begins no question while one runs."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._known = _Known()
        self._to_follow: list[str] = []
        self._is_idle = self._is_closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @property
    def tables(self) -> Mapping[str, Sequence[str]]:
        """Columns by table, as far as they are known."""
        return {table: found or () for table, found in (self._known.columns or {}).items()}

    def note(self, statement: str) -> None:
        """Ask anew after a statement that may have changed names."""
        if _CHANGES.match(statement) is None:
            return
        with self._changed:
            self._known = _Known()
            if _OF_SESSION.match(statement) is not None:
                self._to_follow.append(statement)

    def resume(self) -> None:
        """Ask for what is not known, in the background."""
        with self._changed:
            self._is_idle = True
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="imp-names", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Begin no question more until ``resume``; one that was begun goes on."""
        with self._changed:
            self._is_idle = False

    def close(self) -> None:
        """Stop asking. A question that does not end is left alone after some seconds, or at Ctrl-C."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None:
            with contextlib.suppress(KeyboardInterrupt):
                self._thread.join(_PATIENCE)

    def _serve(self) -> None:
        # Without this connection names are not offered; what is wrong is told where statements run.
        with contextlib.suppress(Error), self._connect() as connection, connection.cursor() as cursor:
            while (question := self._next_question()) is not None:
                question(cursor)

    def _next_question(self) -> Callable[[Cursor], None] | None:
        """Wait until there is something to ask; None where nothing is to be asked any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or (self._is_idle and bool(self._to_follow or not self._known.is_complete)))
            if self._is_closed:
                return None
            if self._to_follow:
                return partial(_follow, self._to_follow.pop(0))
            return partial(self._ask, self._known)

    def _ask(self, known: _Known, cursor: Cursor) -> None:
        if known.columns is not None:
            table = next(table for table, found in known.columns.items() if found is None)
            known.columns[table] = _columns(cursor, table)
            return
        try:
            found = tables(cursor)
        except Error:
            # Asked again before the next statement.
            self.pause()
        else:
            known.columns = {name: None if place < _MOST else () for place, (name, _) in enumerate(found)}


def _follow(statement: str, cursor: Cursor) -> None:
    with contextlib.suppress(Error):
        cursor.execute(statement)


def _columns(cursor: Cursor, table: str) -> tuple[str, ...]:
    try:
        return tuple(name for name, *_ in columns(cursor, in_sql(table)))
    except Error:
        # Of a view whose table is gone nothing is known.
        return ()
