"""Reflection: tables, views and their parts, from what Spark says and what the table's properties keep (constraints.py)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import exc
from sqlalchemy.engine import Connection
from sqlalchemy.engine.default import DefaultDialect

from imp_sqlalchemy import constraints
from imp_sqlalchemy.description import DescribedColumn, Description, Identity, describe, qualified, rows_of
from imp_sqlalchemy.versions import cached

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import (
        ReflectedCheckConstraint,
        ReflectedColumn,
        ReflectedForeignKeyConstraint,
        ReflectedIdentity,
        ReflectedIndex,
        ReflectedPrimaryKeyConstraint,
        ReflectedTableComment,
        ReflectedUniqueConstraint,
    )


class Reflection(DefaultDialect):
    """The part of the dialect that reads definitions. Every table is described once for all questions about it."""

    @cached
    def _described(self, connection: Connection, table_name: str, schema: str | None = None, **options: Any) -> Description:
        return describe(connection, table_name, schema)

    def _of(self, connection: Connection, table_name: str, schema: str | None, options: dict[str, Any]) -> Description:
        found: Description = self._described(connection, table_name, schema, info_cache=options.get("info_cache"))
        return found

    @cached
    def get_schema_names(self, connection: Connection, **options: Any) -> list[str]:
        return sorted(row[0] for row in rows_of(connection, "SHOW SCHEMAS"))

    def has_schema(self, connection: Connection, schema_name: str, **options: Any) -> bool:
        return schema_name.lower() in (name.lower() for name in self.get_schema_names(connection, **options))

    @cached
    def get_table_names(self, connection: Connection, schema: str | None = None, **options: Any) -> list[str]:
        views = {row[1] for row in self._shown(connection, "VIEWS", schema, info_cache=options.get("info_cache"))}
        return [
            row[1]
            for row in self._shown(connection, "TABLES", schema, info_cache=options.get("info_cache"))
            if not row[2] and row[1] not in views
        ]

    @cached
    def get_view_names(self, connection: Connection, schema: str | None = None, **options: Any) -> list[str]:
        return [row[1] for row in self._shown(connection, "VIEWS", schema, info_cache=options.get("info_cache")) if not row[2]]

    @cached
    def get_temp_view_names(self, connection: Connection, schema: str | None = None, **options: Any) -> list[str]:
        return [row[1] for row in self._shown(connection, "VIEWS", None, info_cache=options.get("info_cache")) if row[2]]

    @cached
    def get_temp_table_names(self, connection: Connection, schema: str | None = None, **options: Any) -> list[str]:
        return []

    @cached
    def get_materialized_view_names(self, connection: Connection, schema: str | None = None, **options: Any) -> list[str]:
        return []

    @cached
    def _shown(self, connection: Connection, what: str, schema: str | None, **options: Any) -> list[Any]:
        """Return rows of (schema, name, is temporary) in the order of their names."""
        if schema is not None and not self.has_schema(connection, schema):
            return []
        place = "" if schema is None else f" IN {qualified(connection, schema)}"
        return sorted(rows_of(connection, f"SHOW {what}{place}"), key=lambda row: str(row[1]))

    @cached
    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **options: Any) -> bool:
        self._ensure_has_table_connection(connection)
        wanted = table_name.lower()
        # Without the cache: a table may have been made since another one was asked for.
        return any(row[1].lower() == wanted for row in self._shown(connection, "TABLES", schema))

    @cached
    def get_view_definition(self, connection: Connection, view_name: str, schema: str | None = None, **options: Any) -> str:
        text = self._of(connection, view_name, schema, options).view_text
        if text is None:
            raise exc.NoSuchTableError(view_name)
        return text

    @cached
    def get_columns(self, connection: Connection, table_name: str, schema: str | None = None, **options: Any) -> list[ReflectedColumn]:
        return [_column(column) for column in self._of(connection, table_name, schema, options).columns]

    @cached
    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **options: Any
    ) -> ReflectedPrimaryKeyConstraint:
        key = constraints.primary_key(self._of(connection, table_name, schema, options).properties)
        return {"constrained_columns": [] if key is None else list(key.columns), "name": None if key is None else key.name}

    @cached
    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **options: Any
    ) -> list[ReflectedForeignKeyConstraint]:
        found = constraints.references(self._of(connection, table_name, schema, options).properties)
        return [
            {
                "name": each.name,
                "constrained_columns": list(each.columns),
                "referred_schema": each.schema,
                "referred_table": each.table,
                "referred_columns": list(each.referred),
                "options": dict(each.options),
            }
            for each in found
        ]

    @cached
    def get_unique_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **options: Any
    ) -> list[ReflectedUniqueConstraint]:
        found = constraints.keys(self._of(connection, table_name, schema, options).properties, constraints.UNIQUE)
        return [{"name": each.name, "column_names": list(each.columns)} for each in found]

    @cached
    def get_indexes(self, connection: Connection, table_name: str, schema: str | None = None, **options: Any) -> list[ReflectedIndex]:
        found = constraints.keys(self._of(connection, table_name, schema, options).properties, constraints.INDEX)
        return [{"name": each.name, "column_names": list(each.columns), "unique": each.unique, "dialect_options": {}} for each in found]

    @cached
    def get_check_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **options: Any
    ) -> list[ReflectedCheckConstraint]:
        found = constraints.checks(self._of(connection, table_name, schema, options).properties)
        return [{"name": name, "sqltext": text} for name, text in found]

    @cached
    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **options: Any
    ) -> ReflectedTableComment:
        return {"text": self._of(connection, table_name, schema, options).comment}

    @cached
    def get_table_options(self, connection: Connection, table_name: str, schema: str | None = None, **options: Any) -> dict[str, Any]:
        """Return the partition and cluster columns, under the names that Table(..) takes."""
        described = self._of(connection, table_name, schema, options)
        found: dict[str, Any] = {}
        clustered = described.properties.get("clusteringColumns")
        if clustered:
            found["imp_cluster_by"] = tuple(part[0] for part in json.loads(clustered))
        if described.partition_columns:
            found["imp_partitioned_by"] = described.partition_columns
        return found


def _column(column: DescribedColumn) -> ReflectedColumn:
    found: ReflectedColumn = {
        "name": column.name,
        "type": column.kind,
        "nullable": column.is_nullable,
        "default": column.default,
        "comment": column.comment,
    }
    if column.generated is not None:
        found["computed"] = {"sqltext": column.generated, "persisted": True}
    if column.identity is not None:
        found["autoincrement"] = True
        found["identity"] = _identity(column.identity)
    return found


def _identity(identity: Identity) -> ReflectedIdentity:
    """Delta keeps the start and the step; the other facts are the same for every identity column."""
    facts = {
        "always": identity.is_always,
        "start": identity.start,
        "increment": identity.increment,
        "minvalue": -(2**63),
        "maxvalue": 2**63 - 1,
        "nominvalue": True,
        "nomaxvalue": True,
        "cycle": False,
        "cache": None,
    }
    # Without the keys that only one other database has: SQLAlchemy warns of them.
    return cast("ReflectedIdentity", facts)
