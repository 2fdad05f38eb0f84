"""Values -> literals of Spark, for the cases in which PySpark's own conversion would change the type."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from pyspark.sql import functions
from pyspark.sql.classic.column import Column

from imp_driver.spark.classes import java_class
from imp_driver.values.execution import Parameters


def native(parameters: Parameters, jvm: Any) -> list[Any] | dict[str, Any]:
    """Return parameters for ``SparkSession.sql``."""
    if isinstance(parameters, Mapping):
        return {name: _native(value, jvm) for name, value in parameters.items()}
    return [_native(value, jvm) for value in parameters or ()]


def are_native(parameters: Parameters) -> bool:
    """Say whether Spark takes these values beside a text: not maps, nor arrays with NULL or others in them, whose types it would cast."""
    values = parameters.values() if isinstance(parameters, Mapping) else parameters or ()
    return not any(_is_composed(value) for value in values)


def _is_composed(value: Any) -> bool:
    if isinstance(value, list):
        return not value or any(each is None or isinstance(each, (list, dict)) for each in value)
    return isinstance(value, dict)


def _native(value: Any, jvm: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return _instant(value, jvm)
    if isinstance(value, datetime.date):
        # PySpark writes the year without its zeros, which Java cannot read before the year 1000.
        return _literal(java_class(jvm, "java.time.LocalDate").parse(value.isoformat()), jvm)
    if isinstance(value, list):
        return functions.array(*[_as_column(each, jvm) for each in value])
    return value


def _as_column(value: Any, jvm: Any) -> Any:
    made = _native(value, jvm)
    return made if isinstance(made, Column) else functions.lit(made)


def _instant(value: datetime.datetime, jvm: Any) -> Any:
    """PySpark reads a time without zone in Python's local zone; SQL's type for it is TIMESTAMP_NTZ."""
    if value.tzinfo is None:
        moment = java_class(jvm, "java.time.LocalDateTime").parse(value.isoformat())
    else:
        moment = java_class(jvm, "java.time.Instant").parse(value.astimezone(datetime.UTC).replace(tzinfo=None).isoformat() + "Z")
    return _literal(moment, jvm)


def _literal(value: Any, jvm: Any) -> Column:
    return Column(java_class(jvm, "org.apache.spark.sql.functions").lit(value))
