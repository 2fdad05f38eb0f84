"""Delta's schema text in; column names, stored names and Arrow types out.

Arrow types are the standard ones, whatever a reader returns: ``string`` (never a view or large type), ``timestamp[us]`` with zone UTC for
Delta's ``timestamp``, without zone for ``timestamp_ntz``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.ports import CHAR_WIDTH, COLLATED, NESTED_CHAR
from imp_driver.reasons import RecaptureReason
from imp_driver.values.tables import ChangesUnavailable, SchemaColumn

_PRIMITIVES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "long": pa.int64(),
    "integer": pa.int32(),
    "short": pa.int16(),
    "byte": pa.int8(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)")
_CHAR = re.compile(r"char\((\d+)\)")
_CHAR_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
_COLLATIONS = "__COLLATIONS"
_MAPPING_MODE = "delta.columnMapping.mode"
_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_IDENTIFIER = "delta.columnMapping.id"


Values = TypeVar("Values", pa.Array, pa.ChunkedArray)


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A top-level column.

    Attributes:
        stored_name: its name in statistics, and in data files.
        arrow_type: None where its rows are not read in process.
        width: characters of a CHAR column, to which Spark pads its values when it reads them; 0 for other columns.
        number: its identifier in data files where that alone tells it there, whatever name they give it; None where the name tells.
    """

    column: SchemaColumn
    stored_name: str
    arrow_type: pa.DataType | None
    partition: bool
    width: int = 0
    number: int | None = None

    @property
    def field(self) -> pa.Field:
        """The column in Arrow rows; a CHAR column says its width, without which Spark would compare its values as plain text."""
        metadata = {CHAR_WIDTH: str(self.width)} if self.width else None
        return pa.field(self.column.name, self.arrow_type, metadata=metadata)


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """What a ``metaData`` action says, as far as it decides how rows are read."""

    table_id: str
    columns: tuple[StoredColumn, ...]
    partition_columns: tuple[str, ...]
    configuration: tuple[tuple[str, str], ...]

    @property
    def has_change_feed(self) -> bool:
        return dict(self.configuration).get("delta.enableChangeDataFeed", "false").lower() == "true"

    def is_laid_out_like(self, other: TableMetadata) -> bool:
        """Say whether columns that are the same in both are read from files of either alike."""
        return self.table_id == other.table_id and self.partition_columns == other.partition_columns


def read_metadata(table_id: str, schema_text: str, partition_columns: Iterable[str], configuration: Mapping[str, str]) -> TableMetadata:
    """Read Delta's schema (JSON) into columns.

    Raises:
        ValueError, KeyError, TypeError: the text is not a Delta schema.
    """
    partitions = tuple(partition_columns)
    mode = configuration.get(_MAPPING_MODE, "none").lower()
    columns = tuple(_read_column(field, mode, partitions) for field in json.loads(schema_text)["fields"])
    return TableMetadata(table_id, columns, partitions, tuple(sorted(configuration.items())))


def _read_column(field: dict[str, Any], mode: str, partitions: tuple[str, ...]) -> StoredColumn:
    name, delta_type, mapped = field["name"], field["type"], mode != "none"
    stored_name = (field.get("metadata") or {}).get(_PHYSICAL_NAME, name) if mapped else name
    nested = isinstance(delta_type, dict)
    # Fields inside nested columns have stored names of their own under column mapping, so those columns are left to Spark.
    arrow_type = None if nested and mapped else arrow_type_of(delta_type)
    metadata = field.get("metadata") or {}
    fixed = _CHAR.fullmatch(str(metadata.get(_CHAR_TYPE, "")))
    # Strings that Spark compares by other rules than their bytes have a type name that no operator claims to understand.
    special = fixed[0] if fixed else _special(field, nested)
    column = SchemaColumn(name, special or (delta_type["type"] if nested else delta_type), bool(field["nullable"]))
    number = int(metadata[_IDENTIFIER]) if mode == "id" else None
    return StoredColumn(column, stored_name, arrow_type, name in partitions, int(fixed[1]) if fixed else 0, number)


def _special(field: dict[str, Any], nested: bool) -> str | None:
    """Return a name for text that is compared by a collation, or is CHAR inside a nested column; None for other columns."""
    text = json.dumps(field)
    if _COLLATIONS in text:
        return COLLATED
    declared = str((field.get("metadata") or {}).get(_CHAR_TYPE, "")) if nested else ""
    return NESTED_CHAR if re.search(r"\bchar\(", declared) else None


def stored_columns(metadata: TableMetadata, location: str, names: Sequence[str]) -> list[StoredColumn]:
    """Return columns by name. Raises ChangesUnavailable for one that is not there, or is not read in process."""
    known = {column.column.name: column for column in metadata.columns}
    for name in names:
        if name not in known:
            raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"{name!r} of {location} is not the same column at all versions.")
        if known[name].arrow_type is None:
            raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, f"Column {name!r} of {location} cannot be read in process.")
    return [known[name] for name in names]


def padded(values: Values, column: StoredColumn) -> Values:
    """Return the values of a column as Spark shows them: those of CHAR filled up with blanks, all others as stored."""
    return pc.utf8_rpad(values, width=column.width) if column.width else values


def arrow_type_of(delta_type: Any) -> pa.DataType | None:
    """Return the standard Arrow type of a Delta type (name, or JSON object of a nested type); None when there is none (variant ...)."""
    if isinstance(delta_type, dict):
        return _nested_type(delta_type)
    decimal = _DECIMAL.fullmatch(delta_type)
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return _PRIMITIVES.get(delta_type)


def _nested_type(delta_type: dict[str, Any]) -> pa.DataType | None:
    kind = delta_type["type"]
    if kind == "struct":
        types = [(field["name"], arrow_type_of(field["type"])) for field in delta_type["fields"]]
        return None if any(inner is None for _, inner in types) else pa.struct(types)
    if kind == "array":
        element = arrow_type_of(delta_type["elementType"])
        return None if element is None else pa.list_(element)
    key, value = arrow_type_of(delta_type["keyType"]), arrow_type_of(delta_type["valueType"])
    return None if key is None or value is None else pa.map_(key, value)
