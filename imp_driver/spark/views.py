"""A permanent view as Spark's catalog has it -> its definition, with what would make its text mean something else in this session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from imp_driver.ports import View, ViewColumn
from imp_driver.spark.classes import scala_object
from imp_driver.values.view_policy import PROPERTY, PROVENANCE, QUERY, policy_named, recursive_query

_CATALOG = "spark_catalog"
_NO_MATTER = ("spark.databricks.delta.lastCommitVersionInSession", "spark.databricks.delta.snapshotPartitions")
"""Settings that Spark stores with a view although they do not change what its text means."""
_TWICE = "__is_duplicate"
"""What Spark notes of a column that a branch of a UNION has twice."""
_SEPARATOR = "\x00"
"""Between the entries of a map in text, where a value may hold anything else."""


def read_view(table: Any, state: Any, jvm: Any) -> View:
    """Return the definition of a view. ``table`` is its CatalogTable, ``state`` the session's SessionState."""
    fields = json.loads(table.schema().json())["fields"]
    sources = _texts(table.viewQueryColumnNames())
    columns = tuple(
        ViewColumn(source, field["name"], _type_name(table, place, field["type"]))
        for place, (source, field) in enumerate(zip(sources, fields, strict=False))
    )
    problem = next(_problems(table, fields, sources, state, jvm), "")
    is_ansi = bool(state.conf().ansiEnabled())
    text = str(table.viewText().get()) if table.viewText().isDefined() else ""
    properties = {name: value for name in (PROPERTY, QUERY, PROVENANCE) if (value := _property(table, name)) is not None}
    query = recursive_query(text, properties)
    namespace = _texts(table.viewCatalogAndNamespace())
    policy, has_provenance = policy_named(properties.get(PROPERTY)), query is not None and PROVENANCE in properties
    return View(query or text, namespace, columns, is_ansi, problem, policy, query is not None, has_provenance)


def _property(table: Any, name: str) -> str | None:
    found = table.properties().get(name)
    return str(found.get()) if found.isDefined() else None


def _problems(table: Any, fields: list[dict[str, Any]], sources: tuple[str, ...], state: Any, jvm: Any) -> Iterator[str]:
    """Yield what Spark does with this view beyond bracketing its text, picking its columns by name and converting them."""
    mode = str(table.viewSchemaMode().toString())
    if str(table.tableType().name()) != "VIEW" or mode != "COMPENSATION":
        yield f"a view of kind {table.tableType().name()}, schema mode {mode}"
    if not table.viewText().isDefined() or len(sources) != len(fields):
        yield "its text or the columns of its query are not recorded"
    namespace = _texts(table.viewCatalogAndNamespace())
    if len(namespace) != 2 or namespace[0] != _CATALOG or table.viewStoredResolutionPath().isDefined():
        yield "its names resolve by a path, or in another catalog"
    if table.collation().isDefined() and str(table.collation().get()) != "UTF8_BINARY":
        yield "it has a collation of its own"
    marked = [field["name"] for field in fields if any(key.startswith("__") and key != _TWICE for key in field.get("metadata", {}))]
    if marked:
        # Such columns are compared in a way that a conversion to their type loses: padded (CHAR) or by a collation.
        yield f"{', '.join(marked)}: a column of type CHAR, VARCHAR or with a collation"
    if not state.catalog().listTemporaryFunctions().isEmpty():
        yield "the session has temporary functions, which a view does not see"
    yield from _differing_settings(table, state, jvm)


def _differing_settings(table: Any, state: Any, jvm: Any) -> Iterator[str]:
    """A view is read under the settings that were stored with it, and the defaults of all others that Spark would store."""
    helper = scala_object(jvm, "org.apache.spark.sql.execution.command.ViewHelper")
    stored, now = _settings(table.viewSQLConfigs()), _settings(helper.sqlConfigsToProps(state.conf(), ""))
    for name in sorted(stored.keys() | now.keys()):
        if name not in _NO_MATTER and stored.get(name) != now.get(name):
            yield f"it is read with {name} = {stored.get(name, 'its default')}, the session has {now.get(name, 'its default')}"


def _settings(values: Any) -> dict[str, str]:
    pairs = (entry.partition(" -> ") for entry in str(values.mkString(_SEPARATOR)).split(_SEPARATOR) if entry)
    return {name: value for name, _, value in pairs}


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(str(values.apply(place)) for place in range(values.length()))


def _type_name(table: Any, place: int, name: object) -> str:
    """Types that are no plain name in a schema's JSON have one in SQL."""
    return name if isinstance(name, str) else str(table.schema().apply(place).dataType().sql())
