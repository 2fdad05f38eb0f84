"""SQLAlchemy's types -> Spark's names of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy.sql import sqltypes
from sqlalchemy.sql.compiler import GenericTypeCompiler

from imp_sqlalchemy.types import MAP, STRUCT

DECIMAL_DIGITS = (38, 18)
"""Of a NUMERIC without digits: Spark's own (10, 0) would round fractions away."""
_FLOAT_BITS = 24
"""Digits of precision up to which a FLOAT fits four bytes."""


class ImpTypeCompiler(GenericTypeCompiler):
    """Types without a counterpart in Delta (CLOB, NVARCHAR, UUID, TIME, JSON ..) are stored as STRING."""

    def visit_STRING(self, type_: Any, **options: Any) -> str:
        return self._render_string_type("STRING", None, type_.collation, **options)

    visit_TEXT = visit_CLOB = visit_NCLOB = visit_STRING

    def visit_VARCHAR(self, type_: Any, **options: Any) -> str:
        return self._with_length("VARCHAR", type_, options)

    visit_NVARCHAR = visit_VARCHAR

    def visit_CHAR(self, type_: Any, **options: Any) -> str:
        return self._with_length("CHAR", type_, options)

    visit_NCHAR = visit_CHAR

    def _with_length(self, name: str, type_: Any, options: dict[str, Any]) -> str:
        return self._render_string_type(name if type_.length else "STRING", type_.length, type_.collation, **options)

    def visit_enum(self, type_: Any, **options: Any) -> str:
        return "STRING"

    visit_uuid = visit_UUID = visit_TIME = visit_JSON = visit_enum

    def visit_INTEGER(self, type_: Any, **options: Any) -> str:
        return "INT"

    def visit_TINYINT(self, type_: Any, **options: Any) -> str:
        return "TINYINT"

    def visit_FLOAT(self, type_: Any, **options: Any) -> str:
        return "FLOAT" if type_.precision is not None and type_.precision <= _FLOAT_BITS else "DOUBLE"

    def visit_REAL(self, type_: Any, **options: Any) -> str:
        return "FLOAT"

    def visit_DOUBLE_PRECISION(self, type_: Any, **options: Any) -> str:
        return "DOUBLE"

    def visit_DECIMAL(self, type_: Any, **options: Any) -> str:
        default_precision, default_scale = DECIMAL_DIGITS
        if type_.precision is None:
            return f"DECIMAL({default_precision}, {default_scale if type_.scale is None else type_.scale})"
        return f"DECIMAL({type_.precision}, {type_.scale or 0})"

    visit_NUMERIC = visit_DECIMAL

    def visit_datetime(self, type_: Any, **options: Any) -> str:
        return "TIMESTAMP" if type_.timezone else "TIMESTAMP_NTZ"

    visit_DATETIME = visit_TIMESTAMP = visit_datetime

    def visit_TIMESTAMP_NTZ(self, type_: Any, **options: Any) -> str:
        return "TIMESTAMP_NTZ"

    def visit_BLOB(self, type_: Any, **options: Any) -> str:
        return "BINARY"

    visit_BINARY = visit_VARBINARY = visit_BLOB

    def visit_ARRAY(self, type_: sqltypes.ARRAY[Any], **options: Any) -> str:
        text = self.process(type_.item_type, **options)
        for _ in range((type_.dimensions or 1) - 1):
            text = f"ARRAY<{text}>"
        return f"ARRAY<{text}>"

    def visit_MAP(self, type_: MAP, **options: Any) -> str:
        return f"MAP<{self.process(type_.key_type, **options)}, {self.process(type_.value_type, **options)}>"

    def visit_STRUCT(self, type_: STRUCT, **options: Any) -> str:
        quote = self.dialect.identifier_preparer.quote_identifier
        return f"STRUCT<{', '.join(f'{quote(name)}: {self.process(kind, **options)}' for name, kind in type_.fields)}>"

    def visit_VARIANT(self, type_: Any, **options: Any) -> str:
        return "VARIANT"

    def visit_INTERVAL(self, type_: Any, **options: Any) -> str:
        return "INTERVAL DAY TO SECOND"

    def visit_null(self, type_: Any, **options: Any) -> str:
        raise exc.CompileError("A column of the type NULL cannot be made: give the column a type.")
