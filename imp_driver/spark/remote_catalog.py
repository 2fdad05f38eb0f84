"""A name -> what it stands for at a Spark Connect server, asked by statements, since there is no JVM to ask.

``DESCRIBE DETAIL`` resolves a name as a query would, and tells the identifier of the table's log: the caller can check that the folder that
it reads holds this table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from imp_driver.errors import Error
from imp_driver.ports import Relation, RelationKind, TableDefinition, View, ViewColumn
from imp_driver.spark.errors import is_denial
from imp_driver.spark.locations import plain_path
from imp_driver.values.quoting import qualified
from imp_driver.values.view_policy import recursive_query

Row: TypeAlias = Mapping[str, Any]
Ask: TypeAlias = Callable[[str], list[Row]]
"""Runs a statement and returns its rows, each by column name. Raises an Error of this driver."""

_CATALOG = "spark_catalog"
_IS_A_VIEW = "EXPECT_TABLE_NOT_VIEW"
_NO_SETTINGS = "Spark Connect does not tell whether this session would read its text as it was meant"


def find_relation(name: tuple[str, ...], ask: Ask, on_machine: Callable[[str], str]) -> Relation | None:
    """Say what a name stands for; None where Spark itself will say what is wrong with it.

    ``on_machine`` returns a location with the machine that it lies on, where that is not this one.
    """
    try:
        rows = ask(f"DESCRIBE DETAIL {qualified(name)}")
    except Error as error:
        if not is_denial(error):
            raise
        return _view(name, ask) if (error.error_class or "").startswith(_IS_A_VIEW) else None
    row = rows[0]
    # A name in Spark's own catalog has letters, digits and underscores only; a table that is named by its path has no name.
    parts = tuple(row["name"].split(".")) if row["name"] else name if _is_path(name) else ()
    if not _is_path(name) and (len(parts) != 3 or parts[0] != _CATALOG):
        return None
    kind = RelationKind.DELTA_TABLE if row["format"] == "delta" else RelationKind.OTHER_TABLE
    return Relation(kind, name if _is_path(name) else parts, on_machine(plain_path(row["location"])), table_id=row["id"])


def _is_path(name: tuple[str, ...]) -> bool:
    return len(name) == 2 and name[0].lower() == "delta"


def _view(name: tuple[str, ...], ask: Ask) -> Relation:
    found = _described(name, ask)
    if found.get("catalog_name") != _CATALOG or "view_text" not in found:
        return Relation(RelationKind.TEMPORARY_VIEW, name, None)
    full = (_CATALOG, *found["namespace"], found["table_name"])
    names = [each["name"] for each in found["columns"]]
    columns = tuple(ViewColumn(each, each, "") for each in names)
    return Relation(RelationKind.VIEW, full, None, View(found["view_text"], (), columns, True, _NO_SETTINGS))


def _described(name: tuple[str, ...], ask: Ask) -> Row:
    try:
        found: Row = json.loads(ask(f"DESCRIBE TABLE EXTENDED {qualified(name)} AS JSON")[0]["json_metadata"])
    except Error as error:
        if not is_denial(error):
            raise
        return {}
    return found


def read_definition(name: tuple[str, ...], ask: Ask, schema_of: Callable[[str], str]) -> TableDefinition | None:
    """Return the definition of a permanent table or view; None where Spark's own catalog has none of this name.

    ``schema_of`` returns the JSON form of the columns of a name. Generated and identity columns look like others in it.
    """
    relation = find_relation(name, ask, lambda location: location)
    if relation is None or relation.kind is RelationKind.TEMPORARY_VIEW:
        return None
    try:
        schema = schema_of(qualified(name))
        detail = {} if relation.kind is RelationKind.VIEW else ask(f"DESCRIBE DETAIL {qualified(name)}")[0]
        properties = {str(row["key"]): str(row["value"]) for row in ask(f"SHOW TBLPROPERTIES {qualified(name)}")}
    except Error as error:
        if not is_denial(error):
            raise
        # It was dropped just now, or may not be read: Spark itself says so when a statement names it.
        return None
    if detail.get("clusteringColumns"):
        properties["clusteringColumns"] = json.dumps([[column] for column in detail["clusteringColumns"]])
    comment = detail.get("description") or properties.get("comment")
    text = None if relation.view is None else relation.view.text
    own_text = recursive_query(text, properties) or text
    return TableDefinition(schema, tuple(detail.get("partitionColumns") or ()), properties, comment, own_text)
