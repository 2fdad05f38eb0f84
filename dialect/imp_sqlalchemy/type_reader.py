"""A type of Spark, by its name in SQL or in the JSON form of a schema -> a type of SQLAlchemy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.sql import sqltypes
from sqlalchemy.types import TypeEngine

from imp_sqlalchemy.quoting import unquoted
from imp_sqlalchemy.types import INTERVAL, MAP, STRING, STRUCT, TIMESTAMP_NTZ, TINYINT, VARIANT, UnreadType
from imp_sqlalchemy.versions import DOUBLE

_SIMPLE: dict[str, type[TypeEngine[Any]]] = {
    "boolean": sqltypes.BOOLEAN,
    "tinyint": TINYINT,
    "smallint": sqltypes.SMALLINT,
    "int": sqltypes.INTEGER,
    "bigint": sqltypes.BIGINT,
    "float": sqltypes.REAL,
    "double": DOUBLE,
    "string": STRING,
    "binary": sqltypes.BINARY,
    "date": sqltypes.DATE,
    "timestamp_ntz": TIMESTAMP_NTZ,
    "variant": VARIANT,
    "void": sqltypes.NullType,
}
_STORED_NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
"""Names in the JSON form that differ from those in SQL."""
_DECLARED = "__CHAR_VARCHAR_TYPE_STRING"
"""Metadata of a column with CHAR or VARCHAR in its type: that type as it was declared."""
_PARAMETERS = re.compile(r"(decimal|char|varchar)\((\d+)(?:,\s*(-?\d+))?\)")
_COLLATED = re.compile(r"string collate (\w+)")


def read_type(text: str) -> TypeEngine[Any]:
    """Return the type of a name; UnreadType for one that is not known."""
    name = text.strip()
    lower = name.lower()
    if lower in _SIMPLE:
        return _SIMPLE[lower]()
    if lower == "timestamp":
        return sqltypes.TIMESTAMP(timezone=True)
    if lower.startswith("interval day"):
        return INTERVAL()
    return _with_parameters(lower) or _nested(name, lower) or UnreadType(name)


def read_delta_type(stored: str | Mapping[str, Any], metadata: Mapping[str, Any]) -> TypeEngine[Any]:
    """Return the type of a field in the JSON form of a schema; ``metadata`` is the field's."""
    if _DECLARED in metadata:
        return read_type(metadata[_DECLARED])
    if isinstance(stored, str):
        return read_type(_STORED_NAMES.get(stored, stored))
    match stored["type"]:
        case "array":
            return _array(read_delta_type(stored["elementType"], {}))
        case "map":
            return MAP(read_delta_type(stored["keyType"], {}), read_delta_type(stored["valueType"], {}))
        case "struct":
            return STRUCT({each["name"]: read_delta_type(each["type"], each["metadata"]) for each in stored["fields"]})
    return UnreadType(str(stored["type"]))


def _with_parameters(name: str) -> TypeEngine[Any] | None:
    collated = _COLLATED.fullmatch(name)
    if collated is not None:
        return STRING(collation=collated[1].upper())
    match = _PARAMETERS.fullmatch(name)
    if match is None:
        return None
    if match[1] == "decimal":
        return sqltypes.DECIMAL(int(match[2]), int(match[3] or 0))
    return (sqltypes.CHAR if match[1] == "char" else sqltypes.VARCHAR)(int(match[2]))


def _nested(name: str, lower: str) -> TypeEngine[Any] | None:
    if not name.endswith(">"):
        return None
    inner = list(_parts(name[name.index("<") + 1 : -1]))
    if lower.startswith("array<") and len(inner) == 1:
        return _array(read_type(inner[0]))
    if lower.startswith("map<") and len(inner) == 2:
        return MAP(read_type(inner[0]), read_type(inner[1]))
    if lower.startswith("struct<"):
        fields = [part.partition(":") for part in inner]
        return STRUCT({unquoted(field.strip()): read_type(kind) for field, _, kind in fields})
    return None


def _array(item: TypeEngine[Any]) -> TypeEngine[Any]:
    """SQLAlchemy has arrays of arrays as arrays of more dimensions."""
    if isinstance(item, sqltypes.ARRAY):
        return sqltypes.ARRAY(item.item_type, dimensions=(item.dimensions or 1) + 1)
    return sqltypes.ARRAY(item)


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between the commas that no bracket encloses."""
    depth = start = 0
    for place, character in enumerate(text):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if text[start:].strip():
        yield text[start:]
