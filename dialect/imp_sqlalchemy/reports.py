"""Reports of the driver where SQLAlchemy hides the cursor: by a listener, or the newest of a connection or session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from sqlalchemy import event, exc
from sqlalchemy.engine import Connection
from sqlalchemy.orm import Session, scoped_session

import imp_driver

Listener: TypeAlias = Callable[[imp_driver.SketchReport, Any], object]
"""Is given a report and SQLAlchemy's context of a statement (``statement``, ``parameters``, ``execution_options``, ``root_connection``)."""


@dataclass(slots=True)
class _Newest:
    """What a connection, or a session and its connections together, reported last."""

    report: imp_driver.SketchReport | None = None


_NEWEST: WeakKeyDictionary[Connection | Session, _Newest] = WeakKeyDictionary()
_LENGTH = 2
"""Of the path from an asynchronous and scoped session to the session below."""


def on_report(target: Any, listener: Listener) -> Callable[[], None]:
    """Call ``listener(report, context)`` after each statement, before its rows are fetched; return a function that ends this.

    Args:
        target: an Engine, AsyncEngine, Connection or AsyncConnection. Sessions report to the listeners of their engine.
        listener: what it raises is raised by the statement, which has been run by then.

    Raises:
        sqlalchemy.exc.ArgumentError: the target is something else, or of another dialect.
    """
    place = getattr(target, "sync_connection", None) or getattr(target, "sync_engine", None) or target
    if getattr(getattr(place, "dialect", None), "name", None) != "imp" or isinstance(place, type):
        raise exc.ArgumentError(f"Reports come from an engine or a connection of imp://, not from {type(target).__name__}.")

    def heard(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, is_many: bool) -> None:
        listener(cursor.sketch_report, context)

    event.listen(place, "after_cursor_execute", heard)
    return lambda: event.remove(place, "after_cursor_execute", heard)


def last_report(source: Any) -> imp_driver.SketchReport | None:
    """Return the report of the newest statement of a connection or session, None before the first.

    Args:
        source: a Connection, AsyncConnection, Session, AsyncSession or scoped session. A session keeps the report over its commits; what it
            loads besides (lazy and ``selectin`` relationships) are statements too, and the newest counts.

    Raises:
        sqlalchemy.exc.ArgumentError: the source is something else.
    """
    place = source
    for _ in range(_LENGTH):
        place = place() if isinstance(place, scoped_session) else place
        place = getattr(place, "sync_session", None) or getattr(place, "sync_connection", None) or place
    if not isinstance(place, (Connection, Session)):
        raise exc.ArgumentError(f"There are reports of connections and sessions of SQLAlchemy, not of {type(source).__name__}.")
    newest = _NEWEST.get(place)
    return None if newest is None else newest.report


def note(connection: Connection, report: imp_driver.SketchReport) -> None:
    """Keep a report as the newest of a connection, and of the session that it works for."""
    _NEWEST.setdefault(connection, _Newest()).report = report


@event.listens_for(Session, "after_begin")
def _share(session: Session, transaction: Any, connection: Connection) -> None:
    """Let a connection note its reports where its session's are, which stay when the connection goes back to its pool."""
    if connection.dialect.name == "imp":
        _NEWEST[connection] = _NEWEST.setdefault(session, _Newest())
