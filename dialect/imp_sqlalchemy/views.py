"""Incremental and materialized views: statements of the driver, as SQLAlchemy's DDL and Alembic's operations write them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from sqlalchemy import Select, exc
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import ExecutableDDLElement
from sqlalchemy.sql.selectable import SelectBase

Kind: TypeAlias = Literal["incremental", "materialized"]
Policy: TypeAlias = Literal["AUTO", "INCREMENTAL", "STRICT", "FULL"]


class _OfView(ExecutableDDLElement):
    def __init__(self, name: str, schema: str | None, kind: Kind) -> None:
        if kind not in ("incremental", "materialized"):
            raise exc.ArgumentError(f"There is no view of kind {kind!r}; these are 'incremental' and 'materialized'.")
        self.name, self.schema, self.kind = name, schema, kind.upper()


class CreateView(_OfView):
    """CREATE INCREMENTAL VIEW, or MATERIALIZED: ``query`` is a SELECT of SQLAlchemy or a text; values in it are written into the view."""

    def __init__(
        self,
        name: str,
        query: SelectBase | Select[Any] | str,
        *,
        schema: str | None = None,
        kind: Kind = "incremental",
        policy: Policy = "AUTO",
        or_replace: bool = False,
        if_not_exists: bool = False,
        every_seconds: int | None = None,
    ) -> None:
        super().__init__(name, schema, kind)
        if every_seconds is not None and (kind != "materialized" or every_seconds < 1):
            raise exc.ArgumentError("every_seconds, 1 or more, is for materialized views.")
        self.query, self.policy, self.every_seconds = query, policy, every_seconds
        self.or_replace, self.if_not_exists = or_replace, if_not_exists


class DropView(_OfView):
    """DROP INCREMENTAL VIEW, or MATERIALIZED."""

    def __init__(self, name: str, *, schema: str | None = None, kind: Kind = "incremental", if_exists: bool = False) -> None:
        super().__init__(name, schema, kind)
        self.if_exists = if_exists


class RefreshView(_OfView):
    """REFRESH MATERIALIZED VIEW."""

    def __init__(self, name: str, *, schema: str | None = None) -> None:
        super().__init__(name, schema, "materialized")


@compiles(CreateView, "imp")
def _create(element: CreateView, compiler: Any, **options: Any) -> str:
    query = element.query
    text = query if isinstance(query, str) else compiler.sql_compiler.process(query, literal_binds=True)
    head = f"CREATE {'OR REPLACE ' * element.or_replace}{element.kind} VIEW {'IF NOT EXISTS ' * element.if_not_exists}"
    every = "" if element.every_seconds is None else f" EVERY {element.every_seconds} SECONDS"
    return f"{head}{_name(element, compiler)} POLICY {element.policy}{every} AS {text}"


@compiles(DropView, "imp")
def _drop(element: DropView, compiler: Any, **options: Any) -> str:
    return f"DROP {element.kind} VIEW {'IF EXISTS ' * element.if_exists}{_name(element, compiler)}"


@compiles(RefreshView, "imp")
def _refresh(element: RefreshView, compiler: Any, **options: Any) -> str:
    return f"REFRESH MATERIALIZED VIEW {_name(element, compiler)}"


def _name(element: _OfView, compiler: Any) -> str:
    name: str = compiler.preparer.quote(element.name)
    return name if element.schema is None else f"{compiler.preparer.quote_schema(element.schema)}.{name}"
