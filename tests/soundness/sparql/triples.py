"""Triples of the suites' files, as terms are written by the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any, TypeAlias

import pyoxigraph

from imp_driver.sparql import terms
from imp_driver.sparql.terms import Term
from tests.soundness.sparql.carried import files
from tests.soundness.sparql.suite import BASE, Loaded

Triple: TypeAlias = tuple[Term, Term, Term]
Quad: TypeAlias = tuple[Term | None, Term, Term, Term]
"""The name of a graph (None stands for the default graph) and a triple of it."""

_FORMATS = {
    ".ttl": pyoxigraph.RdfFormat.TURTLE,
    ".nt": pyoxigraph.RdfFormat.N_TRIPLES,
    ".rdf": pyoxigraph.RdfFormat.RDF_XML,
    ".trig": pyoxigraph.RdfFormat.TRIG,
}


def term(value: Any) -> Term:
    """Return a term of pyoxigraph as text."""
    match value:
        case pyoxigraph.NamedNode():
            return terms.iri(value.value)
        case pyoxigraph.BlankNode():
            return terms.blank(value.value)
        case _:
            return terms.literal(value.value, value.datatype.value, value.language)


def triples(path: str) -> list[Triple]:
    """Return the triples of a file."""
    source = pyoxigraph.parse(files()[path], _FORMATS[PurePath(path).suffix], base_iri=BASE + path)
    return [(term(each.subject), term(each.predicate), term(each.object)) for each in source]


def quads(loaded: Iterable[Loaded]) -> list[Quad]:
    """Return the triples of files, each once, with blank nodes of their own for each file, whose labels are the same each time."""
    found: dict[Quad, None] = {}
    for place, each in enumerate(loaded):
        name = None if each.name is None else terms.iri(each.name)
        found |= {(name, *triple): None for triple in _labelled(triples(each.path), f"{'abcdefgh'[place]}")}
    return list(found)


def _labelled(found: Iterable[Triple], prefix: str) -> Iterator[Triple]:
    labels: dict[Term, Term] = {}
    for subject, predicate, value in found:
        for each in (subject, value):
            if each.startswith("_:"):
                labels.setdefault(each, terms.blank(f"{prefix}{len(labels)}"))
        yield labels.get(subject, subject), predicate, labels.get(value, value)
