"""Statements of Spark's own with a recursion by UNION: they are not begun, and the error names what there is in their place."""

from __future__ import annotations

import pytest

from imp_driver.commands.left_to_spark import check_recursion
from imp_driver.errors import NotSupportedError
from imp_driver.parse.statement import parse
from tests.unit.answer.test_answers import World

RECURSION = "WITH RECURSIVE p(a) AS (SELECT g FROM r UNION SELECT l.x FROM r l JOIN p ON l.g = p.a) "
QUERY = RECURSION + "SELECT a FROM p"
MADE = (
    f"CREATE VIEW v AS {QUERY}",
    f"create or replace temporary view v (a COMMENT 'of )') tblproperties ('b.c' = 'd') as {QUERY.lower()}",
    f"CREATE VIEW v AS SELECT * FROM ({QUERY}) q WHERE a > 1",
    f"CREATE TABLE t USING delta CLUSTER BY (a) AS {QUERY};",
    f"REPLACE TABLE t USING delta AS {QUERY}",
    f"CACHE TABLE t AS {QUERY}",
    f"ALTER VIEW v AS {QUERY}",
    f"INSERT INTO t (a) {QUERY}",
    f"INSERT OVERWRITE TABLE t PARTITION (b = 1) {QUERY}",
    f"{RECURSION} INSERT INTO t SELECT a FROM p",
    f"MERGE INTO t USING ({QUERY}) q ON t.a = q.a WHEN MATCHED THEN DELETE",
    f"DELETE FROM t WHERE a IN ({QUERY}) AND b = 1",
)
EXPLAINED = (f"EXPLAIN {QUERY}", f"explain formatted {QUERY}", f"DESCRIBE QUERY {QUERY}")
LEFT = (
    f"CREATE VIEW v AS {QUERY.replace('UNION', 'UNION ALL')}",
    f"INSERT INTO t SELECT '{QUERY}'",
    f"CREATE TABLE t TBLPROPERTIES ('q' = '{QUERY}') AS SELECT 1 AS recursive",
    "CREATE VIEW v AS WITH recursive AS (SELECT 1 AS a) SELECT a FROM recursive",
    "CREATE VIEW v AS WITH RECURSIVE p AS (SELECT 1 AS a UNION SELECT 2) SELECT a FROM p",
    "SET x = 'WITH RECURSIVE",
)


@pytest.mark.parametrize("text", MADE)
def test_what_makes_something_of_rows_is_told_of_views(text: str) -> None:
    world = World()
    with pytest.raises(NotSupportedError, match=r"CREATE INCREMENTAL VIEW .* CREATE MATERIALIZED VIEW"):
        world.ask(text)
    assert world.session.executed == []


@pytest.mark.parametrize("text", EXPLAINED)
def test_what_explains_is_told_of_other_explanations(text: str) -> None:
    with pytest.raises(NotSupportedError, match="EXPLAIN INCREMENTAL and EXPLAIN SKETCH"):
        World().ask(text)


@pytest.mark.parametrize("text", LEFT)
def test_any_other_statement_is_left_to_spark(text: str) -> None:
    check_recursion(parse(text))
