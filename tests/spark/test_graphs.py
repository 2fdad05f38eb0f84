"""Graphs in Delta tables: made, changed by SPARQL in one commit each, loaded from files, and made of other tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from rich.console import Console

import imp_driver
from imp_driver.changes import Changes
from imp_driver.cli import graph_load
from imp_driver.cli.main import _parser
from imp_driver.commands.graph_updates import GraphUpdates
from imp_driver.delta.tables import DeltaTables
from imp_driver.snapshot.versions import ReadTransaction
from imp_driver.spark.local import open_session
from imp_driver.sparql.algebra import Bgp, Pattern, Project, Source, Variable
from imp_driver.sparql.terms import Term
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options

_numbers = itertools.count()
XSD = "http://www.w3.org/2001/XMLSchema#"
Rows = set[tuple[str, str, str, str | None]]


@pytest.fixture
def graph() -> str:
    return f"graph{next(_numbers)}"


@pytest.fixture
def cursor(warehouse: Path, graph: str) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), graph=graph) as connection:
        yield connection.cursor()


def _triples(cursor: imp_driver.Cursor, graph: str) -> Rows:
    rows = cursor.execute(f"SELECT s, p, o, g FROM {graph}").fetchall()
    assert len(rows) == len(set(rows))
    return set(rows)


def _versions(cursor: imp_driver.Cursor, graph: str) -> int:
    return len(cursor.execute(f"DESCRIBE HISTORY {graph}").fetchall())


def test_data_is_a_set_and_what_changes_nothing_makes_no_commit(cursor: imp_driver.Cursor, graph: str) -> None:
    cursor.execute(f"CREATE GRAPH {graph} COMMENT 'of a test'")
    cursor.execute('SPARQL INSERT DATA { <a:a> <a:p> 5, "x\\ny"@EN, "it\'s \\"q\\"" . GRAPH <a:g> { <a:a> <a:p> -1e400 } } # ;')
    assert cursor.rowcount == 4
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.version == 1
    # Once with insertions alone, once with deletions alone, once with both.
    for text in (
        'INSERT DATA { <a:a> <a:p> 5 . <a:a> <a:p> "x\\ny"@en }',
        'DELETE DATA { <a:a> <a:p> "05"^^<http://www.w3.org/2001/XMLSchema#integer> . GRAPH <a:h> { <a:a> <a:p> 5 } }',
        "COPY DEFAULT TO DEFAULT",
    ):
        cursor.execute(f"SPARQL {text}")
        assert cursor.rowcount == 0
    cursor.execute("SPARQL DELETE DATA { <a:a> <a:p> 5 . <a:a> <a:q> 5 }; INSERT DATA { <a:a> <a:q> <a:b>, true }")
    assert cursor.rowcount == 3
    assert _versions(cursor, graph) == 4
    details = cursor.execute(f"SELECT o, g, kind, lexical, datatype, language, number FROM {graph} ORDER BY o, g").fetchall()
    assert details == [
        ('"-1e400"^^<http://www.w3.org/2001/XMLSchema#double>', "<a:g>", "literal", "-1e400", f"{XSD}double", None, float("-inf")),
        ('"it\'s "q""', None, "literal", 'it\'s "q"', f"{XSD}string", None, None),
        ('"true"^^<http://www.w3.org/2001/XMLSchema#boolean>', None, "literal", "true", f"{XSD}boolean", None, None),
        ('"x\ny"@en', None, "literal", "x\ny", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en", None),
        ("<a:b>", None, "iri", "a:b", None, None, None),
    ]
    listed = cursor.execute("SHOW GRAPHS").fetchall()
    assert (f"spark_catalog.default.{graph}", "triples", 5, 3, "of a test") in listed
    cursor.execute("SPARQL CLEAR GRAPH <a:g>")
    assert cursor.rowcount == 1
    cursor.execute("SPARQL CLEAR ALL")
    assert cursor.rowcount == 4
    assert _triples(cursor, graph) == set()
    cursor.execute(f"DROP GRAPH {graph}")
    assert graph not in {row[1] for row in cursor.execute("SHOW TABLES").fetchall()}


def test_what_is_no_graph_is_told(cursor: imp_driver.Cursor, graph: str) -> None:
    with pytest.raises(imp_driver.ProgrammingError, match=f"There is no graph {graph}: CREATE GRAPH `{graph}`"):
        cursor.execute("SPARQL INSERT DATA { <a:a> <a:p> 1 }")
    cursor.execute(f"CREATE TABLE {graph} (s STRING, p STRING, o STRING, g STRING) USING DELTA")
    for text in (f"DROP GRAPH {graph}", "SPARQL CLEAR DEFAULT", f"CREATE GRAPH IF NOT EXISTS {graph}", f"CREATE GRAPH {graph}"):
        with pytest.raises(imp_driver.ProgrammingError, match=r"no property imp\.graph"):
            cursor.execute(text)
    cursor.execute("DROP GRAPH IF EXISTS no_such_graph")
    cursor.execute("SPARQL LOAD SILENT <no_such_file.ttl>")
    assert cursor.rowcount == 0


def test_deletions_and_insertions_by_a_pattern_are_one_commit(
    engine: imp_driver.Connection, cursor: imp_driver.Cursor, graph: str, warehouse: Path
) -> None:
    cursor.execute(f"CREATE GRAPH {graph}")
    cursor.execute("SPARQL INSERT DATA { <a:a> <a:p> 1 . <a:b> <a:p> 2 . <a:c> <a:q> 2 }")
    source = DeltaTables()
    session = open_session(Options(warehouse=str(warehouse)))
    changes = Changes(session, source, ReadTransaction(source, None), lambda: None)

    def solutions(pattern: Pattern, execution: Execution) -> Sequence[Sequence[Term | None]]:
        """Match one triple, as the slow twin of what answers queries."""
        assert isinstance(pattern, Project)
        bgp = pattern.pattern
        assert isinstance(bgp, Bgp)
        [triple] = bgp.triples
        found = []
        for row in sorted(_triples(cursor, graph)):
            bound = {node: term for node, term in zip(triple.nodes, row, strict=False) if isinstance(node, Variable)}
            if all(isinstance(node, Variable) or node == term for node, term in zip(triple.nodes, row, strict=False)):
                found.append([bound.get(name) for name in pattern.variables])
        return found

    updates = GraphUpdates(session, changes, solutions)
    text = "DELETE { ?s <a:p> ?o } INSERT { ?s <a:p> 1 . ?o <a:p> ?s . ?s <a:r> [], ?none } WHERE { ?s <a:p> ?o }"
    outcome = updates.run_text(text, Source(graph), Execution(text))
    # <a:a> <a:p> 1 is deleted and inserted, and stays; a literal is no subject, and what is unbound makes no triple.
    assert (outcome.rowcount, outcome.report.version) == (4, 2)
    rows = _triples(cursor, graph)
    one, two = (f'"{number}"^^<{XSD}integer>' for number in (1, 2))
    known = {("<a:a>", "<a:p>", one, None), ("<a:b>", "<a:p>", one, None), ("<a:c>", "<a:q>", two, None)}
    fresh = rows - known
    assert rows >= known
    assert {row[:2] for row in fresh} == {("<a:a>", "<a:r>"), ("<a:b>", "<a:r>")}
    assert len({row[2] for row in fresh if row[2].startswith("_:b")}) == 2
    for text in ("DELETE { ?s <a:p> ?o } INSERT { ?s <a:p> ?o } WHERE { ?s <a:p> ?o }", "DELETE WHERE { ?s <a:none> ?o }"):
        assert updates.run_text(text, Source(graph), Execution(text)).rowcount == 0
    both = "DELETE { ?s <a:none> ?o } INSERT { ?s <a:p> ?o } WHERE { ?s <a:p> ?o }"
    assert updates.run_text(both, Source(graph), Execution(both)).rowcount == 0
    assert _versions(cursor, graph) == 3


def test_files_are_loaded_by_statement_and_by_command(
    cursor: imp_driver.Cursor, graph: str, warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.ttl").write_text('<a:a> <a:p> <b>, "1"@DE, _:x . _:x <a:q> 1.50 .\n<a:a> <a:p> "1"@de .')
    (tmp_path / "b.nq").write_text("_:x <a:q> <a:b> <a:g> .\n_:x <a:q> <a:b> <a:g> .\n<a:a> <a:p> <a:c> .\n")
    arguments = [graph, str(tmp_path / "a.ttl"), str(tmp_path / "b.nq"), "--graph"]

    def load() -> None:
        assert graph_load.run(_parser().parse_args(["load", f"imp:///{warehouse}", *arguments]), Console()) == 0

    load()
    assert f"{graph}: 6 of 8 triples are new" in capsys.readouterr().out
    rows = _triples(cursor, graph)
    assert {row for row in rows if "_:" not in row[0] + row[2]} == {
        ("<a:a>", "<a:p>", f"<{(tmp_path / 'b').as_uri()}>", None),
        ("<a:a>", "<a:p>", '"1"@de', None),
        ("<a:a>", "<a:p>", "<a:c>", None),
    }
    assert {row[1:] for row in rows if row[0].startswith("_:x_")} == {
        ("<a:q>", f'"1.50"^^<{XSD}decimal>', None),
        ("<a:q>", "<a:b>", "<a:g>"),
    }
    assert len({row[0] for row in rows if row[0].startswith("_:")}) == 2
    history = cursor.execute(f"DESCRIBE HISTORY {graph}").fetch_arrow_table().to_pylist()
    # Of two first loads at the same time one is to fail.
    assert [(each["operation"], each["isBlindAppend"]) for each in history] == [("WRITE", False), ("CREATE TABLE", True)]
    load()
    assert f"{graph}: 3 of 8 triples are new" in capsys.readouterr().out
    cursor.execute(f"SPARQL LOAD <{(tmp_path / 'a.ttl').as_uri()}> INTO GRAPH <a:n>")
    assert cursor.rowcount == 4
    (tmp_path / "wrong.nt").write_text("<a:a> <a:b> <a:c> .\n<a:a> <a:b> .\n")
    with pytest.raises(imp_driver.ProgrammingError, match=r"wrong\.nt, line 2: "):
        cursor.execute(f"SPARQL LOAD <{tmp_path / 'wrong.nt'}>")


def test_a_mapping_is_a_view_of_tables(cursor: imp_driver.Cursor, graph: str) -> None:
    cursor.execute("SET spark.sql.session.timeZone = America/New_York")
    cursor.execute(
        f"CREATE TABLE t{graph} (id INT, n STRING, d DECIMAL(12,7), x DOUBLE, b BOOLEAN, dt DATE, ts TIMESTAMP, "
        "tn TIMESTAMP_NTZ, bi BINARY) USING DELTA"
    )
    cursor.execute(
        f"INSERT INTO t{graph} VALUES (1, 'a b/ü*~+\"', 1.50, 0.0012, true, DATE'2020-01-02', TIMESTAMP'2020-06-01 00:00:00.120 UTC', "
        "TIMESTAMP_NTZ'2020-01-01 00:00:00', X'0aff'), (2, NULL, -2, -12345678.5, NULL, NULL, NULL, NULL, NULL), "
        "(2, NULL, 0.0000001, double('-Infinity'), NULL, NULL, NULL, NULL, NULL), (3, '😀', 0, 100, NULL, NULL, NULL, NULL, NULL)"
    )
    names = ("d", "x", "b", "dt", "ts", "tn", "bi")
    columns = " ".join(f'rr:predicateObjectMap [ rr:predicate e:{name} ; rr:objectMap [ rr:column "{name}" ] ] ;' for name in names)
    mapping = f"""
        @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix e: <http://e/> . @prefix xsd: <{XSD}> .
        <#t> rr:logicalTable [ rr:tableName "t{graph}" ] ; rr:subjectMap [ rr:template "http://e/{{id}}" ; rr:class e:T ] ; {columns}
            rr:predicateObjectMap [ rr:predicate e:n ; rr:objectMap [ rr:column "N" ; rr:language "EN" ] ] .
        <#u> rr:logicalTable [ rr:sqlQuery "SELECT n, count(*) AS c FROM t{graph} GROUP BY n" ] ; rr:subject e:all ;
            rr:predicateObjectMap [ rr:predicate e:t ; rr:graph e:g ; rr:objectMap [ rr:template "http://e/{{n}}" ] ] ;
            rr:predicateObjectMap [ rr:predicate e:c ; rr:objectMap [ rr:column "c" ; rr:datatype xsd:long ] ] ."""
    cursor.execute(f"CREATE GRAPH {graph} FROM MAPPING '{mapping}'")
    found: dict[str, Rows] = {}
    for row in _triples(cursor, graph):
        found.setdefault(row[1].rsplit("/", 1)[-1].rstrip(">"), set()).add(row)
    by_subject = {name: {(row[0][10:-1], row[2].replace(XSD, "")) for row in rows} for name, rows in found.items()}
    assert by_subject["d"] == {
        ("1", '"1.5"^^<decimal>'),
        ("2", '"-2.0"^^<decimal>'),
        ("2", '"0.0000001"^^<decimal>'),
        ("3", '"0.0"^^<decimal>'),
    }
    assert by_subject["x"] == {
        ("1", '"1.2E-3"^^<double>'),
        ("2", '"-1.23456785E7"^^<double>'),
        ("2", '"-INF"^^<double>'),
        ("3", '"1.0E2"^^<double>'),
    }
    assert by_subject["b"] == {("1", '"true"^^<boolean>')}
    assert by_subject["dt"] == {("1", '"2020-01-02"^^<date>')}
    assert by_subject["ts"] == {("1", '"2020-06-01T00:00:00.12Z"^^<dateTime>')}
    assert by_subject["tn"] == {("1", '"2020-01-01T00:00:00"^^<dateTime>')}
    assert by_subject["bi"] == {("1", '"0AFF"^^<hexBinary>')}
    assert by_subject["n"] == {("1", '"a b/ü*~+""@en'), ("3", '"😀"@en')}
    assert by_subject["22-rdf-syntax-ns#type"] == {("1", "<http://e/T>"), ("2", "<http://e/T>"), ("3", "<http://e/T>")}
    assert {row[2:] for row in found["t"]} == {("<http://e/a%20b%2Fü%2A~%2B%22>", "<http://e/g>"), ("<http://e/😀>", "<http://e/g>")}
    assert {row[2:] for row in found["c"]} == {(f'"{count}"^^<{XSD}long>', None) for count in (1, 2)}
    with pytest.raises(imp_driver.NotSupportedError, match="rows of the tables that its mapping names"):
        cursor.execute("SPARQL INSERT DATA { <a:a> <a:p> 1 }")
    with pytest.raises(imp_driver.ProgrammingError, match="column 'nope'"):
        cursor.execute(f"CREATE GRAPH other{graph} FROM MAPPING '{mapping.replace('{id}', '{nope}')}'")
    cursor.execute(f"DROP GRAPH {graph}")
