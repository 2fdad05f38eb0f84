"""Alembic on Delta tables: import this module in ``env.py``.

Delta commits every statement, so a migration that fails half-way leaves what it did before; RESTORE brings a table back. Which steps an
operation takes is in migration_steps.py.
"""

from __future__ import annotations

from typing import Any

from alembic.ddl.base import (
    AlterColumn,
    ColumnComment,
    ColumnName,
    ColumnType,
    alter_column,
    alter_table,
    format_column_name,
    format_type,
)
from alembic.operations import MigrateOperation, Operations
from sqlalchemy.ext.compiler import compiles

from imp_sqlalchemy.migration_steps import ImpImpl
from imp_sqlalchemy.quoting import quoted
from imp_sqlalchemy.views import CreateView, DropView, RefreshView


@compiles(ColumnType, "imp")
def _type(element: ColumnType, compiler: Any, **options: Any) -> str:
    return _altered(element, compiler, f"TYPE {format_type(compiler, element.type_)}")


@compiles(ColumnComment, "imp")
def _comment(element: ColumnComment, compiler: Any, **options: Any) -> str:
    return _altered(element, compiler, f"COMMENT {quoted(element.comment or '')}")


@compiles(ColumnName, "imp")
def _name(element: ColumnName, compiler: Any, **options: Any) -> str:
    table = alter_table(compiler, element.table_name, element.schema)
    return f"{table} RENAME COLUMN {format_column_name(compiler, element.column_name)} TO {format_column_name(compiler, element.newname)}"


def _altered(element: AlterColumn, compiler: Any, change: str) -> str:
    return f"{alter_table(compiler, element.table_name, element.schema)} {alter_column(compiler, element.column_name)} {change}"


__all__ = ["CreateViewOperation", "DropViewOperation", "ImpImpl", "RefreshViewOperation"]


class _ViewOperation(MigrateOperation):
    def __init__(self, element: CreateView | DropView | RefreshView) -> None:
        self.element = element


@Operations.register_operation("create_imp_view")
class CreateViewOperation(_ViewOperation):
    """``op.create_imp_view(name, query, kind=.., policy=..)``, with the arguments of ``imp_sqlalchemy.views.CreateView``."""

    @classmethod
    def create_imp_view(cls, operations: Operations, name: str, query: Any, **options: Any) -> None:
        operations.invoke(cls(CreateView(name, query, **options)))


@Operations.register_operation("drop_imp_view")
class DropViewOperation(_ViewOperation):
    """``op.drop_imp_view(name, kind=..)``, with the arguments of ``imp_sqlalchemy.views.DropView``."""

    @classmethod
    def drop_imp_view(cls, operations: Operations, name: str, **options: Any) -> None:
        operations.invoke(cls(DropView(name, **options)))


@Operations.register_operation("refresh_imp_view")
class RefreshViewOperation(_ViewOperation):
    """``op.refresh_imp_view(name)``: writes what has changed of a materialized view."""

    @classmethod
    def refresh_imp_view(cls, operations: Operations, name: str, **options: Any) -> None:
        operations.invoke(cls(RefreshView(name, **options)))


@Operations.implementation_for(CreateViewOperation)
@Operations.implementation_for(DropViewOperation)
@Operations.implementation_for(RefreshViewOperation)
def _on_view(operations: Operations, operation: _ViewOperation) -> None:
    operations.execute(operation.element)
