"""Graphs made of tables: the triples that are made in process of changed rows are those of the view that Spark reads."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import imp_driver
from imp_driver.reasons import Decision, ServedBy

MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix e: <http://e/> .
<#a> rr:logicalTable [ rr:tableName "mapped_thing" ] ;
  rr:subjectMap [ rr:template "http://e/{id}" ; rr:class e:T ] ; COLUMNS
  rr:predicateObjectMap [ rr:predicate e:link ; rr:objectMap [ rr:template "http://e/{name}/{id}" ] ] ;
  rr:predicateObjectMap [ rr:predicate e:blank ; rr:objectMap [ rr:column "name" ; rr:termType rr:BlankNode ] ] ;
  rr:predicateObjectMap [ rr:predicate e:text ; rr:objectMap [ rr:template "{amount} of {NAME}" ; rr:language "EN" ] ] .
<#b> rr:logicalTable [ rr:tableName "mapped_link" ] ; rr:subjectMap [ rr:template "http://e/{id}" ; rr:class e:T ] ;
  rr:predicateObjectMap [
    rr:predicateMap [ rr:template "http://e/{label}" ] ; rr:object e:o, 5 ; rr:graphMap [ rr:template "g:{label}" ] ] ."""
TYPES = {
    "name": "STRING",
    "amount": "DECIMAL(12,7)",
    "small": "SMALLINT",
    "large": "BIGINT",
    "whole": "DECIMAL(20,0)",
    "is_new": "BOOLEAN",
    "day": "DATE",
    "at": "TIMESTAMP",
    "local": "TIMESTAMP_NTZ",
}
VALUES = {
    "name": ["'a b/ü*~+\"'", "'😀é\\n-'", "''", "'plain'"],
    "amount": ["1.5", "-20", "0.0000001", "0", "12345.1234567"],
    "small": ["-32768", "7"],
    "large": ["9223372036854775807", "0"],
    "whole": ["99999999999999999999", "-10"],
    "is_new": ["true", "false"],
    "day": ["DATE'0987-01-02'", "DATE'9999-12-31'"],
    "at": ["TIMESTAMP'2020-06-01 00:00:00.120 UTC'", "TIMESTAMP'1950-01-01 12:00:00'"],
    "local": ["TIMESTAMP_NTZ'2020-01-01 00:00:00'", "TIMESTAMP_NTZ'2020-01-01 00:00:10.000001'"],
}
QUERIES = ("SELECT ?s ?p ?o { ?s ?p ?o }", "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }")


def test_a_column_that_became_another_one_has_other_triples(engine: imp_driver.Connection, warehouse: Path) -> None:
    with imp_driver.connect(warehouse=str(warehouse), graph="renewed_graph", terms="n3") as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE renewed (id INT, nm STRING) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
        cursor.execute("INSERT INTO renewed VALUES (1, 'a'), (2, 'b')")
        cursor.execute(
            "CREATE GRAPH renewed_graph FROM MAPPING '@prefix rr: <http://www.w3.org/ns/r2rml#> . <#a> rr:logicalTable "
            '[ rr:tableName "renewed" ] ; rr:subjectMap [ rr:template "http://e/{id}" ] ; rr:predicateObjectMap '
            '[ rr:predicate <http://e/n> ; rr:objectMap [ rr:column "nm" ] ] .\''
        )
        text = "SPARQL SELECT ?o { ?s <http://e/n> ?o }"
        assert sorted(cursor.execute(text).fetchall()) == [('"a"',), ('"b"',)]
        cursor.execute("ALTER TABLE renewed DROP COLUMN nm")
        cursor.execute("ALTER TABLE renewed ADD COLUMN nm STRING")
        assert cursor.execute(text).fetchall() == []
        cursor.execute("INSERT INTO renewed VALUES (3, 'c')")
        assert cursor.execute(text).fetchall() == [('"c"',)]
        cursor.execute("DROP GRAPH renewed_graph")


def test_triples_of_changed_rows_are_those_of_the_view(engine: imp_driver.Connection, warehouse: Path) -> None:
    chance = random.Random(3)

    def row() -> str:
        values = [chance.choice(["NULL", *each, *each]) for each in VALUES.values()]
        return f"({chance.choice(['1', '2', 'NULL'])}, {', '.join(values)})"

    columns = " ".join(f'rr:predicateObjectMap [ rr:predicate e:{name} ; rr:objectMap [ rr:column "{name}" ] ] ;' for name in TYPES)
    with imp_driver.connect(warehouse=str(warehouse), graph="mapped_graph", terms="n3") as connection, connection.cursor() as cursor:
        cursor.execute("SET spark.sql.session.timeZone = America/New_York")
        cursor.execute(f"CREATE TABLE mapped_thing (id INT, {', '.join(f'{name} {kind}' for name, kind in TYPES.items())}) USING DELTA")
        cursor.execute("CREATE TABLE mapped_link (id INT, label STRING) USING DELTA")
        cursor.execute(f"INSERT INTO mapped_thing VALUES {', '.join(row() for _ in range(12))}")
        cursor.execute(f"CREATE GRAPH mapped_graph FROM MAPPING '{MAPPING.replace('COLUMNS', columns)}'")
        for change in (
            "",
            f"INSERT INTO mapped_thing VALUES {', '.join(row() for _ in range(12))}",
            "INSERT INTO mapped_link VALUES (1, 'x y'), (1, 'x y'), (2, NULL), (NULL, 'z')",
            "DELETE FROM mapped_thing WHERE id = 1",
        ):
            if change:
                cursor.execute(change)
            for text in QUERIES:
                cursor.sketch = None
                found = Counter(cursor.execute(f"SPARQL {text}").fetchall())
                report = cursor.sketch_report
                assert report is not None
                assert report.served_by is ServedBy.STATE, report.not_answered
                assert report.decision is (Decision.MAINTAINED if change else Decision.CAPTURED)
                cursor.sketch = "off"
                assert found == Counter(cursor.execute(f"SPARQL {text}").fetchall()), (change, text)
        cursor.execute("DROP GRAPH mapped_graph")
