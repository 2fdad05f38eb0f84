"""What Spark says of one table or view, read once: columns, details, properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exc
from sqlalchemy.engine import Connection

import imp_driver

_MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST")
_DETAILS = "# Detailed Table Information"
_DEFAULTS = "# Column Default Values"
_PARTITIONS = "# Partition Information"
_VIEW_DETAILS = "# Detailed View Information"


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """``kind`` is Spark's name of the type; ``default`` an expression of SQL."""

    name: str
    kind: str
    comment: str | None
    is_nullable: bool
    default: str | None


@dataclass(frozen=True, slots=True)
class Description:
    """``details`` are the named facts of DESCRIBE EXTENDED; ``properties`` are empty for a view."""

    columns: tuple[DescribedColumn, ...]
    details: Mapping[str, str]
    properties: Mapping[str, str]
    partition_columns: tuple[str, ...] = ()

    @property
    def is_view(self) -> bool:
        return self.details.get("Type", "").upper() == "VIEW"

    @property
    def comment(self) -> str | None:
        return self.details.get("Comment")


def qualified(connection: Connection, *parts: str | None) -> str:
    """Return a name in SQL; parts that are None are left out."""
    return ".".join(map(connection.dialect.identifier_preparer.quote_identifier, filter(None, parts)))


def rows_of(connection: Connection, text: str) -> Sequence[Any]:
    """Return the rows of a statement of Spark's own."""
    return connection.exec_driver_sql(text, execution_options={"imp_sketch": "off"}).fetchall()


def describe(connection: Connection, table: str, schema: str | None) -> Description:
    """Read a table or view.

    Raises:
        sqlalchemy.exc.NoSuchTableError: there is none of this name.
    """
    name = qualified(connection, schema, table)
    try:
        columns, sections = _sections(rows_of(connection, f"DESCRIBE TABLE EXTENDED {name}"))
        empty = connection.exec_driver_sql(f"SELECT * FROM {name} LIMIT 0", execution_options={"imp_sketch": "off"})
        nullable = {column[0]: bool(column[6]) for column in empty.cursor.description}
        empty.close()
        details = sections.get(_DETAILS, sections.get(_VIEW_DETAILS, {}))
        is_view = details.get("Type", "").upper() == "VIEW"
        properties = {} if is_view else dict(rows_of(connection, f"SHOW TBLPROPERTIES {name}"))
    except exc.DBAPIError as error:
        if isinstance(error.orig, imp_driver.Error) and error.orig.error_class in _MISSING:
            raise exc.NoSuchTableError(table if schema is None else f"{schema}.{table}") from error
        raise
    defaults = sections.get(_DEFAULTS, {})
    described = [
        DescribedColumn(column, kind, comment or None, nullable.get(column, True), defaults.get(column))
        for column, kind, comment in columns
    ]
    return Description(tuple(described), details, properties, tuple(sections.get(_PARTITIONS, ())))


def _sections(rows: Sequence[Any]) -> tuple[list[tuple[str, str, str | None]], dict[str, dict[str, str]]]:
    """Split the rows of DESCRIBE EXTENDED: the columns, then sections with a title."""
    columns: list[tuple[str, str, str | None]] = []
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    title = ""
    for name, kind, comment in rows:
        if name.startswith("# ") and not kind:
            title, current = name, sections.setdefault(name, {})
        elif not name and not kind:
            current = {} if current is None else current
        elif current is None:
            columns.append((name, kind, comment))
        elif name not in current and not name.startswith("# "):
            # The default of a column stands where its comment stands elsewhere.
            current[name] = (comment or "") if title == _DEFAULTS else kind
    return columns, sections
