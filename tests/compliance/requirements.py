"""What SQLAlchemy's own suite may ask of this dialect; what is closed has a reason (docs/compliance.md lists them)."""

from __future__ import annotations

from enum import Enum

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements


class Why(Enum):
    """Why a requirement is closed: Spark or Delta cannot do it, or the driver or the dialect does not do it yet."""

    DATABASE_CANNOT = "database cannot"
    NOT_YET = "not yet"


_NO_ENFORCED_KEYS = "keys of Delta tables are information, nothing enforces them"
_NO_TEMPORARY_TABLES = "Spark has no temporary tables"
_NAMES_OF_TABLES = "names of tables in Spark have letters, digits and _ only"
_ONE_STATEMENT = "Delta commits every statement by itself"

CLOSED: dict[str, tuple[Why, str]] = {
    "duplicate_key_raises_integrity_error": (Why.DATABASE_CANNOT, _NO_ENFORCED_KEYS),
    "on_update_cascade": (Why.DATABASE_CANNOT, _NO_ENFORCED_KEYS),
    "recursive_fk_cascade": (Why.DATABASE_CANNOT, _NO_ENFORCED_KEYS),
    "deferrable_fks": (Why.DATABASE_CANNOT, _NO_ENFORCED_KEYS),
    "temporary_tables": (Why.DATABASE_CANNOT, _NO_TEMPORARY_TABLES),
    "temp_table_reflection": (Why.DATABASE_CANNOT, _NO_TEMPORARY_TABLES),
    "temp_table_names": (Why.DATABASE_CANNOT, _NO_TEMPORARY_TABLES),
    "has_temp_table": (Why.DATABASE_CANNOT, _NO_TEMPORARY_TABLES),
    "create_temp_table_as": (Why.DATABASE_CANNOT, _NO_TEMPORARY_TABLES),
    "temp_table_comment_reflection": (Why.DATABASE_CANNOT, _NO_TEMPORARY_TABLES),
    "datetime_interval": (Why.DATABASE_CANNOT, "Delta has no columns of intervals; Interval is kept as a date and time"),
    "autocommit": (Why.DATABASE_CANNOT, "there is no other mode to change to"),
    "savepoints": (Why.DATABASE_CANNOT, _ONE_STATEMENT),
    "two_phase_transactions": (Why.DATABASE_CANNOT, _ONE_STATEMENT),
    "sequences": (Why.DATABASE_CANNOT, "Spark has no sequences"),
    "sequences_optional": (Why.DATABASE_CANNOT, "Spark has no sequences"),
    "insert_returning": (Why.DATABASE_CANNOT, "Spark has no RETURNING"),
    "update_returning": (Why.DATABASE_CANNOT, "Spark has no RETURNING"),
    "delete_returning": (Why.DATABASE_CANNOT, "Spark has no RETURNING"),
    "insert_executemany_returning": (Why.DATABASE_CANNOT, "Spark has no RETURNING"),
    "insertmanyvalues": (Why.DATABASE_CANNOT, "it serves RETURNING; executemany is one commit without it"),
    "empty_inserts": (Why.DATABASE_CANNOT, "an INSERT of Spark needs a value"),
    "update_from": (Why.DATABASE_CANNOT, "an UPDATE of Spark reads one table; Merge does more"),
    "delete_from": (Why.DATABASE_CANNOT, "a DELETE of Spark reads one table; Merge does more"),
    "ctes_with_update_delete": (Why.DATABASE_CANNOT, "Delta has no WITH before UPDATE and DELETE"),
    "ctes_on_dml": (Why.DATABASE_CANNOT, "Spark has no changes within WITH"),
    "fetch_first": (Why.DATABASE_CANNOT, "Spark has LIMIT only"),
    "fetch_percent": (Why.DATABASE_CANNOT, "Spark has LIMIT only"),
    "fetch_ties": (Why.DATABASE_CANNOT, "Spark has LIMIT only"),
    "fetch_no_order_by": (Why.DATABASE_CANNOT, "Spark has LIMIT only"),
    "fetch_offset_with_options": (Why.DATABASE_CANNOT, "Spark has LIMIT only"),
    "fetch_expression": (Why.DATABASE_CANNOT, "Spark has LIMIT only"),
    "materialized_views": (Why.DATABASE_CANNOT, "Spark has none outside pipelines"),
    "supports_distinct_on": (Why.DATABASE_CANNOT, "Spark has no DISTINCT ON"),
    "time_timezone": (Why.DATABASE_CANNOT, "Delta has no type for a time of day"),
    "indexes_with_ascdesc": (Why.DATABASE_CANNOT, "Delta has no indexes; columns are noted"),
    "indexes_with_expressions": (Why.DATABASE_CANNOT, "Delta has no indexes; columns are noted"),
    "reflect_indexes_with_expressions": (Why.DATABASE_CANNOT, "Delta has no indexes; columns are noted"),
    "reflect_indexes_with_ascdesc": (Why.DATABASE_CANNOT, "Delta has no indexes; columns are noted"),
    "symbol_names_w_double_quote": (Why.DATABASE_CANNOT, _NAMES_OF_TABLES),
    "unusual_column_name_characters": (Why.DATABASE_CANNOT, _NAMES_OF_TABLES),
    "unicode_ddl": (Why.DATABASE_CANNOT, _NAMES_OF_TABLES),
    "percent_schema_names": (Why.DATABASE_CANNOT, _NAMES_OF_TABLES),
    "server_side_cursors": (Why.DATABASE_CANNOT, "rows are always streamed; there is nothing to switch on"),
    "reflect_tables_no_columns": (Why.DATABASE_CANNOT, "a Delta table that is written has columns"),
    "constraint_comment_reflection": (Why.DATABASE_CANNOT, "constraints have no comments"),
    "computed_columns_virtual": (Why.DATABASE_CANNOT, "Delta stores generated columns"),
    "implicitly_named_constraints": (Why.DATABASE_CANNOT, "a constraint without a name has none"),
}
"""Requirements that do not hold, with the reason."""

SKIPPED: dict[str, tuple[Why, str]] = {
    "BizarroCharacterTest.*[(2)-*": (Why.DATABASE_CANNOT, _NAMES_OF_TABLES),
    "BizarroCharacterTest.*[per % cent-*": (Why.DATABASE_CANNOT, _NAMES_OF_TABLES),
    "BizarroCharacterTest.*[[brackets]-*": (Why.DATABASE_CANNOT, _NAMES_OF_TABLES),
    "ComponentReflectionTest.test_get_temp_view_names": (Why.DATABASE_CANNOT, "the view is one of a temporary table"),
    "ComputedReflectionTest.*": (
        Why.DATABASE_CANNOT,
        "a column generated by a division is a DOUBLE, not an INT",
    ),
    "QuotedNameArgumentTest.*": (Why.DATABASE_CANNOT, _NAMES_OF_TABLES),
    "IsolationLevelTest.test_dialect_user_setting_is_restored": (Why.DATABASE_CANNOT, "there is one isolation level"),
    "ReturningGuardsTest.*": (Why.DATABASE_CANNOT, "Spark has no RETURNING; the compiler says so before Spark could"),
}
"""Single tests that no requirement covers, by class and name (* stands for anything), with the reason."""

OPEN = (
    "autoincrement_insert",
    "autoincrement_without_sequence",
    "implements_get_lastrowid",
    "dbapi_lastrowid",
    "create_table_as",
    "table_ddl_if_exists",
    "index_ddl_if_exists",
    "uuid_data_type",
    "table_value_constructor",
    "nullsordering",
    "intersect",
    "except_",
    "window_functions",
    "window_range",
    "ctes",
    "ctes_with_values",
    "tuple_in",
    "views",
    "schemas",
    "schema_reflection",
    "schema_create_delete",
    "implicit_default_schema",
    "cross_schema_fk_reflection",
    "foreign_key_constraint_name_reflection",
    "foreign_key_constraint_option_reflection_ondelete",
    "foreign_key_constraint_option_reflection_onupdate",
    "fk_constraint_option_reflection_ondelete_noaction",
    "fk_constraint_option_reflection_ondelete_restrict",
    "fk_constraint_option_reflection_onupdate_restrict",
    "reflects_pk_names",
    "comment_reflection",
    "comment_reflection_full_unicode",
    "temporary_views",
    "create_or_replace_view",
    "check_constraint_reflection",
    "inline_check_constraint_reflection",
    "unicode_data",
    "datetime_literals",
    "datetime_timezone",
    "timestamp_microseconds",
    "datetime_historic",
    "date_historic",
    "datetime_timezone_historic",
    "isolation_level",
    "array_type",
    "json_type",
    "legacy_unconditional_json_extract",
    "server_defaults",
    "expression_server_defaults",
    "precision_numerics_enotation_small",
    "precision_numerics_many_significant_digits",
    "infinity_floats",
    "boolean_col_expressions",
    "regexp_match",
    "regexp_replace",
    "order_by_label_with_expression",
    "identity_columns",
    "computed_columns",
    "computed_columns_stored",
    "supports_bitwise_or",
    "supports_bitwise_and",
    "supports_bitwise_not",
    "supports_bitwise_xor",
    "supports_bitwise_shift",
    "self_referential_foreign_keys",
    "reflect_table_options",
)
"""Requirements that SQLAlchemy leaves closed unless a dialect opens them."""


class Requirements(SuiteRequirements):
    """The requirements that the suite asks by name."""

    def get_isolation_levels(self, config: object) -> dict[str, object]:
        return {"default": "AUTOCOMMIT", "supported": ["AUTOCOMMIT"]}


for _name in OPEN:
    setattr(Requirements, _name, property(lambda self: exclusions.open()))
for _name in CLOSED:
    setattr(Requirements, _name, property(lambda self: exclusions.closed()))
