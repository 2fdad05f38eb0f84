"""What is added to the error of a statement that was not understood."""

from __future__ import annotations

import pytest

from imp_driver.commands.suggestions import suggest
from imp_driver.errors import DataError, Error, NotSupportedError, OperationalError, ProgrammingError, QueryPosition
from tests.unit.answer.test_answers import World


def _syntax() -> ProgrammingError:
    told = "[PARSE_SYNTAX_ERROR] Syntax error\n\n== SQL ==\nSHOW SKECHES\n"
    return ProgrammingError(told, error_class="PARSE_SYNTAX_ERROR", sqlstate="42601", query_id="q")


def test_an_error_of_spark_ends_with_what_may_have_been_meant_and_keeps_the_rest() -> None:
    error = _syntax()
    suggest(error, "SHOW SKECHES")
    assert str(error) == "[PARSE_SYNTAX_ERROR] Syntax error\n\n== SQL ==\nSHOW SKECHES\nDid you mean SHOW SKETCHES?"
    assert (error.error_class, error.sqlstate, error.query_id) == ("PARSE_SYNTAX_ERROR", "42601", "q")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ProgrammingError("no such table", error_class="TABLE_OR_VIEW_NOT_FOUND", sqlstate="42P01"), "SHOW SKECHES"),
        (ProgrammingError("no such table", error_class="TABLE_OR_VIEW_NOT_FOUND", sqlstate="42P01"), "SELECT ?s { ?s ?p ?o }"),
        (DataError("too large"), "SELECT ?s { ?s ?p ?o }"),
        (OperationalError("gone"), "SELECT ?s { ?s ?p ?o }"),
        (_syntax(), "SELCT 1"),
        (ProgrammingError("this is no SPARQL 1.1"), "CREATE INCREMENTAL VIEW v AS SPARQL SELECT ?s ?"),
        (ProgrammingError("this is no SPARQL 1.1"), "SPARQL SELECT ?s ?"),
    ],
)
def test_other_errors_stay_as_they_are(error: Error, text: str) -> None:
    before = str(error)
    suggest(error, text)
    assert str(error) == before


@pytest.mark.parametrize(
    ("text", "line", "column", "is_told"),
    [
        ("SELECT 1; SELECT 2", 1, 11, True),
        ("SELECT ';'\n;\n-- and\nSELECT 2", 4, 1, True),
        ("SELECT 1 FORM t; SELECT 2", 1, 15, False),
        ("SELECT ';' SELECT 2", 1, 12, False),
        ("SELECT 'open", 1, 8, False),
    ],
)
def test_several_statements_in_one_text_are_told_where_the_second_is_blamed(text: str, line: int, column: int, is_told: bool) -> None:
    position = QueryPosition(line, column)
    error = ProgrammingError("Syntax error", error_class="PARSE_SYNTAX_ERROR", sqlstate="42601", position=position)
    suggest(error, text)
    assert ("One execute takes one statement" in str(error)) is is_told


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("WITH r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 3) SELECT * FROM r", True),
        ("WITH s AS (SELECT 1), R (a) AS (SELECT (1) UNION ALL SELECT a + 1 FROM t JOIN `r` ON true) SELECT * FROM r", True),
        ("WITH RECURSIVE s AS (SELECT 1), r AS (SELECT a FROM r) SELECT 1", False),
        ("WITH s AS (SELECT 1 FROM r), r AS (SELECT 1) SELECT * FROM s", False),
        ("SELECT r AS (x) FROM r", False),
        ("WITH s AS (SELECT 1) SELECT * FROM r", False),
        ("WITH r AS", False),
    ],
)
def test_a_recursion_without_its_word_is_told(text: str, is_told: bool) -> None:
    told = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `r` cannot be found. Verify the spelling."
    error = ProgrammingError(told, error_class="TABLE_OR_VIEW_NOT_FOUND", sqlstate="42P01")
    suggest(error, text)
    assert str(error) == told + " Did you mean WITH RECURSIVE?" * is_told


RECURSION = "r (a) AS (SELECT 1 UNION SELECT a + 1 FROM r WHERE a < 3) SELECT * FROM r"


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        (f"WITH RECURSIV {RECURSION}", True),
        (f"CREATE INCREMENTAL VIEW v AS WITH recusrive {RECURSION.replace('(a)', '')}", True),
        (f"SELECT * FROM (WITH RECURSIVELY `R` AS (SELECT 1) SELECT 2) q JOIN ({RECURSION})", True),
        (f"WITH RECURSIVE {RECURSION} SELECT", False),
        ("WITH recursiv AS (SELECT 1) SELECT FROM FROM", False),
        ("WITH recursiv (a) AS (SELECT 1) SELECT FROM FROM", False),
        (f"WITH RECORDS {RECURSION}", False),
        ("WITH RECURSIV", False),
    ],
)
def test_a_word_that_is_nearly_recursive_is_told(text: str, is_told: bool) -> None:
    error = ProgrammingError("Syntax error", error_class="PARSE_SYNTAX_ERROR", sqlstate="42601")
    suggest(error, text)
    assert str(error) == "Syntax error" + " Did you mean WITH RECURSIVE?" * is_told


def test_both_are_told_of_a_view_whose_query_the_driver_cannot_read() -> None:
    begin = "CREATE INCREMENTAL VIEW v AS WITH"
    error = ProgrammingError("What follows AS in a view is to be a query.")
    for _ in range(2):
        suggest(error, f"{begin} RECURSIV {RECURSION}")
    assert str(error) == "What follows AS in a view is to be a query. Did you mean WITH RECURSIVE?"
    with pytest.raises(NotSupportedError, match="takes no MAX RECURSION LEVEL"):
        suggest(error, f"{begin} RECURSIVE {RECURSION.replace('AS', 'MAX RECURSION LEVEL 5 AS', 1)}")
    with pytest.raises(NotSupportedError, match="takes no MAX RECURSION LEVEL"):
        World().ask(f"{begin} RECURSIVE {RECURSION.replace('AS', 'MAX RECURSION LEVEL 5 AS', 1)}")


def _by_union() -> ProgrammingError:
    return ProgrammingError("[UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE] no", error_class="UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE", query_id="q")


@pytest.mark.parametrize("begin", ["", "EXPLAIN ", "CREATE VIEW v AS ", "CREATE INCREMENTAL VIEW v AS "])
def test_a_bound_beside_union_is_told_with_what_to_write(begin: str) -> None:
    error = _by_union()
    with pytest.raises(NotSupportedError, match=r"takes no MAX RECURSION LEVEL\. .*WHERE r\.steps < 5") as raised:
        suggest(error, f"{begin}WITH RECURSIVE {RECURSION.replace('AS', 'max recursion level 5 AS', 1)}")
    assert (raised.value.__cause__, raised.value.query_id) == (error, "q")


@pytest.mark.parametrize("text", [f"WITH RECURSIVE {RECURSION}", f"WITH RECURSIVE {RECURSION} WHERE 'MAX RECURSION LEVEL 5' = `MAX`"])
def test_other_recursions_that_spark_refuses_keep_its_error(text: str) -> None:
    error = _by_union()
    suggest(error, text)
    assert str(error) == "[UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE] no"


@pytest.mark.parametrize(
    "error",
    [
        _syntax(),
        ProgrammingError("1 marker", error_class="UNBOUND_SQL_PARAMETER", sqlstate="42P02"),
        NotSupportedError("a $ outside quotes"),
    ],
)
def test_sparql_without_its_word_is_told_in_the_place_of_markers(error: Error) -> None:
    with pytest.raises(ProgrammingError, match=r"^This is SPARQL, .*: write SPARQL SELECT \?s WHERE { \?s \?p \?o }$") as raised:
        suggest(error, "SELECT ?s\nWHERE { ?s ?p ?o }")
    assert raised.value.__cause__ is error
    assert raised.value.error_class is None


def test_sparql_within_sql_is_had_by_a_view() -> None:
    error = ProgrammingError("3 markers", error_class="UNBOUND_SQL_PARAMETER", sqlstate="42P02")
    with pytest.raises(ProgrammingError, match=r"CREATE INCREMENTAL VIEW v AS SPARQL SELECT \.\., and read v"):
        suggest(error, "SELECT * FROM t JOIN (SPARQL SELECT ?s { ?s ?p ?o }) g")
