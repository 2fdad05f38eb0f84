"""Types of Spark that SQLAlchemy has no class for, and how values of the others are written and read."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from sqlalchemy import exc, func
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql import sqltypes
from sqlalchemy.sql.elements import BindParameter, ColumnElement
from sqlalchemy.types import TypeEngine

from imp_sqlalchemy.json_paths import ImpJSONIndex, ImpJSONPath
from imp_sqlalchemy.quoting import quoted
from imp_sqlalchemy.versions import AnyArray, AnyFloat, AnyNumeric, AnyType, TextElement

Processor = Callable[[Any], Any]
_PLAIN_TYPE = re.compile(r"\w+(?: \w+)*(?:\([\w, -]*\))?")
_Type: TypeAlias = "TypeEngine[Any] | type[TypeEngine[Any]]"


class TIMESTAMP_NTZ(sqltypes.DateTime):  # noqa: N801 - named as Spark names the type
    """A date and time without zone, which is what SQLAlchemy's DateTime() means."""

    __visit_name__ = "TIMESTAMP_NTZ"


class TINYINT(sqltypes.Integer):
    """-128 to 127."""

    __visit_name__ = "TINYINT"


class STRING(sqltypes.Text):
    """Text of any length."""

    __visit_name__ = "STRING"


class MAP(AnyType):
    """A dictionary with keys of one type and values of one type."""

    cache_ok = True
    __visit_name__ = "MAP"

    def __init__(self, key_type: _Type, value_type: _Type) -> None:
        self.key_type = sqltypes.to_instance(key_type)
        self.value_type = sqltypes.to_instance(value_type)


class STRUCT(AnyType):
    """A dictionary with named fields of types of their own, as in ``STRUCT({"city": String, "zip": Integer})``."""

    cache_ok = True
    __visit_name__ = "STRUCT"

    def __init__(self, fields: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        self.fields = tuple((name, sqltypes.to_instance(kind)) for name, kind in dict(fields).items())

    @property
    def _static_cache_key(self) -> Any:
        # Two structures with the same fields give the same SQL; SQLAlchemy looks into single types only.
        return (STRUCT, tuple((name, kind._static_cache_key) for name, kind in self.fields))

    def bind_processor(self, dialect: Dialect) -> Processor:
        return _as_json

    def bind_expression(self, bindvalue: BindParameter[dict[str, Any]]) -> ColumnElement[dict[str, Any]]:
        # A bound dictionary would be a MAP to Spark, which is no STRUCT.
        return func.from_json(bindvalue, _DdlText(self), type_=self)


class VARIANT(AnyType):
    """Any value that JSON can write; read and written as such."""

    cache_ok = True
    __visit_name__ = "VARIANT"

    def bind_processor(self, dialect: Dialect) -> Processor:
        return _as_json

    def bind_expression(self, bindvalue: BindParameter[Any]) -> ColumnElement[Any]:
        return func.parse_json(bindvalue, type_=self)

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        return func.to_json(column, type_=self)

    def result_processor(self, dialect: Dialect, coltype: object) -> Processor:
        return lambda value: None if value is None else json.loads(value)


class INTERVAL(AnyType):
    """A day-time interval in a query. Delta has no columns of it: ``sqlalchemy.Interval`` stores one as a date and time."""

    cache_ok = True
    __visit_name__ = "INTERVAL"


class UnreadType(AnyType):
    """A type of a reflected column that this dialect has no class for; ``text`` is Spark's name of it."""

    cache_ok = True

    def __init__(self, text: str) -> None:
        self.text = text

    def get_col_spec(self, **options: Any) -> str:
        """Return the name. Raises CompileError where that is no plain name of a type, which a definition could not hold safely."""
        if _PLAIN_TYPE.fullmatch(self.text) is None:
            raise exc.CompileError(f"The type {self.text!r} cannot be written; give the column another one.")
        return self.text


class _DdlText(TextElement):
    """The text of a type as a string literal of SQL."""

    __visit_name__ = "imp_ddl_text"
    inherit_cache = False

    def __init__(self, kind: TypeEngine[Any]) -> None:
        self.kind = kind
        self.type = sqltypes.String()


def _as_json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, default=str)


class ImpString(sqltypes.String):
    """Backslashes are escapes in Spark's literals."""

    def literal_processor(self, dialect: Dialect) -> Processor:
        return quoted


class ImpEnum(sqltypes.Enum):
    """As ImpString."""

    def literal_processor(self, dialect: Dialect) -> Processor:
        stored: Any = self.bind_processor(dialect)  # type: ignore[no-untyped-call]
        return lambda value: quoted(value if stored is None else stored(value))


class ImpDate(sqltypes.Date):
    """A literal has the type, since Spark does not store a text in a DATE."""

    def literal_processor(self, dialect: Dialect) -> Processor:
        return lambda value: f"DATE'{value.isoformat()}'"


class ImpDateTime(sqltypes.DateTime):
    """A literal without zone is a TIMESTAMP_NTZ, one with a zone a TIMESTAMP, as bound values are."""

    def literal_processor(self, dialect: Dialect) -> Processor:
        def written(value: datetime.datetime) -> str:
            kind = "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP"
            return f"{kind}'{value.isoformat(sep=' ')}'"

        return written


class ImpTime(sqltypes.Time):
    """Delta has no type for a time of day: it is stored as text, which sorts as the times do."""

    def bind_processor(self, dialect: Dialect) -> Processor:
        return lambda value: None if value is None else _time_text(value)

    def literal_processor(self, dialect: Dialect) -> Processor:
        return lambda value: quoted(_time_text(value))

    def result_processor(self, dialect: Dialect, coltype: object) -> Processor:
        return lambda value: datetime.time.fromisoformat(value) if isinstance(value, str) else value


def _time_text(value: datetime.time) -> str:
    return value.isoformat(timespec="microseconds")


class ImpFloat(AnyFloat):
    """A literal is a DOUBLE; without the letter it would be a DECIMAL."""

    def literal_processor(self, dialect: Dialect) -> Processor:
        def written(value: Any) -> str:
            number = float(value)
            return f"{number!r}D" if math.isfinite(number) else f"double({quoted(repr(number))})"

        return written


class ImpNumeric(AnyNumeric):
    """A literal has all its digits, however many there are before and after the point."""

    def literal_processor(self, dialect: Dialect) -> Processor:
        return lambda value: f"{value:f}" if isinstance(value, Decimal) else str(value)


class ImpLargeBinary(sqltypes.LargeBinary):
    """Bytes as hexadecimal digits."""

    def literal_processor(self, dialect: Dialect) -> Processor:
        return lambda value: f"X'{bytes(value).hex()}'"


class ImpArray(AnyArray):
    """``array(..)``, which brackets are not in Spark."""

    def literal_processor(self, dialect: Dialect) -> Processor:
        item: Any = self.item_type.dialect_impl(dialect).literal_processor(dialect)

        def written(value: Any) -> str:
            if value is None:
                return "NULL"
            if isinstance(value, (list, tuple)):
                return f"array({', '.join(map(written, value))})"
            return str(item(value))

        return written


COLUMN_TYPES: dict[type[TypeEngine[Any]], type[TypeEngine[Any]]] = {
    sqltypes.ARRAY: ImpArray,
    sqltypes.Enum: ImpEnum,
    sqltypes.String: ImpString,
    sqltypes.Date: ImpDate,
    sqltypes.DateTime: ImpDateTime,
    sqltypes.Time: ImpTime,
    sqltypes.Float: ImpFloat,
    sqltypes.Numeric: ImpNumeric,
    sqltypes.LargeBinary: ImpLargeBinary,
    sqltypes.JSON.JSONIndexType: ImpJSONIndex,
    sqltypes.JSON.JSONPathType: ImpJSONPath,
}
