"""What DESCRIBE and SHOW tell of recursive views, with results as Spark gives them: their own query, and of other views what is there."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pytest

from imp_driver.commands.own_query import with_own_queries
from imp_driver.commands.typed_views import typed_view
from imp_driver.errors import NotSupportedError
from imp_driver.parse.views import NewView, read_new_view
from imp_driver.ports import TableDefinition
from imp_driver.values.execution import Execution
from imp_driver.values.view_policy import PROPERTY, PROVENANCE, QUERY, SHOWN, SPARQL, recursive_query
from tests.soundness.engine import DuckSession, TableStream, Warehouse, drained

QUERY_TEXT = 'WITH RECURSIVE p(a) AS (SELECT 1 UNION SELECT a + 1 FROM p WHERE a < length("x\ny")) SELECT a FROM p'
FIELDS = [{"name": "a", "type": "integer", "nullable": True, "metadata": {"comment": "it's"}}]
PROPERTIES = {PROPERTY: "STRICT", QUERY: QUERY_TEXT, PROVENANCE: "true"}


def view(text: str) -> tuple[NewView, str]:
    """Return a recursive view with what the catalog has for its query."""
    wanted = typed_view(read_new_view(text), DuckSession(Warehouse()), Execution(text), str)
    return wanted, wanted.text[wanted.text.index(SHOWN) :]


_, INTERNAL = view(f"CREATE INCREMENTAL VIEW v AS {QUERY_TEXT}")


def definition(name: tuple[str, ...]) -> TableDefinition | None:
    if name[-1] != "v":
        return TableDefinition(json.dumps({"fields": []}), (), {QUERY: QUERY_TEXT}, None, None)
    return TableDefinition(json.dumps({"fields": FIELDS}), (), PROPERTIES, "all", recursive_query(INTERNAL, PROPERTIES))


def shown(statement: str, **columns: Sequence[str | None]) -> list[dict[str, object]]:
    rows = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    return drained(with_own_queries(statement, TableStream(rows.schema, rows.to_batches()), definition))


@pytest.mark.parametrize("statement", ["DESC EXTENDED v", "describe table formatted `s`.`v`;"])
def test_described(statement: str) -> None:
    rows = shown(statement, col_name=["a", "View Text", None], data_type=["int", INTERNAL, None])
    assert [row["data_type"] for row in rows] == ["int", QUERY_TEXT, None]


def test_described_as_json() -> None:
    (row,) = shown("DESCRIBE EXTENDED v AS JSON", json_metadata=[json.dumps({"view_text": INTERNAL, "name": "v"})])
    assert json.loads(str(row["json_metadata"])) == {"view_text": QUERY_TEXT, "name": "v"}


def test_the_statement_that_makes_it() -> None:
    made = f"CREATE VIEW c.s.v (\n  a)\nTBLPROPERTIES (\n  '{QUERY}' = 'x')\nAS {INTERNAL}\n"
    (row,) = shown("SHOW CREATE TABLE s.v", createtab_stmt=[made])
    wanted = read_new_view(str(row["createtab_stmt"]))
    assert (wanted.name, wanted.query, wanted.policy.name, wanted.has_provenance) == (("c", "s", "v"), QUERY_TEXT, "STRICT", True)
    assert (wanted.columns, wanted.comment) == ("(\n  `a` COMMENT 'it\\'s')", "COMMENT 'all'")


def test_the_statement_that_makes_it_has_its_text_in_sparql() -> None:
    sparql = "SPARQL SELECT ?s FROM <people> { ?s <http://x/p>+ 'it''s;' }"
    found = TableDefinition(
        json.dumps({"fields": FIELDS}), (), {**PROPERTIES, SPARQL: sparql}, "all", recursive_query(INTERNAL, PROPERTIES)
    )
    made = f"CREATE VIEW c.s.v (\n  a)\nAS {INTERNAL}\n"
    rows = pa.table({"createtab_stmt": pa.array([made], pa.string())})
    (row,) = drained(with_own_queries("SHOW CREATE TABLE s.v", TableStream(rows.schema, rows.to_batches()), lambda _: found))
    assert QUERY_TEXT not in str(row["createtab_stmt"])
    wanted = read_new_view(str(row["createtab_stmt"]))
    assert (wanted.name, wanted.sparql, wanted.query, wanted.policy.name) == (("c", "s", "v"), sparql, "", "STRICT")
    assert wanted.columns == "(\n  `a` COMMENT 'it\\'s')"


def test_listed_views_have_each_its_own() -> None:
    texts = [f"View Text: {INTERNAL}\nSchema: x", f"View Text: {INTERNAL}\nSchema: y"]
    rows = shown("SHOW TABLE EXTENDED LIKE '*'", namespace=["s", "s"], tableName=["v", "other"], information=texts)
    assert [row["information"] for row in rows] == [f"View Text: {QUERY_TEXT}\nSchema: x", texts[1]]


@pytest.mark.parametrize("statement", ["DESCRIBE EXTENDED other", "DESC EXTENDED v a", "SHOW TBLPROPERTIES v", "SHOW CREATE TABLE other"])
def test_all_else_is_as_spark_tells_it(statement: str) -> None:
    assert shown(statement, value=[INTERNAL]) == [{"value": INTERNAL}]


def test_a_view_whose_text_was_changed_since_is_none_any_more() -> None:
    assert recursive_query("SELECT 1", PROPERTIES) is None
    assert recursive_query(INTERNAL, {QUERY: QUERY_TEXT}) is None
    assert recursive_query(None, PROPERTIES) is None


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("WITH RECURSIVE p(a) AS (SELECT 1 UNION SELECT a + 1 FROM p LIMIT 3) SELECT a FROM p", "LIMIT"),
        ("WITH RECURSIVE p(a) AS (SELECT 1 UNION SELECT a FROM p EXCEPT SELECT 2) SELECT a FROM p", "EXCEPT"),
        (
            "WITH RECURSIVE p(a) AS (SELECT 1 UNION SELECT a FROM p), q(a) AS (SELECT a FROM p UNION ALL SELECT a FROM q WHERE a < 3) "
            "SELECT a FROM q",
            "UNION ALL",
        ),
    ],
)
def test_recursions_of_other_forms_make_no_view(query: str, why: str) -> None:
    with pytest.raises(NotSupportedError, match=f"`v` is not made: .*{why}"):
        view(f"CREATE INCREMENTAL VIEW v AS {query}")
