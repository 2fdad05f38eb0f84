"""Data read without the parser is what the parser reads."""

from __future__ import annotations

from typing import Any

import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.sparql.algebra import Modify, Source
from imp_driver.sparql.read import read_updates
from imp_driver.sparql.reading.data import data_tree
from imp_driver.sparql.reading.patterns import flat_triples
from imp_driver.sparql.reading.tokens import unescaped
from imp_driver.sparql.reading.tree import Tree, update_tree
from tests.unit.sparql.shapes import PREFIXES
from tests.unit.sparql.test_read_terms import TERMS

G = Source("g")

READ = [
    "INSERT DATA {}",
    "INSERT DATA { :s :p :o }",
    "insert data { :s a :o . }",
    "DELETE DATA { :s :p 1, 2 ; :q 3 ; ; :r true ; . <s> <p> FALSE ; }",
    "INSERT DATA { :s :p 1 . _:a.b :q _:c . GRAPH <h> { :s :p 2 . :t :p 3 } GRAPH :g { } . :u :p 4 GRAPH <k> { :v :p 5 ; } }",
    "BASE <http://x/> PREFIX p.q: <y#> PREFIX e: <> INSERT DATA { p.q:s e: <o> }",
    "# nothing\nINSERT # DATA\nDATA { :s :p 1 # 2\n . }",
    *(f"INSERT DATA {{ :s :p {text} , {text} . }}" for text in TERMS),
]

LEFT_TO_THE_PARSER = [
    "",
    "SELECT * {}",
    "CLEAR ALL",
    "DELETE WHERE { ?s ?p ?o }",
    "INSERT { :s :p :o } WHERE {}",
    "INSERT DATA { :s :p [] }",
    "INSERT DATA { [ :p 1 ] :q 2 }",
    "INSERT DATA { :s :p (1 2) }",
    "INSERT DATA { :s :p () }",
    "INSERT DATA { ?s :p :o }",
    "INSERT DATA { :s :p }",
    "INSERT DATA { :s :p :o",
    "INSERT DATA { :s :p :o } }",
    "INSERT DATA { :s :p :o } more",
    "INSERT DATA { :s :p :o :t }",
    "INSERT DATA { . }",
    "INSERT DATA { :s ; }",
    "INSERT DATA { :s :p 1 .. :s :p 2 }",
    "INSERT DATA { :s 1 2 }",
    "INSERT DATA { :s _:p 2 }",
    "INSERT DATA { GRAPH ?g { :s :p 1 } }",
    "INSERT DATA { GRAPH <h> { GRAPH <k> { :s :p 1 } } }",
    "INSERT DATA { GRAPH <h> :s :p 1 }",
    'INSERT DATA { :s :p "a"^^"b" }',
    r'INSERT DATA { :s :p "\z" }',
    "PREFIX x:y <http://x/> INSERT DATA {}",
    "PREFIX INSERT DATA {}",
]


def read(found: tuple[Any, Tree | None]) -> tuple[Any, ...]:
    prologue, tree = found
    assert tree is not None
    quads = tree.one("quads")
    graphs = [(part.one("term"), flat_triples(part.many("triples"))) for part in quads.many("quadsNotTriples")]
    declared = [(one.rule, one.one("prefix") or "", one.one("iri")) for one in prologue]
    return tree.rule, declared, flat_triples(quads.many("triples")), graphs


@pytest.mark.parametrize("text", READ)
def test_the_same_as_the_parser_reads(text: str) -> None:
    text = unescaped(PREFIXES + text)
    found = data_tree(text)
    assert found is not None
    assert read(found) == read(update_tree(text, text, 0))


@pytest.mark.parametrize("text", LEFT_TO_THE_PARSER)
def test_what_is_left_to_the_parser(text: str) -> None:
    assert data_tree(PREFIXES + text) is None


def test_escapes_of_names_that_there_are_not() -> None:
    with pytest.raises(ProgrammingError, match="line 2"):
        read_updates(f"{PREFIXES}INSERT DATA {{ :s :p :a\\z }}", G)


def test_many_triples() -> None:
    text = " .\n".join(f'<http://x/{number}> <http://x/p> "v{number}"' for number in range(5000))
    (found,) = read_updates(f"INSERT DATA {{ {text} }}", G)
    assert isinstance(found, Modify)
    assert [quad.triple.object for quad in found.inserted] == [f'"v{number}"' for number in range(5000)]
