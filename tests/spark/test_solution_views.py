"""SQL over views in SPARQL whose translation is not followed: from the solutions, with the rows that Spark has, after each commit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.errors import NotSupportedError
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.report import SketchReport

_numbers = itertools.count()
PREFIX = "PREFIX x: <http://x/> "
DATA = """INSERT DATA {
  x:a x:kind x:k1 ; x:price 5 . x:b x:kind x:k1 ; x:price 2.5 . x:c x:kind x:k2 ; x:price 7 .
  x:d x:kind x:k3 ; x:price "none" . x:e x:kind x:k3 . x:f x:kind "k'4"@en ; x:price 1e0 .
}"""
VIEWS = {
    "sums": "SELECT ?kind (SUM(?price) AS ?whole) (AVG(?price) AS ?mean) WHERE { ?it x:kind ?kind ; x:price ?price } GROUP BY ?kind",
    "most": "SELECT ?kind (MAX(?price) AS ?highest) (MIN(?price) AS ?lowest) WHERE { ?it x:kind ?kind ; x:price ?price } GROUP BY ?kind",
    "twice": "SELECT ?it (?price * 2 AS ?double) WHERE { ?it x:kind ?k OPTIONAL { ?it x:price ?price } FILTER regex(str(?it), '[a-e]$') }",
}
QUERIES = [
    "SELECT * FROM {sums}",
    "SELECT kind, whole FROM {sums} WHERE whole > '5' OR whole IS NULL ORDER BY kind DESC LIMIT 3",
    "SELECT count(*) AS n, count(whole) AS known, max(mean) AS mean, min(kind) AS first FROM {sums}",
    "SELECT s.kind, m.highest, m.lowest FROM {sums} s JOIN {most} m ON s.kind = m.kind WHERE m.highest <> m.lowest",
    "SELECT a.it, b.double FROM {twice} a LEFT JOIN {twice} b ON a.it = b.it AND b.double IS NOT NULL",
    "SELECT double, count(*) AS n FROM {twice} GROUP BY double HAVING count(*) >= 1",
    "SELECT kind FROM {sums} UNION SELECT it FROM {twice}",
    "SELECT kind FROM {sums} WHERE kind IN (SELECT kind FROM {most} WHERE lowest < '5')",
    "WITH some AS (SELECT kind, whole FROM {sums} WHERE kind LIKE '%k1') SELECT upper(kind) AS k, length(whole) AS l FROM some",
    "SELECT q FROM {over}",
]
UPDATES = [
    "INSERT DATA { x:g x:kind x:k2 ; x:price 1e1 . x:h x:kind x:k1 ; x:price 3 }",
    "DELETE DATA { x:a x:price 5 . x:d x:price 'none' }",
    "DELETE { ?it x:price ?p } INSERT { ?it x:price 4 } WHERE { ?it x:kind x:k1 ; x:price ?p }",
]


class Views:
    """Views over a graph of their own; ``plain`` is a connection that answers nothing."""

    def __init__(self, connection: imp_driver.Connection, plain: imp_driver.Connection, graph: str) -> None:
        self.connection, self.plain, self.graph = connection, plain, graph
        self.names = {name: f"{name}_{graph}" for name in (*VIEWS, "over")}
        for name, text in VIEWS.items():
            connection.execute(f"CREATE INCREMENTAL VIEW {self.names[name]} POLICY INCREMENTAL AS SPARQL {PREFIX} {text}")
        connection.execute(f"CREATE VIEW {self.names['over']} AS SELECT concat(kind, '/', mean) AS q FROM {self.names['sums']}")

    def ask(self, text: str, parameters: Any = None) -> tuple[list[tuple[object, ...]], SketchReport]:
        with self.connection.execute(text.format_map(self.names), parameters) as cursor:
            assert cursor.sketch_report is not None
            return cursor.fetchall(), cursor.sketch_report

    def expected(self, text: str) -> list[tuple[object, ...]]:
        with self.plain.execute(text.format_map(self.names)) as cursor:
            return cursor.fetchall()


@pytest.fixture(scope="module")
def views(warehouse: Path) -> Iterator[Views]:
    graph = f"priced{next(_numbers)}"
    with (
        imp_driver.connect(warehouse=str(warehouse), graph=graph) as connection,
        imp_driver.connect(warehouse=str(warehouse), graph=graph, sketch="off") as plain,
    ):
        connection.execute(f"CREATE GRAPH {graph}")
        connection.execute(f"SPARQL {PREFIX} {DATA}")
        yield Views(connection, plain, graph)


def test_queries_over_them_follow_each_commit_and_have_the_rows_of_spark(views: Views) -> None:
    for update in (None, *UPDATES):
        if update is not None:
            views.connection.execute(f"SPARQL {PREFIX} {update}")
        for number, text in enumerate(QUERIES if update in (None, UPDATES[-1]) else QUERIES[:2]):
            rows, report = views.ask(text)
            assert report.served_by is ServedBy.STATE, (text, report)
            if update is not None and number == 0:
                assert report.decision is Decision.MAINTAINED
                assert report.delta_rows > 0
            wanted = views.expected(text)
            in_order = list if "ORDER BY" in text else lambda found: sorted(found, key=repr)
            assert in_order(rows) == in_order(wanted), text


def test_parameters_are_values_of_sql(views: Views) -> None:
    rows, report = views.ask("SELECT count(*) FROM {sums} WHERE kind = ?", ("http://x/k1",))
    assert rows == [(1,)]
    assert report.served_by is ServedBy.STATE
    assert report.sketch_id is not None


def test_beside_a_table_spark_computes_the_translation_and_the_report_says_why(views: Views) -> None:
    views.connection.execute(f"CREATE TABLE named_{views.graph} AS SELECT 'http://x/k1' AS kind, 'one' AS name")
    for text in (
        f"SELECT n.name, s.whole FROM named_{views.graph} n JOIN {{sums}} s ON s.kind = n.kind",
        f"SELECT n.name, s.whole FROM {{sums}} s JOIN named_{views.graph} n ON s.kind = n.kind",
    ):
        rows, report = views.ask(text)
        assert rows == views.expected(text)
        assert report.served_by is ServedBy.SPARK
        assert report.not_answered is not None
        assert report.not_answered.reason is Reason.VIEW
        assert f"named_{views.graph} is no view in SPARQL" in report.not_answered.detail


def test_strict_ones_are_made_where_their_solutions_are_followed(views: Views) -> None:
    name = f"strict_{views.graph}"
    views.connection.execute(f"CREATE INCREMENTAL VIEW {name} POLICY STRICT AS SPARQL {PREFIX} {VIEWS['sums']}")
    rows, report = views.ask(f"SELECT kind FROM {name}")
    assert report.served_by is ServedBy.STATE
    assert sorted(rows) == sorted(views.expected("SELECT kind FROM {sums}"))
    triples = "CONSTRUCT { ?it x:double ?twice } WHERE { ?it x:price ?price BIND (?price * 2 AS ?twice) }"
    with pytest.raises(NotSupportedError, match="is not made"):
        views.connection.execute(f"CREATE INCREMENTAL VIEW no_{name} POLICY STRICT AS SPARQL {PREFIX} {triples}")


def test_a_view_that_became_another_one_has_its_rows(views: Views) -> None:
    name = f"altered_{views.graph}"
    views.connection.execute(f"CREATE INCREMENTAL VIEW {name} AS SPARQL {PREFIX} {VIEWS['sums']}")
    assert views.ask(f"SELECT kind FROM {name}")[1].served_by is ServedBy.STATE
    views.connection.execute(f"ALTER VIEW {name} AS SELECT 'a' AS kind, 'b' AS whole, 'c' AS mean")
    assert views.ask(f"SELECT * FROM {name}")[0] == [("a", "b", "c")]
    views.connection.execute(f"CREATE OR REPLACE INCREMENTAL VIEW {name} AS SPARQL {PREFIX} {VIEWS['most']}")
    assert sorted(views.ask(f"SELECT * FROM {name}")[0], key=repr) == sorted(views.expected("SELECT * FROM {most}"), key=repr)


def test_under_another_graph_the_translation_is_what_counts(views: Views, warehouse: Path) -> None:
    """The text of a view may leave its graph to the option of the connection that made it."""
    other = f"other_{views.graph}"
    with imp_driver.connect(warehouse=str(warehouse), graph=other) as connection:
        connection.execute(f"CREATE GRAPH {other}")
        with connection.execute(f"SELECT * FROM {views.names['sums']}") as cursor:
            assert sorted(cursor.fetchall(), key=repr) == sorted(views.expected("SELECT * FROM {sums}"), key=repr)


def test_a_graph_of_the_same_name_in_another_schema_is_another_one(views: Views, warehouse: Path) -> None:
    schema, sums = f"elsewhere_{views.graph}", f"spark_catalog.default.{views.names['sums']}"
    with imp_driver.connect(warehouse=str(warehouse), graph=views.graph) as connection:
        with connection.execute(f"SELECT kind FROM {sums}") as cursor:
            wanted = sorted(cursor.fetchall())
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"USE {schema}")
        connection.execute(f"CREATE GRAPH {views.graph}")
        connection.execute(f"SPARQL {PREFIX} INSERT DATA {{ x:z x:kind x:other ; x:price 1 }}")
        with connection.execute(f"SELECT kind FROM {sums}") as cursor:
            assert sorted(cursor.fetchall()) == wanted
            assert cursor.sketch_report is not None
            assert cursor.sketch_report.served_by is ServedBy.SPARK


def test_how_they_are_followed_is_told(views: Views) -> None:
    rows, _ = views.ask("SHOW INCREMENTAL VIEWS")
    told = next(row for row in rows if str(row[0]).endswith(f".{views.names['sums']}"))
    assert any("solutions of its SPARQL" in str(value) for value in told)
    rows, _ = views.ask("EXPLAIN INCREMENTAL SELECT * FROM {sums} WHERE whole > '1'")
    assert "from the solutions" in str(rows)
