"""The engine spec: what Superset asks of a database beyond its dialect."""

from __future__ import annotations

import re
from datetime import datetime
from re import Pattern
from typing import Any

from sqlalchemy import types
from sqlalchemy.engine import URL
from sqlglot.dialects.dialect import Dialects
from superset.db_engine_specs.base import BaseEngineSpec, DatabaseCategory
from superset.errors import SupersetErrorType
from superset.sql.parse import SQLGLOT_DIALECTS
from superset.utils.core import GenericDataType

from imp_superset import running
from imp_superset.grains import EPOCH_MILLISECONDS, EPOCH_SECONDS, time_grains
from imp_superset.literals import literal
from imp_superset.messages import EXPLAINED


class ImpEngineSpec(BaseEngineSpec):  # type: ignore[misc]
    """Spark SQL over an embedded warehouse. One process has it open, so Superset runs as one process with threads."""

    engine = "imp"
    engine_name = "imp_driver (Spark SQL over Delta)"
    default_driver = "spark"
    sqlalchemy_uri_placeholder = "imp:////folder/of/the/warehouse?sketch=lazy"
    metadata = {  # noqa: RUF012 - Superset's classes have plain values, here and below
        "description": "Embedded Spark over Delta tables; repeated queries read only the files that can matter.",
        "pypi_packages": ["imp_driver"],
        "connection_string": sqlalchemy_uri_placeholder,
        "categories": [DatabaseCategory.QUERY_ENGINES],
    }
    disable_ssh_tunneling = True
    supports_dynamic_schema = True
    # The dialect makes tables on SQLAlchemy 2.1 only.
    supports_file_upload = False

    _time_grain_expressions = time_grains()
    _show_functions_column = "function"
    column_type_mappings = (
        (re.compile(r"^tinyint", re.IGNORECASE), types.SmallInteger(), GenericDataType.NUMERIC),
        (re.compile(r"^timestamp_ntz", re.IGNORECASE), types.DateTime(), GenericDataType.TEMPORAL),
        (re.compile(r"^interval", re.IGNORECASE), types.Interval(), GenericDataType.TEMPORAL),
        (re.compile(r"^(array|map|struct|variant|binary)", re.IGNORECASE), types.String(), GenericDataType.STRING),
    )
    custom_errors: dict[Pattern[str], tuple[str, SupersetErrorType, dict[str, Any]]] = {  # noqa: RUF012
        each.pattern: (each.message, SupersetErrorType[each.kind], {}) for each in EXPLAINED
    }

    @classmethod
    def convert_dttm(cls, target_type: str, dttm: datetime, db_extra: dict[str, Any] | None = None) -> str | None:
        return literal(target_type, dttm)

    @classmethod
    def epoch_to_dttm(cls) -> str:
        return EPOCH_SECONDS

    @classmethod
    def epoch_ms_to_dttm(cls) -> str:
        return EPOCH_MILLISECONDS

    @classmethod
    def adjust_engine_params(
        cls, uri: URL, connect_args: dict[str, Any], catalog: str | None = None, schema: str | None = None
    ) -> tuple[URL, dict[str, Any]]:
        """Open the connection in the schema that was chosen."""
        return uri, connect_args if schema is None else {**connect_args, "schema": schema}

    @classmethod
    def fetch_data(cls, cursor: Any, limit: int | None = None) -> list[tuple[Any, ...]]:
        """Superset fetches after every statement, also after one without rows."""
        found: list[tuple[Any, ...]] = [] if cursor.description is None else super().fetch_data(cursor, limit)
        return found

    @classmethod
    def get_function_names(cls, database: Any) -> list[str]:
        return [str(name) for name in database.get_df("SHOW FUNCTIONS")["function"]]

    @classmethod
    def get_cancel_query_id(cls, cursor: Any, query: Any) -> str:
        return running.remember(cursor)

    @classmethod
    def cancel_query(cls, cursor: Any, query: Any, cancel_query_id: str) -> bool:
        return running.cancel(cancel_query_id)


# Superset reads statements for tables, limits and changes; without a name here it would read them as SQL of no database.
SQLGLOT_DIALECTS.setdefault(ImpEngineSpec.engine, Dialects.SPARK)
