"""One table or view, read once: columns, properties, partitions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import exc
from sqlalchemy.engine import Connection
from sqlalchemy.types import TypeEngine

import imp_driver
from imp_sqlalchemy.constraints import is_checked
from imp_sqlalchemy.quoting import VARIABLE
from imp_sqlalchemy.type_reader import read_delta_type, read_type

_MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST")
_ALWAYS_GENERATED = "delta.generationExpression"
_IDENTITY = "delta.identity."


@dataclass(frozen=True, slots=True)
class Identity:
    """Of a column whose values Delta makes; ``is_always``: an INSERT cannot give its own."""

    is_always: bool
    start: int
    increment: int


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """``default`` and ``generated`` are expressions of SQL."""

    name: str
    kind: TypeEngine[Any]
    is_nullable: bool = True
    comment: str | None = None
    default: str | None = None
    generated: str | None = None
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """``view_text`` is the query of a view, None for a table."""

    columns: tuple[DescribedColumn, ...]
    properties: Mapping[str, str] = field(default_factory=dict)
    partition_columns: tuple[str, ...] = ()
    comment: str | None = None
    view_text: str | None = None


def describe(connection: Connection, table: str, schema: str | None) -> Description:
    """Read a table or view.

    Raises:
        sqlalchemy.exc.NoSuchTableError: there is none of this name.
    """
    definition = connection.connection.dbapi_connection.definition(table, schema)  # type: ignore[union-attr]
    if definition is None:
        if any(VARIABLE in part for part in (table, schema or "")) or not table:
            raise exc.NoSuchTableError(table if schema is None else f"{schema}.{table}")
        return _asked(connection, table, schema)
    columns = tuple(_column(each, definition.properties) for each in json.loads(definition.schema)["fields"])
    return Description(columns, definition.properties, definition.partition_columns, definition.comment or None, definition.view_text)


def _column(stored: Mapping[str, Any], properties: Mapping[str, str]) -> DescribedColumn:
    """Read one field of Spark's JSON form of a struct."""
    facts = stored["metadata"]
    identity = None
    if f"{_IDENTITY}start" in facts:
        start, step = facts[f"{_IDENTITY}start"], facts[f"{_IDENTITY}step"]
        identity = Identity(not facts[f"{_IDENTITY}allowExplicitInsert"], start, step)
    return DescribedColumn(
        stored["name"],
        read_delta_type(stored["type"], facts),
        stored["nullable"] and not is_checked(stored["name"], properties),
        # An empty comment is one that was taken away.
        facts.get("comment") or None,
        facts.get("CURRENT_DEFAULT"),
        facts.get(_ALWAYS_GENERATED),
        identity,
    )


def _asked(connection: Connection, table: str, schema: str | None) -> Description:
    """Read what the catalog does not hold: a temporary view, or a table of another catalog."""
    try:
        rows = rows_of(connection, f"DESCRIBE TABLE {qualified(connection, schema, table)}")
    except exc.DBAPIError as error:
        if isinstance(error.orig, imp_driver.Error) and error.orig.error_class in _MISSING:
            raise exc.NoSuchTableError(table if schema is None else f"{schema}.{table}") from error
        raise
    columns = []
    for name, kind, comment in rows:
        if not name or name.startswith("# "):
            break
        columns.append(DescribedColumn(name, read_type(kind), comment=comment or None))
    return Description(tuple(columns))


def qualified(connection: Connection, *parts: str | None) -> str:
    """Return a name in SQL; parts that are None are left out."""
    return ".".join(map(connection.dialect.identifier_preparer.quote_identifier, filter(None, parts)))


def rows_of(connection: Connection, text: str) -> Sequence[Any]:
    """Return the rows of a statement of Spark's own."""
    return connection.exec_driver_sql(text, execution_options={"imp_sketch": "off"}).fetchall()
