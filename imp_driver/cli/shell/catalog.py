"""What there is in the current schema, asked through the connection of the shell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.dbapi.connection import Connection
from imp_driver.dbapi.cursor import Cursor
from imp_driver.dbapi.typeobjects import Description
from imp_driver.values.quoting import quoted_name


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of the shell's own that is shown as a result is."""

    names: tuple[str, ...]
    rows: list[tuple[str, ...]]

    @property
    def description(self) -> list[Description]:
        return [(name, "string", None, None, None, None, True) for name in self.names]

    def fetchmany(self, size: int) -> Sequence[tuple[str, ...]]:
        """Return the next rows; each is returned once."""
        taken, self.rows[:] = self.rows[:size], self.rows[size:]
        return taken

    def fetch_record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that are left."""
        if self.rows:
            yield pa.RecordBatch.from_pylist([dict(zip(self.names, row, strict=True)) for row in self.fetchmany(len(self.rows))])


def tables(cursor: Cursor) -> list[tuple[str, str]]:
    """Return names and kinds (table, view, temporary view) in alphabetical order."""
    views = {row[1] for row in cursor.execute("SHOW VIEWS").fetchall()}
    found = cursor.execute("SHOW TABLES").fetchall()
    return sorted((name, "temporary view" if is_temporary else "view" if name in views else "table") for _, name, is_temporary in found)


def columns(cursor: Cursor, table: str) -> list[tuple[str, str, str]]:
    """Return names, types and comments of the columns of a table, whose name is as it stands in SQL."""
    found: list[tuple[str, str, str]] = []
    for name, kind, comment in cursor.execute(f"DESCRIBE TABLE {table}").fetchall():
        if not name or name.startswith("#"):
            # What follows are partitions and other properties.
            break
        found.append((name, kind, comment or ""))
    return found


def listed_tables(connection: Connection) -> Listed:
    with connection.cursor() as cursor:
        return Listed(("table", "kind"), list(tables(cursor)))


def listed_columns(connection: Connection, table: str) -> Listed:
    with connection.cursor() as cursor:
        return Listed(("column", "type", "comment"), list(columns(cursor, table)))


def in_sql(name: str) -> str:
    """Return a name as it is typed: in backticks where it needs them."""
    return name if name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdecimal() else quoted_name(name)
