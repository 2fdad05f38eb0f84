"""Names that SQLAlchemy 1.4 has not: Apache Superset needs that version, and then a part of the dialect (see legacy.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import sqlalchemy
from sqlalchemy.engine import reflection
from sqlalchemy.sql import sqltypes
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import UserDefinedType

CallableT = TypeVar("CallableT", bound=Callable[..., Any])

IS_LEGACY = sqlalchemy.__version__.startswith("1.")

if TYPE_CHECKING or not IS_LEGACY:
    AnyArray: TypeAlias = sqltypes.ARRAY[Any]
    AnyFloat: TypeAlias = sqltypes.Float[Any]
    AnyNumeric: TypeAlias = sqltypes.Numeric[Any]
    AnyType: TypeAlias = UserDefinedType[Any]
    TextElement: TypeAlias = ColumnElement[str]
    DOUBLE = sqltypes.DOUBLE
else:
    AnyArray, AnyFloat, AnyNumeric, AnyType, TextElement = sqltypes.ARRAY, sqltypes.Float, sqltypes.Numeric, UserDefinedType, ColumnElement

    class DOUBLE(sqltypes.Float):
        """Eight bytes."""

        __visit_name__ = "DOUBLE"


def cached(method: CallableT) -> CallableT:
    """``reflection.cache``; that of 1.4 builds a function from the text of the annotations, and fails for those of a result."""
    if IS_LEGACY:
        method.__annotations__ = {}
    return reflection.cache(method)
