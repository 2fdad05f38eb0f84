"""The dialect on SQLAlchemy 1.4, for Apache Superset: queries and reflection. Definitions of tables are for SQLAlchemy 2.1."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import imp_driver
from imp_sqlalchemy.dialect import ImpDialect
from imp_sqlalchemy.type_compiler import ImpTypeCompiler


class LegacyTypeCompiler(ImpTypeCompiler):
    """A type with a length, as SQLAlchemy 2 writes it."""

    def _render_string_type(self, name: str, length: int | None, collation: str | None, *_: Any, **options: Any) -> str:
        text = f"{name}({length})" if length else name
        return f"{text} COLLATE {self.dialect.identifier_preparer.quote(collation)}" if collation else text

    def visit_DOUBLE(self, type_: Any, **options: Any) -> str:
        return "DOUBLE"


class LegacyDialect(ImpDialect):
    """Under the names by which SQLAlchemy 1.4 asks for the driver, the compiler of types and the isolation level."""

    supports_statement_cache = True
    type_compiler: Any = LegacyTypeCompiler

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.type_compiler_instance = self.type_compiler
        self._on_connect_isolation_level = self.isolation_level  # type: ignore[assignment]

    def _get_server_version_info(self, connection: Any) -> tuple[int, ...]:
        """Nothing asks for it, and Superset makes an engine for every statement."""
        return ()

    @classmethod
    def dbapi(cls) -> ModuleType:  # type: ignore[override]
        return imp_driver
