"""SPARQL through the driver: solutions that follow the graph's table, the same rows by Spark alone, views that SQL reads."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.sparql.given import Iri
from imp_driver.values.report import SketchReport

_numbers = itertools.count()
PREFIX = "PREFIX x: <http://x/> "
DATA = """INSERT DATA {
  x:a x:knows x:b ; x:age 30 ; x:name "Ann"@en .
  x:b x:knows x:c, x:d ; x:age 31.5 ; x:name "Bob" .
  x:c x:knows x:a ; x:age "old" .
  x:d x:name "Dan" .
}"""
QUERIES = [
    "SELECT ?s ?o ?age WHERE { ?s x:knows ?o OPTIONAL { ?s x:age ?age } }",
    "SELECT ?s WHERE { ?s x:knows ?o FILTER NOT EXISTS { ?o x:age ?age } }",
    "SELECT ?s ?n WHERE { ?s x:name ?n MINUS { ?s x:knows x:c } } ORDER BY DESC(?n)",
    "SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s x:knows ?o } GROUP BY ?s HAVING (COUNT(?o) > 1)",
    "SELECT (COUNT(*) AS ?n) (MAX(?age) AS ?oldest) WHERE { ?s x:age ?age FILTER (isNumeric(?age)) }",
    "SELECT ?v WHERE { { ?s x:age ?v FILTER (?v > 30) } UNION { ?s x:name ?v FILTER (lang(?v) = 'en') } }",
    "SELECT DISTINCT ?o WHERE { x:a x:knows+ ?o }",
    "ASK { x:a x:knows/x:knows x:d }",
    "ASK { ?s x:age ?age FILTER (?age > 31) }",
    "CONSTRUCT { ?o x:knownBy ?s } WHERE { ?s x:knows ?o }",
    "SELECT ?s ?p ?o WHERE { VALUES ?s { x:b x:d } ?s ?p ?o }",
]


@pytest.fixture(scope="module")
def graph(warehouse: Path) -> Iterator[imp_driver.Connection]:
    """A connection whose graph has DATA."""
    name = f"people{next(_numbers)}"
    with imp_driver.connect(warehouse=str(warehouse), graph=name) as connection:
        connection.execute(f"CREATE GRAPH {name}")
        connection.execute(f"SPARQL {PREFIX} {DATA}")
        yield connection


def _name(connection: imp_driver.Connection) -> str:
    with connection.execute("SHOW GRAPHS") as cursor:
        names = (str(row[0]).rsplit(".", 1)[-1] for row in cursor.fetchall())
        return next(name for name in names if name.startswith("people"))


def _ask(connection: imp_driver.Connection, text: str, parameters: Any = None) -> tuple[Counter[tuple[object, ...]], SketchReport]:
    with connection.cursor() as cursor:
        rows = Counter(cursor.execute(f"SPARQL {PREFIX} {text}", parameters).fetchall())
        assert cursor.sketch_report is not None
        return rows, cursor.sketch_report


def _both(connection: imp_driver.Connection, text: str) -> SketchReport:
    """Ask a query of what is kept and of Spark alone, whose rows must be the same."""
    rows, report = _ask(connection, text)
    with connection.cursor() as cursor:
        cursor.sketch = "off"
        plain = Counter(cursor.execute(f"SPARQL {PREFIX} {text}").fetchall())
        assert cursor.sketch_report is not None
        assert cursor.sketch_report.served_by is ServedBy.SPARK
    assert rows == plain, text
    return report


def test_queries_follow_updates_and_have_the_rows_that_spark_has(graph: imp_driver.Connection) -> None:
    every = [each for each in QUERIES if "knows+" not in each]
    assert {_both(graph, text).decision for text in every} == {Decision.CAPTURED}
    graph.execute(
        f"SPARQL {PREFIX} DELETE {{ ?s x:age ?a }} INSERT {{ ?s x:age ?b ; x:was ?a }} WHERE {{ ?s x:age ?a BIND(?a + 1 AS ?b) }}"
    )
    graph.execute(f"SPARQL {PREFIX} DELETE DATA {{ x:b x:knows x:c }}; INSERT DATA {{ x:d x:knows x:a ; x:age 7 }}")
    reports = [_both(graph, text) for text in every]
    assert {(each.decision, each.served_by) for each in reports} == {(Decision.MAINTAINED, ServedBy.STATE)}
    assert {each.executed_sql for each in reports} == {""}


def test_paths_are_followed_round_a_cycle(graph: imp_driver.Connection) -> None:
    text = "SELECT DISTINCT ?o WHERE { x:a x:knows+ ?o }"
    before, _ = _ask(graph, text)
    graph.execute(f"SPARQL {PREFIX} INSERT DATA {{ x:d x:knows x:e . x:e x:knows x:a }}")
    rows, report = _ask(graph, text)
    assert rows - before == Counter([("http://x/e",)])
    assert report.decision is Decision.MAINTAINED
    graph.execute(f"SPARQL {PREFIX} DELETE DATA {{ x:d x:knows x:e . x:e x:knows x:a }}")
    assert _ask(graph, text)[0] == before


def test_what_is_written_by_sql_counts_once(graph: imp_driver.Connection) -> None:
    text, name = "SELECT ?n WHERE { x:z x:name ?n }", _name(graph)
    assert _both(graph, text).decision is Decision.CAPTURED
    for _ in range(2):
        graph.execute(f"INSERT INTO {name} (s, p, o) VALUES ('<http://x/z>', '<http://x/name>', '\"Zoe\"')")
        assert _both(graph, text).served_by is ServedBy.STATE
    assert _ask(graph, text)[0] == Counter([("Zoe",)])
    graph.execute(f"DELETE FROM {name} WHERE s = '<http://x/z>'")
    assert _both(graph, text).decision is Decision.MAINTAINED
    assert _ask(graph, text)[0] == Counter()


def test_parameters_are_terms_of_variables(graph: imp_driver.Connection) -> None:
    text = "SELECT ?s ?n WHERE { ?s x:name ?n }"
    assert _ask(graph, text, {"s": Iri("http://x/d")})[0] == Counter([("http://x/d", "Dan")])
    assert _ask(graph, text, {"n": "Bob"})[0] == Counter([("http://x/b", "Bob")])
    assert _ask(graph, text, {"n": 'http://x/d" } DROP ALL #'})[0] == Counter()
    with pytest.raises(imp_driver.ProgrammingError, match=r"'m' is the name of no variable of the text, which has \?n, \?s"):
        _ask(graph, text, {"m": "Bob"})
    with pytest.raises(imp_driver.ProgrammingError, match="SPARQL has variables, and no markers"):
        _ask(graph, text, ["Bob"])


def test_a_transaction_reads_its_moment(graph: imp_driver.Connection, warehouse: Path) -> None:
    text = "SELECT ?n WHERE { x:t x:name ?n }"
    assert _ask(graph, text)[0] == Counter()
    graph.execute("BEGIN")
    try:
        assert _ask(graph, text)[0] == Counter()
        with imp_driver.connect(warehouse=str(warehouse), graph=_name(graph)) as other:
            other.execute(f"SPARQL {PREFIX} INSERT DATA {{ x:t x:name 'Tom' }}")
            assert _ask(other, text)[0] == Counter([("Tom",)])
        rows, report = _ask(graph, text)
        assert (rows, report.served_by) == (Counter(), ServedBy.SPARK)
        assert report.not_answered is not None
        assert report.not_answered.reason is Reason.OLD_VERSION
    finally:
        graph.execute("COMMIT")
    assert _ask(graph, text)[0] == Counter([("Tom",)])


def test_what_does_not_fit_is_computed_from_its_sql(graph: imp_driver.Connection, warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse), graph=_name(graph), memory=2_000, store="off") as small:
        rows, report = _ask(small, "SELECT ?s ?p ?o WHERE { ?s ?p ?o . ?s ?q ?r }")
    # Its SQL is a query like others, which states may answer.
    assert sum(rows.values()) > 20
    assert report.not_answered is not None
    assert report.not_answered.reason is Reason.STATE_TOO_LARGE


def test_terms_have_the_form_that_is_asked_for(graph: imp_driver.Connection, warehouse: Path) -> None:
    text = "SELECT ?age ?name WHERE { x:b x:was ?age ; x:name ?name }"
    graph.execute(f"SPARQL {PREFIX} INSERT DATA {{ x:b x:was 31.5 }}")
    found = {}
    for form in ("text", "typed", "n3"):
        with imp_driver.connect(warehouse=str(warehouse), graph=_name(graph), terms=form) as connection:
            (found[form],) = _ask(connection, text)[0]
        if form == "text":
            # Spark's own are compared by the other tests.
            continue
        # Who computes the rows makes no difference.
        with imp_driver.connect(warehouse=str(warehouse), graph=_name(graph), terms=form, sketch="off") as connection:
            rows, report = _ask(connection, text)
            assert (*rows,) == (found[form],)
            assert report.served_by is ServedBy.SPARK
            assert report.not_answered is not None
            assert report.not_answered.reason is Reason.SKETCH_OFF
    assert found == {
        "text": ("31.5", "Bob"),
        "typed": (Decimal("31.5"), "Bob"),
        "n3": ('"31.5"^^<http://www.w3.org/2001/XMLSchema#decimal>', '"Bob"'),
    }


def test_a_view_over_a_graph_is_followed_and_joined_by_sql(graph: imp_driver.Connection) -> None:
    view = f"acquaintance{next(_numbers)}"
    select = "SELECT ?who ?name ?other WHERE { ?who x:name ?name OPTIONAL { ?who x:knows ?other } }"
    graph.execute(f"CREATE INCREMENTAL VIEW {view} POLICY STRICT AS SPARQL {PREFIX} {select}")
    graph.execute(f"CREATE OR REPLACE TABLE {view}_city (person STRING, city STRING) USING DELTA")
    graph.execute(f"INSERT INTO {view}_city VALUES ('http://x/a', 'Ghent'), ('http://x/n', 'Bruges')")
    joined = f"SELECT v.name, c.city, count(v.other) AS n FROM {view} v JOIN {view}_city c ON c.person = v.who GROUP BY v.name, c.city"
    with graph.cursor() as cursor:
        assert cursor.execute(joined).fetchall() == [("Ann", "Ghent", 1)]
        cursor.execute(f"SPARQL {PREFIX} INSERT DATA {{ x:n x:name 'Nell' ; x:knows x:a, x:b }}")
        assert Counter(cursor.execute(f"SELECT * FROM {view}").fetchall()) == _ask(graph, select)[0]
        assert Counter(cursor.execute(joined).fetchall()) == Counter([("Ann", "Ghent", 1), ("Nell", "Bruges", 2)])
        cursor.execute(f"SELECT name FROM {view} WHERE other IS NULL")
        assert cursor.sketch_report is not None
        assert cursor.sketch_report.served_by is ServedBy.STATE


def test_a_view_with_numbers_is_followed_and_has_types(graph: imp_driver.Connection, warehouse: Path) -> None:
    view = f"grown{next(_numbers)}"
    select = "SELECT ?who (xsd:double(?age) AS ?years) WHERE { ?who x:age ?age FILTER (?age >= 30.5) }"
    with imp_driver.connect(warehouse=str(warehouse), graph=_name(graph), terms="typed") as connection, connection.cursor() as cursor:
        cursor.execute(
            f"CREATE INCREMENTAL VIEW {view} POLICY STRICT AS SPARQL PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {PREFIX} {select}"
        )
        before = cursor.execute(f"SELECT count(*), sum(years) FROM {view}").fetchall()
        cursor.execute(f"SPARQL {PREFIX} INSERT DATA {{ x:v x:age 40 . x:w x:age 30.25, 'old', 1e2 }}")
        [(count, years)] = cursor.execute(f"SELECT count(*), sum(years) FROM {view}").fetchall()
        assert cursor.sketch_report is not None
        assert (cursor.sketch_report.served_by, cursor.sketch_report.decision) == (ServedBy.STATE, Decision.MAINTAINED)
        assert (count, years) == (before[0][0] + 2, before[0][1] + 140)
        cursor.execute(f"SPARQL {PREFIX} DELETE WHERE {{ x:v x:age ?a }}; DELETE WHERE {{ x:w x:age ?a }}")
        assert cursor.execute(f"SELECT count(*), sum(years) FROM {view}").fetchall() == before


def test_what_has_another_value_each_time_is_computed_each_time(graph: imp_driver.Connection) -> None:
    first, report = _ask(graph, "SELECT (NOW() AS ?now) WHERE { x:a x:knows x:b }")
    assert (report.decision, report.served_by) == (Decision.CAPTURED, ServedBy.STATE)
    assert _ask(graph, "SELECT (NOW() AS ?now) WHERE { x:a x:knows x:b }")[0] != first
    assert len(_ask(graph, "SELECT (UUID() AS ?u) WHERE { ?s x:name ?n }")[0]) > 2


def test_explain_tells_what_is_kept_and_what_spark_would_run(graph: imp_driver.Connection) -> None:
    with graph.cursor() as cursor:
        lines = [str(row[0]) for row in cursor.execute(f"EXPLAIN SPARQL {PREFIX} SELECT ?o WHERE {{ x:a x:knows ?o }}").fetchall()]
    assert lines[0].startswith("Answered from solutions that follow the graphs: ")
    assert any(line.endswith(": <http://x/a> <http://x/knows> ?") for line in lines)
    assert lines[-1].startswith("Spark alone would run: SELECT ")


def test_errors_say_what_and_where(graph: imp_driver.Connection) -> None:
    for text, error, told in [
        ("SELECT ?s WHERE { ?s x:knows }", imp_driver.ProgrammingError, r"line 1, column \d+: expected"),
        ("SELECT ?s FROM <nowhere> WHERE { ?s ?p ?o }", imp_driver.ProgrammingError, "There is no graph nowhere"),
        ("SELECT ?s WHERE { SERVICE <http://x/> { ?s ?p ?o } }", imp_driver.NotSupportedError, "SERVICE"),
    ]:
        with pytest.raises(error, match=told):
            _ask(graph, text)
