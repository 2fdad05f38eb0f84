"""What a statement that was not understood may have meant, and SPARQL where SQL is expected."""

from __future__ import annotations

import pytest

from imp_driver.parse.commands import CommandKind, command_of
from imp_driver.parse.nearest import FORMS, nearest_form
from imp_driver.parse.sparql import has_sparql_inside, is_bare_sparql


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("SHOW SKETCH", "SHOW SKETCHES"),
        ("show  skeches;", "SHOW SKETCHES"),
        ("SHOW STATE", "SHOW STATES"),
        ("CREATE INCREMANTAL VIEW v AS SELECT 1", "CREATE INCREMENTAL VIEW <name> AS <query>"),
        ("CREATE OR REPLACE MATERIALISED VIEW v AS SELECT 1", "CREATE MATERIALIZED VIEW <name> AS <query>"),
        ("DROP INCREMENTAL VEW IF EXISTS v", "DROP INCREMENTAL VIEW <name>"),
        ("DROP SKETCHES ab", "DROP STATE <sketch_id>"),
        ("EXPLAIN SKETCH", "EXPLAIN SKETCH <query>"),
        ("CLUSTER SKETCH TABEL t BY a", "CLUSTER SKETCH TABLE <table> BY <column>"),
        ("SPARKQL SELECT ?s { ?s ?p ?o }", "SPARQL <query or update>"),
        ("BEGIN TRANSACTON", "START TRANSACTION"),
    ],
)
def test_near_misses(text: str, form: str) -> None:
    assert nearest_form(text) == form


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SHOW TABLE",
        "SHOW VIEW",
        "SELCT 1",
        "INSRT INTO t VALUES (1)",
        "CREATE TABEL t (a INT)",
        "DROP TABL t",
        "EXPLAIN SELEC 1",
        "ADVISE",
    ],
)
def test_what_is_rather_one_of_sparks_or_nothing_is_none(text: str) -> None:
    assert nearest_form(text) is None


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_a_statement_of_the_driver(form: str) -> None:
    text = form.replace("<query or update>", "SELECT ?s {}")
    for name, value in (("<query>", "SELECT 1"), ("<change>; ..", "DELETE FROM t"), ("<sketch_id>", "ab")):
        text = text.replace(name, value)
    command = command_of(text.replace("<", "").replace(">", ""))
    assert command is not None
    assert command.kind is not CommandKind.UNKNOWN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PREFIX x: <http://x/>\nSELECT * { ?s ?p ?o }", True),
        ("# all\nSELECT DISTINCT ?s WHERE { ?s ?p ?o }", True),
        ("SELECT (count(?s) AS ?n) { ?s ?p ?o }", True),
        ("select * from <g> { ?s ?p ?o }", True),
        ("ASK { ?s ?p ?o }", True),
        ("CONSTRUCT WHERE { ?s ?p ?o }", True),
        ("DESCRIBE <http://x/a>", True),
        ("INSERT DATA { <a> <b> <c> }", True),
        ("DELETE WHERE { ?s ?p ?o }", True),
        ("SPARQL SELECT ?s { ?s ?p ?o }", False),
        ("SELECT ? FROM t", False),
        ("SELECT * FROM t WHERE a = ?", False),
        ("SELECT (1 + ?) AS x FROM t", False),
        ("INSERT INTO t VALUES (?)", False),
        ("DESCRIBE t", False),
    ],
)
def test_sparql_without_its_word(text: str, expected: bool) -> None:
    assert is_bare_sparql(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM t JOIN (SPARQL SELECT ?s { ?s ?p ?o }) g ON t.a = g.s", True),
        ("SELECT a FROM t WHERE a IN (sparql\nPREFIX : <http://x/> SELECT ?s { ?s ?p ?o })", True),
        ("INSERT INTO t SPARQL SELECT ?s { ?s ?p ?o }", True),
        ("SPARQL SELECT ?s { ?s ?p 'SPARQL SELECT' }", False),
        ("SELECT 'SPARQL SELECT' FROM t -- SPARQL ASK", False),
        ("SELECT * FROM (sparql base)", False),
    ],
)
def test_sparql_within_sql(text: str, expected: bool) -> None:
    assert has_sparql_inside(text) is expected
