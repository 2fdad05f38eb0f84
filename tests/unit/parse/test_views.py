"""CREATE INCREMENTAL VIEW: its parts as written, what Spark gets for it, and what is said of other forms."""

from __future__ import annotations

import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.parse.commands import CommandKind
from imp_driver.parse.statement import StatementKind, check_kept, parse
from imp_driver.parse.views import read_name, read_new_view
from imp_driver.values.view_policy import ViewPolicy, strictest


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        (
            "CREATE INCREMENTAL VIEW v AS SELECT 1 AS a",
            "CREATE VIEW `v` TBLPROPERTIES ('imp.view.policy' = 'AUTO') AS SELECT 1 AS a",
        ),
        (
            "create or replace incremental view s.`a b` (x COMMENT 'it''s (x)', `y z`) policy strict\nas\nselect g, ')' from t ; ",
            "CREATE OR REPLACE VIEW `s`.`a b` (x COMMENT 'it''s (x)', `y z`) TBLPROPERTIES ('imp.view.policy' = 'STRICT') AS "
            "select g, ')' from t",
        ),
        (
            " CREATE  INCREMENTAL\tVIEW IF NOT EXISTS c.s.policy POLICY FULL COMMENT 'POLICY AS' AS (SELECT g AS `as` FROM t)",
            "CREATE VIEW IF NOT EXISTS `c`.`s`.`policy` COMMENT 'POLICY AS' TBLPROPERTIES ('imp.view.policy' = 'FULL') AS "
            "(SELECT g AS `as` FROM t)",
        ),
        (
            "CREATE INCREMENTAL VIEW `as` POLICY INCREMENTAL AS WITH c AS (SELECT 1 AS a) SELECT * FROM c -- end",
            "CREATE VIEW `as` TBLPROPERTIES ('imp.view.policy' = 'INCREMENTAL') AS WITH c AS (SELECT 1 AS a) SELECT * FROM c -- end",
        ),
    ],
)
def test_what_spark_gets(text: str, spark: str) -> None:
    statement = parse(text)
    assert statement.kind is StatementKind.SKETCH_COMMAND
    assert statement.command is not None
    assert statement.command.kind is CommandKind.CREATE_VIEW
    assert read_new_view(statement.command.argument).text == spark


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CREATE INCREMENTAL VIEW v SELECT 1", "'SELECT' is not expected"),
        ("CREATE INCREMENTAL VIEW v POLICY SOMETIMES AS SELECT 1", "no policy SOMETIMES"),
        ("CREATE INCREMENTAL VIEW v POLICY FULL POLICY FULL AS SELECT 1", "'POLICY' is not expected"),
        ("CREATE INCREMENTAL VIEW v COMMENT x AS SELECT 1", "'x' is not expected"),
        ("CREATE INCREMENTAL VIEW v (a, b AS SELECT 1", "The end is not expected"),
        ("CREATE INCREMENTAL VIEW v AS", "The end is not expected"),
        ("CREATE INCREMENTAL VIEW (a) AS SELECT 1", "'(' is not expected"),
        ("CREATE INCREMENTAL VIEW v. AS", "The end is not expected"),
        ("CREATE INCREMENTAL VIEW v AS SELECT ? AS a", "no markers"),
        ("CREATE INCREMENTAL VIEW v AS SELECT 'a", "cannot be read"),
        ("CREATE OR REPLACE INCREMENTAL VIEW IF NOT EXISTS v AS SELECT 1", "exclude each other"),
    ],
)
def test_other_forms_are_told(text: str, said: str) -> None:
    with pytest.raises(ProgrammingError) as caught:
        read_new_view(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kind", "argument"),
    [
        ("DROP INCREMENTAL VIEW IF EXISTS a.b;", CommandKind.DROP_VIEW, "IF EXISTS a.b"),
        ("show  incremental views", CommandKind.SHOW_VIEWS, ""),
        ("EXPLAIN INCREMENTAL SELECT 1 ; ", CommandKind.EXPLAIN_VIEW, "SELECT 1"),
        ("SHOW INCREMENTAL", CommandKind.UNKNOWN, "SHOW INCREMENTAL"),
        ("CREATE INCREMENTAL TABLE t AS SELECT 1", CommandKind.UNKNOWN, "CREATE INCREMENTAL TABLE t AS SELECT 1"),
        ("EXPLAIN INCREMENTAL", CommandKind.UNKNOWN, "EXPLAIN INCREMENTAL"),
    ],
)
def test_the_other_statements(text: str, kind: CommandKind, argument: str) -> None:
    command = parse(text).command
    assert command is not None
    assert (command.kind, command.argument) == (kind, argument)


def test_names() -> None:
    assert read_name("a.`b.c`;") == ("a", "b.c")
    for text in ("a b", "", "a.", "'a'", "`a"):
        with pytest.raises(ProgrammingError):
            read_name(text)


def test_which_policy_holds_for_rows_in_common() -> None:
    assert strictest([ViewPolicy.FULL, ViewPolicy.AUTO]) is ViewPolicy.AUTO
    assert strictest([ViewPolicy.AUTO, ViewPolicy.STRICT, ViewPolicy.INCREMENTAL]) is ViewPolicy.STRICT
    assert strictest([]) is None


@pytest.mark.parametrize("query", ["SPARQL SELECT ?s FROM <g> { ?s ?p ?v }", "SELECT a FROM t WHERE a > :v"])
@pytest.mark.parametrize("kind", ["INCREMENTAL", "MATERIALIZED"])
def test_a_view_has_no_parameters(kind: str, query: str) -> None:
    statement = parse(f"CREATE {kind} VIEW w AS {query}")
    check_kept(statement, None)
    check_kept(parse(query), {"v": 1})
    with pytest.raises(ProgrammingError, match="A view has no parameters"):
        check_kept(statement, {"v": 1})
