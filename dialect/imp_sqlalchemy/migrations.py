"""Alembic on Delta tables: import this module in ``env.py``.

Delta commits every statement, so a migration that fails half-way leaves what it did before; RESTORE brings a table back. Dropping and
renaming columns needs Delta's column mapping (``imp_properties={"delta.columnMapping.mode": "name"}``).
"""

from __future__ import annotations

from typing import Any

from alembic.ddl.base import (
    AlterColumn,
    ColumnComment,
    ColumnName,
    ColumnNullable,
    ColumnType,
    alter_column,
    alter_table,
    format_column_name,
    format_type,
)
from alembic.ddl.impl import DefaultImpl
from sqlalchemy import BigInteger, Column, Integer
from sqlalchemy.ext.compiler import compiles

from imp_sqlalchemy.quoting import quoted


class ImpImpl(DefaultImpl):
    """What Alembic knows about this dialect."""

    __dialect__ = "imp"
    transactional_ddl = False
    type_synonyms = (
        *DefaultImpl.type_synonyms,
        {"STRING", "TEXT", "CLOB", "UUID", "JSON", "TIME"},
        {"INT", "INTEGER"},
        {"TIMESTAMP_NTZ", "DATETIME"},
        {"DOUBLE", "FLOAT", "DOUBLE PRECISION"},
        {"BINARY", "BLOB", "VARBINARY"},
    )

    def compare_type(self, inspector_column: Column[Any], metadata_column: Column[Any]) -> bool:
        """Say whether the types differ; an identity column is a BIGINT in Delta whichever integer the model names."""
        if metadata_column.identity is not None and isinstance(inspector_column.type, BigInteger):
            return not isinstance(metadata_column.type, Integer)
        return bool(super().compare_type(inspector_column, metadata_column))


@compiles(ColumnType, "imp")
def _type(element: ColumnType, compiler: Any, **options: Any) -> str:
    return _altered(element, compiler, f"TYPE {format_type(compiler, element.type_)}")


@compiles(ColumnNullable, "imp")
def _nullable(element: ColumnNullable, compiler: Any, **options: Any) -> str:
    return _altered(element, compiler, "DROP NOT NULL" if element.nullable else "SET NOT NULL")


@compiles(ColumnComment, "imp")
def _comment(element: ColumnComment, compiler: Any, **options: Any) -> str:
    return _altered(element, compiler, f"COMMENT {quoted(element.comment or '')}")


@compiles(ColumnName, "imp")
def _name(element: ColumnName, compiler: Any, **options: Any) -> str:
    table = alter_table(compiler, element.table_name, element.schema)
    return f"{table} RENAME COLUMN {format_column_name(compiler, element.column_name)} TO {format_column_name(compiler, element.newname)}"


def _altered(element: AlterColumn, compiler: Any, change: str) -> str:
    return f"{alter_table(compiler, element.table_name, element.schema)} {alter_column(compiler, element.column_name)} {change}"
