"""Classes of statements, their targets, and positions in texts with markers."""

from __future__ import annotations

import gc
import weakref

import pytest
from sqlglot import exp

from imp_driver.parse.cache import TextCache
from imp_driver.parse.commands import CommandKind
from imp_driver.parse.statement import DIALECT, Statement, StatementKind, may_have_markers, parse, per_statement


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("select 1", StatementKind.QUERY, None),
        ("-- note\n  SELECT a FROM t", StatementKind.QUERY, None),
        ("with q as (select 1) select * from q", StatementKind.QUERY, None),
        ("from t select a", StatementKind.QUERY, None),
        ("insert into a.b (x) values (?)", StatementKind.CHANGE, ("a", "b")),
        ("insert overwrite table t select 1", StatementKind.CHANGE, ("t",)),
        ("update `odd name` set x = 1", StatementKind.CHANGE, ("odd name",)),
        ("delete from t where a = 1", StatementKind.CHANGE, ("t",)),
        ("merge into t using s on t.a = s.a when matched then delete", StatementKind.CHANGE, ("t",)),
        ("create table t (a int)", StatementKind.DEFINITION, None),
        ("restore table t to version as of 3", StatementKind.DEFINITION, None),
        ("set spark.sql.ansi.enabled = true", StatementKind.DEFINITION, None),
        ("show tables", StatementKind.INSPECTION, None),
        ("describe history t", StatementKind.INSPECTION, None),
        ("", StatementKind.DEFINITION, None),
        ("select 'unclosed", StatementKind.DEFINITION, None),
    ],
)
def test_kind_and_target(text: str, kind: StatementKind, target: tuple[str, ...] | None) -> None:
    statement = parse(text)
    assert (statement.kind, statement.target) == (kind, target)


@pytest.mark.parametrize(
    ("text", "kind", "argument"),
    [
        ("SHOW SKETCHES", CommandKind.SHOW, ""),
        (" show  sketches ; ", CommandKind.SHOW, ""),
        ("Advise Sketches;", CommandKind.ADVISE, ""),
        ("explain sketch select a\nfrom t;", CommandKind.EXPLAIN, "select a\nfrom t"),
        ("DROP SKETCH '0a1b2c'", CommandKind.DROP, "0a1b2c"),
        ("drop state ALL;", CommandKind.DROP, "ALL"),
        ("DROP SKETCH", CommandKind.UNKNOWN, "DROP SKETCH"),
        ("EXPLAIN  SKETCH ", CommandKind.UNKNOWN, "EXPLAIN  SKETCH"),
        ("SHOW STATES LIKE 'x'", CommandKind.UNKNOWN, "SHOW STATES LIKE 'x'"),
        ("advise", CommandKind.UNKNOWN, "advise"),
        ("ADVISE FOO", CommandKind.UNKNOWN, "ADVISE FOO"),
        ("CLUSTER SKETCH", CommandKind.UNKNOWN, "CLUSTER SKETCH"),
        ("drop sketch all", CommandKind.DROP, "all"),
        ("SPARQL SELECT ?x WHERE { ?x ?p 'a' } # end;\n ; ", CommandKind.SPARQL, "SELECT ?x WHERE { ?x ?p 'a' } # end;"),
        ("-- a note\n /* two */ # three\nsparql\nASK {}", CommandKind.SPARQL, "ASK {}"),
        ("Explain -- why\n Sparql ASK { ?a ?b ?c ; ?d ?e };", CommandKind.EXPLAIN_SPARQL, "ASK { ?a ?b ?c ; ?d ?e }"),
        ("SPARQL", CommandKind.SPARQL, ""),
        ("create graph a.`b c` comment 'x';", CommandKind.CREATE_GRAPH, "create graph a.`b c` comment 'x';"),
        ("DROP GRAPH IF EXISTS g", CommandKind.DROP_GRAPH, "DROP GRAPH IF EXISTS g"),
        ("show graphs;", CommandKind.SHOW_GRAPHS, ""),
        ("SHOW GRAPHS IN x", CommandKind.UNKNOWN, "SHOW GRAPHS IN x"),
        ("cluster sketch table `a b`.t by (g)\n files 3 ;", CommandKind.CLUSTER, "`a b`.t by (g)\n files 3"),
    ],
)
def test_commands(text: str, kind: CommandKind, argument: str) -> None:
    command = parse(text).command
    assert command is not None
    assert (command.kind, command.argument) == (kind, argument)


def test_explain_of_spark_is_not_a_command() -> None:
    assert parse("EXPLAIN SELECT 1").kind is StatementKind.INSPECTION


def test_several_statements_have_no_tree() -> None:
    assert parse("select 1; select 2").tree is None


def test_markers_do_not_shift_positions() -> None:
    text = "select ?, '?' /* ? */, b from `my t` where a = ? and c > ?"
    statement = parse(text)
    assert statement.tree is not None
    table = statement.tree.find(exp.Table)
    assert table is not None
    place = table.this.meta
    assert text[statement.position_in_text(place["start"]) : statement.position_in_text(place["end"]) + 1] == "`my t`"
    assert len(statement.markers) == 3


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'it''s'", "it's"),
        ("''''", "'"),
        ("'a\"\"b'", 'a""b'),
        ('"a""b\'\'c"', "a\"b''c"),
        (r"'it\'s'", "it's"),
        (r"'\''''", "''"),
        (r"'a\\'", "a\\"),
        ("'?'", "?"),
        ("'it''s ?'", "it's ?"),
    ],
)
def test_strings_mean_what_spark_reads(literal: str, value: str) -> None:
    """The values are those of Spark 4.2; tests/spark/test_expressions.py asks it."""
    statement = parse(f"select {literal}, ? from t")
    assert statement.tree is not None
    [first, _] = statement.tree.expressions
    assert isinstance(first, exp.Literal)
    assert (first.is_string, first.this, len(statement.markers)) == (True, value, 1)
    again = parse(f"select {first.sql(dialect=DIALECT)}").tree
    assert again is not None
    assert again.expressions[0].this == value


def test_a_text_is_parsed_once() -> None:
    assert parse("select a from t") is parse("select a from t")


@pytest.mark.parametrize("text", ["VALUES (1)", "values (1, 'a'), (?, ?) order by 1", "(VALUES (1)) LIMIT 1"])
def test_bare_values_are_a_query(text: str) -> None:
    assert parse(text).kind is StatementKind.QUERY


VALUES = ", ".join(f"({number}, 'it''s {number} (of many)')" for number in range(5_000))


@pytest.mark.parametrize(
    ("beginning", "target"),
    [
        ("INSERT INTO lake.events VALUES", ("lake", "events")),
        ("insert into table `odd name`.t (id, text) values", ("odd name", "t")),
        (f"INSERT /* {'why ' * 1_000} */ INTO t VALUES", ("t",)),
        ("INSERT OVERWRITE TABLE t VALUES", ("t",)),
        ("MERGE WITH SCHEMA EVOLUTION INTO c.s.t USING (VALUES", ("c", "s", "t")),
    ],
)
def test_of_a_long_change_the_target_alone_is_read(beginning: str, target: tuple[str, ...]) -> None:
    statement = parse(f"{beginning} {VALUES}")
    assert (statement.kind, statement.target, statement.tree) == (StatementKind.CHANGE, target, None)


def test_a_long_change_whose_target_is_not_found_has_none() -> None:
    assert parse(f"DELETE '{VALUES.replace(chr(39), '')}'").target is None


def test_texts_are_remembered_as_long_as_there_is_room() -> None:
    asked: list[str] = []
    cache = TextCache(lambda text: asked.append(text) or text.upper(), each=10, most=100)  # type: ignore[func-returns-value]
    for text in ("four", "five", "four", "some", "five", "much longer than there is room for", "four"):
        assert cache(text) == text.upper()
    assert asked == ["four", "five", "some", "five", "much longer than there is room for", "four"]
    assert len(cache) == 1


def test_what_is_found_out_about_a_statement_goes_with_it() -> None:
    asked: list[str] = []

    @per_statement
    def length(statement: Statement) -> int:
        asked.append(statement.text)
        return len(statement.text)

    statement = Statement("SELECT 1", StatementKind.QUERY)
    gone = weakref.ref(statement)
    assert (length(statement), length(statement), asked) == (8, 8, ["SELECT 1"])
    del statement
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("beginning", "target"), [("INSERT INTO table VALUES", ("table",)), ("INSERT INTO TABLE.x VALUES", ("TABLE", "x"))]
)
def test_a_table_may_be_called_table(beginning: str, target: tuple[str, ...]) -> None:
    assert parse(f"{beginning} {VALUES}").target == target


def test_sparql_has_no_markers() -> None:
    for text in ("SPARQL SELECT $x { $x <a:b> 1 }", "SPARQL ASK {}", "EXPLAIN SPARQL ASK { ?x ?y :z }"):
        assert not may_have_markers(parse(text), {"x": 1})
    assert may_have_markers(parse("SHOW STATES"), {"x": 1})
