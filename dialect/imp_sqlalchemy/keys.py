"""Primary keys of new rows: each has a value, or is refused before a statement is sent, since Delta enforces none and makes few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import exc
from sqlalchemy.schema import Column, Identity, Table

import imp_driver

_ADVICE = (
    "Delta makes values of identity columns only. Give the column sa.Identity() or autoincrement=True (a BIGINT; one commit a row in the "
    "ORM), a default made in Python such as default=uuid.uuid4 with sa.Uuid, or autoincrement=False and values of your own."
)


def identity_of(column: Any) -> Any:
    """Return how Delta makes the values of a column; None where it does not. ``autoincrement=True``, said aloud, asks for it too."""
    is_asked = column.autoincrement is True and column.table is not None and column is column.table._autoincrement_column
    return Identity() if column.identity is None and is_asked else column.identity


def check_given(table: Any, given: Iterable[str]) -> None:
    """Raise CompileError where an INSERT gives no value for a part of the primary key, and nothing else will."""
    if not isinstance(table, Table):
        return
    names = set(given)
    missing = [column for column in table.primary_key if column.key not in names and _has_no_value(column)]
    if missing:
        raise exc.CompileError(f"The INSERT has no value for {table.fullname}.{missing[0].name}, of the primary key. {_ADVICE}")


def _has_no_value(column: Column[Any]) -> bool:
    return not column.nullable and column.default is None and column.server_default is None and identity_of(column) is None


def check_values(table: Any, statement: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise sqlalchemy.exc.IntegrityError where a row to insert has NULL in its primary key."""
    if not isinstance(table, Table):
        return
    keys = [column for column in table.primary_key if not column.nullable]
    for number, row in enumerate(rows, 1):
        empty = next((column for column in keys if column.key in row and row[column.key] is None), None)
        if empty is not None:
            where = f" of row {number}" if len(rows) > 1 else ""
            told = imp_driver.IntegrityError(f"{table.fullname}.{empty.name}{where} is None, and it is of the primary key. {_ADVICE}")
            raise exc.IntegrityError(statement, row, told)
