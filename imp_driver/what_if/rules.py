"""What a table demands of the rows that it would have, and what it makes of them: Delta's rules, as the catalog tells them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.errors import IntegrityError, NotSupportedError
from imp_driver.ports import TableDefinition
from imp_driver.values.quoting import qualified

CONSTRAINT = "delta.constraints."
"""Begins the property of a CHECK."""
_LENGTH = "__CHAR_VARCHAR_TYPE_STRING"
_MAPPING = "delta.columnMapping."
_COMPUTED = ("delta.generationExpression", "delta.identity.start", "CURRENT_DEFAULT")


def _fields(definition: TableDefinition) -> Iterator[Mapping[str, Any]]:
    yield from json.loads(definition.schema)["fields"]


def in_partition(value: str, column: str, definition: TableDefinition) -> str:
    """Return a value as Delta writes it: an empty text that parts a table is NULL."""
    return f"nullif({value}, '')" if column in _texts_of_partitions(definition) else value


def _texts_of_partitions(definition: TableDefinition) -> list[str]:
    return [each["name"] for each in _fields(definition) if each["type"] == "string" and each["name"] in definition.partition_columns]


def partitioned(rows: pa.Table, definition: TableDefinition) -> pa.Table:
    """Return rows as ``in_partition`` makes them."""
    for name in _texts_of_partitions(definition):
        place, column = rows.column_names.index(name), rows.column(name)
        rows = rows.set_column(place, name, pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column))
    return rows


def is_plain(definition: TableDefinition) -> bool:
    """Say whether a table takes all rows that its columns have."""
    if any(key.startswith(CONSTRAINT) for key in definition.properties):
        return False
    return all(key == "comment" or key.startswith(_MAPPING) for each in _fields(definition) for key in each.get("metadata") or {})


def check_table(definition: TableDefinition, name: Sequence[str], *, is_insert: bool, has_new: bool) -> None:
    """Raise NotSupportedError where a table has rules about changes that are Delta's alone to follow."""
    for each in _fields(definition):
        computed = [key for key in _COMPUTED if key in (each.get("metadata") or {})]
        if computed:
            raise NotSupportedError(f"WHAT IF changes no table with computed columns; {each['name']} of {qualified(tuple(name))} is one.")
        if has_new and _LENGTH in (each.get("metadata") or {}):
            what = f"{each['name']} of {qualified(tuple(name))} is {each['metadata'][_LENGTH]}"
            raise NotSupportedError(f"WHAT IF adds no rows where the lengths of texts are to be checked; {what}.")
    if not is_insert and definition.properties.get("delta.appendOnly", "").lower() == "true":
        raise NotSupportedError(f"{qualified(tuple(name))} is append-only.")


def check_nulls(added: pa.Table, definition: TableDefinition, name: Sequence[str]) -> None:
    """Raise IntegrityError where a column that is NOT NULL would be NULL."""
    for each in _fields(definition):
        if not each["nullable"] and pc.any(pc.is_null(added.column(each["name"]))).as_py():
            raise IntegrityError(f"{each['name']} of {qualified(tuple(name))} is NOT NULL, and would be NULL.")
