"""Triples that a mapping makes of rows in process; tests/spark compares them with the rows of its view."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from imp_driver.sparql.mapping import TripleMap, read_mapping
from imp_driver.sparql.mapping_rows import NotAlike, columns_of, encoded, matching, triples
from imp_driver.sparql.templates import Row
from imp_driver.sparql.terms import RDF, XSD

TYPES = {
    "ID": "integer",
    "n": "string",
    "d": "decimal(9,3)",
    "b": "boolean",
    "day": "date",
    "t": "timestamp",
    "u": "timestamp_ntz",
    "x": "double",
}
TWO_HOURS = datetime.timezone(datetime.timedelta(hours=2))
SUBJECT = 'rr:subjectMap [ rr:template "http://e/{id}" ; rr:class e:T ]'


def _maps(objects: str, subject: str = SUBJECT) -> tuple[TripleMap, ...]:
    prefixes = "@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix e: <http://e/> ."
    pairs = f"rr:predicateObjectMap [ rr:predicate e:p ; {objects} ]" if objects else ""
    [found] = read_mapping(f'{prefixes} <#m> rr:logicalTable [ rr:tableName "t" ] ; {subject} ; {pairs} .')
    return found.triples


def _made(maps: tuple[TripleMap, ...], *rows: dict[str, Any]) -> list[Row]:
    names = columns_of(maps, TYPES)
    values = {name: [row.get(name) for row in rows] for name in names}
    return [quad for _, quad in triples(maps, TYPES, values, len(rows))]


@pytest.mark.parametrize(
    ("column", "value", "term"),
    [
        ("ID", -7, f'"-7"^^<{XSD}integer>'),
        ("n", 'a "b"', '"a "b""'),
        ("d", Decimal("1.500"), f'"1.5"^^<{XSD}decimal>'),
        ("d", Decimal("-20.000"), f'"-20.0"^^<{XSD}decimal>'),
        ("d", Decimal("0.000"), f'"0.0"^^<{XSD}decimal>'),
        ("d", Decimal("0.001"), f'"0.001"^^<{XSD}decimal>'),
        ("b", False, f'"false"^^<{XSD}boolean>'),
        ("day", datetime.date(987, 1, 2), f'"0987-01-02"^^<{XSD}date>'),
        (
            "t",
            datetime.datetime(2020, 6, 1, 2, tzinfo=TWO_HOURS),
            f'"2020-06-01T00:00:00Z"^^<{XSD}dateTime>',
        ),
        ("u", datetime.datetime(2020, 6, 1, 0, 0, 10, 120000), f'"2020-06-01T00:00:10.12"^^<{XSD}dateTime>'),
    ],
)
def test_literals_have_the_forms_of_their_columns(column: str, value: object, term: str) -> None:
    found = _made(_maps(f'rr:objectMap [ rr:column "{column}" ]'), {"ID": 1, column: value})
    assert ("http://e/p" in found[1][1], found[1][2]) == (True, term)


def test_terms_of_all_kinds() -> None:
    row = {"ID": 1, "n": "a b/ü*~+é😀\U0001fffe"}
    assert {quad[2] for quad in _made(_maps("rr:object e:o, 'x'@en"), row)[1:]} == {"<http://e/o>", '"x"@en'}
    assert _made(_maps('rr:objectMap [ rr:template "e:{n}" ]'), row)[1][2] == "<e:a%20b%2Fü%2A~%2Bé😀%F0%9F%BF%BE>"
    assert _made(_maps('rr:objectMap [ rr:template "{n}-{id}" ; rr:language "DE" ]'), row)[1][2] == f'"{row["n"]}-1"@de'
    assert _made(_maps('rr:objectMap [ rr:column "id" ; rr:datatype e:d ]'), row)[1][2] == '"1"^^<http://e/d>'
    assert _made(_maps('rr:objectMap [ rr:column "id" ; rr:termType rr:BlankNode ]'), row)[1][2] == "_:b31"
    assert _made(_maps('rr:objectMap [ rr:column "n" ; rr:termType rr:IRI ]'), {"ID": 1, "n": "http://x/ü"})[1][2] == "<http://x/ü>"
    of_graph = _maps("rr:object e:o ; rr:graphMap [ rr:template 'http://g/{n}' ]")
    assert _made(of_graph, {"ID": 1, "n": "h"}, {"ID": 2})[2:] == [("<http://e/1>", "<http://e/p>", "<http://e/o>", "<http://g/h>")]


def test_null_makes_no_triple_and_each_row_its_own() -> None:
    maps = _maps('rr:objectMap [ rr:column "n" ]')
    assert _made(maps, {"ID": 1}, {"ID": None, "n": "a"}, {"ID": 2, "n": "a"}, {"ID": 2, "n": "a"}) == [
        ("<http://e/1>", f"<{RDF}type>", "<http://e/T>", None),
        *[("<http://e/2>", f"<{RDF}type>", "<http://e/T>", None)] * 2,
        *[("<http://e/2>", "<http://e/p>", '"a"', None)] * 2,
    ]


def test_what_is_the_engines_to_write_is_refused() -> None:
    with pytest.raises(NotAlike, match="column x is of type double"):
        columns_of(_maps('rr:objectMap [ rr:column "x" ]'), TYPES)
    with pytest.raises(NotAlike, match="column y is not there"):
        columns_of(_maps('rr:objectMap [ rr:column "y" ]'), TYPES)
    with pytest.raises(NotAlike, match="'no iri' of a column that is to be an IRI is none"):
        _made(_maps('rr:objectMap [ rr:column "n" ; rr:termType rr:IRI ]'), {"ID": 1, "n": "no iri"})
    with pytest.raises(NotAlike, match="end of a line"):
        encoded("a\n")
    assert encoded("a\nb") == "a%0Ab"


def test_only_what_can_be_asked_for_is_made() -> None:
    maps = _maps('rr:objectMap [ rr:column "n" ]')
    typed, named = maps
    assert matching(maps, [(None, None, None)]) == maps
    assert matching(maps, [(None, "<http://e/p>", None)]) == (named,)
    assert matching(maps, [("<http://e/1>", f"<{RDF}type>", "<http://e/T>")]) == (typed,)
    assert matching(maps, [(None, f"<{RDF}type>", "<http://e/U>"), (None, "<http://e/q>", None)]) == ()
    assert columns_of((typed,), TYPES) == ("ID",)
