"""A name -> what Spark's catalog holds under it, with what DESCRIBE leaves out: lengths, generated and identity columns."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from imp_driver.ports import TableDefinition
from imp_driver.spark.classes import java_class
from imp_driver.spark.errors import converted, is_denial
from imp_driver.values.quoting import has_variable, qualified
from imp_driver.values.view_policy import recursive_query

_CATALOG = "spark_catalog"
_DELTA_TABLE = "org.apache.spark.sql.delta.catalog.DeltaTableV2"
_TABLE = "org.apache.spark.sql.connector.catalog.V1Table"


def read_definition(spark: SparkSession, name: tuple[str, ...]) -> TableDefinition | None:
    """Return the definition of a permanent table or view; None where this catalog has none of this name. Raises Error where it fails."""
    state = spark._jsparkSession.sessionState()
    manager = state.catalogManager()
    if has_variable(*name) or str(manager.currentCatalog().name()) != _CATALOG:
        return None
    try:
        identifier = identifier_of(name, state)
        if state.catalog().isTempView(identifier):
            return None
        schema = identifier.database().get() if identifier.database().isDefined() else manager.currentNamespace()[0]
        return _read(_load(spark, manager.currentCatalog(), str(schema), str(identifier.table())))
    except (AnalysisException, Py4JJavaError) as error:
        failure = converted(error)
        if is_denial(failure):
            return None
        raise failure from error


def identifier_of(name: tuple[str, ...], state: Any) -> Any:
    """Return Spark's TableIdentifier of a name in Spark's own catalog; ``state`` is the session's SessionState."""
    parts = name[1:] if name[0].lower() == _CATALOG else name
    return state.sqlParser().parseTableIdentifier(qualified(parts))


def _load(spark: SparkSession, catalog: Any, schema: str, table: str) -> Any:
    context = spark.sparkContext
    assert context._gateway is not None
    assert context._jvm is not None
    namespace = context._gateway.new_array(java_class(context._jvm, "java.lang.String"), 1)
    namespace[0] = schema
    return catalog.loadTable(java_class(context._jvm, "org.apache.spark.sql.connector.catalog.Identifier").of(namespace, table))


def _read(table: Any) -> TableDefinition | None:
    kind = str(table.getClass().getName())
    if kind not in (_DELTA_TABLE, _TABLE):
        return None
    # The table's own schema() lacks what Delta writes into the metadata of generated and identity columns.
    schema = table.initialSnapshot().schema() if kind == _DELTA_TABLE else table.schema()
    partitions = tuple(str(each.references()[0].fieldNames()[0]) for each in table.partitioning())
    properties = {str(key): str(value) for key, value in dict(table.properties()).items()}
    text = None if kind == _DELTA_TABLE else table.v1Table().viewText()
    view_text = str(text.get()) if text is not None and text.isDefined() else None
    own_text = recursive_query(view_text, properties) or view_text
    return TableDefinition(str(schema.json()), partitions, properties, properties.get("comment"), own_text)
