"""Which statements make a table with mapped columns of a query."""

from __future__ import annotations

import pytest

from imp_driver.parse.column_mapping import is_mapped_table_of_a_query

MODE = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"CREATE TABLE t {MODE} AS SELECT 1 AS a", True),
        (f"create or replace table t using delta {MODE.lower()} as (select 1 as a)", True),
        (f"REPLACE TABLE t {MODE} SELECT a FROM u", True),
        (f"CREATE TABLE t {MODE} TABLE u", True),
        (f"CREATE TABLE t {MODE} AS WITH q AS (VALUES (1)) FROM q", True),
        (f"CREATE TABLE t (a INT) USING DELTA {MODE} COMMENT 'same as SELECT a FROM u'", False),
        (f"CREATE TABLE t (`select` INT) {MODE}", False),
        ("CREATE TABLE t TBLPROPERTIES ('delta.columnMapping.mode' = 'none') AS SELECT 1 AS a", False),
        ("CREATE TABLE t AS SELECT 'delta.columnMapping.mode' AS a", False),
        ("INSERT INTO t SELECT 'delta.columnMapping.mode' = 'name'", False),
        (f"CREATE TABLE t {MODE} AS SELECT 'no end", False),
    ],
)
def test_mapped_tables_of_queries(text: str, expected: bool) -> None:
    assert is_mapped_table_of_a_query(text) is expected
