"""Engines that answer a query from nothing, over the same triples as the driver."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Protocol

import pyoxigraph
import rdflib
import rdflib.plugins.sparql as rdflib_sparql
from rdflib.plugins.sparql.sparql import Query as PreparedQuery

from imp_driver.sparql import terms
from imp_driver.sparql.terms import LANGUAGE_TEXT, STRING, Term, TermKind
from tests.soundness.sparql.results import told
from tests.soundness.sparql.solutions import TRIPLE, Solutions
from tests.soundness.sparql.triples import Quad


class Judge(Protocol):
    """Triples, and a query that is answered over them."""

    def change(self, quad: Quad, sign: int) -> None:
        """Add a quad that is not there, or take one away that is."""

    def solutions(self) -> Solutions:
        """Return the answer.

        Raises:
            Exception: of the engine, for what it does not know.
        """


class Oxigraph:
    """pyoxigraph, which keeps numbers by their values: ``"01"`` and ``"1"`` are one term there."""

    def __init__(self, text: str, quads: Iterable[Quad] = ()) -> None:
        self._store, self._text = pyoxigraph.Store(), text
        for quad in quads:
            self.change(quad, 1)

    def change(self, quad: Quad, sign: int) -> None:
        graph, *triple = quad
        subject, predicate, value = map(_node, triple)
        made = pyoxigraph.Quad(subject, predicate, value, pyoxigraph.DefaultGraph() if graph is None else _node(graph))
        if sign > 0:
            self._store.add(made)
        else:
            self._store.remove(made)

    def solutions(self) -> Solutions:
        return told(self._store.query(self._text))


class Rdflib:
    """rdflib, which has two terms for a text: with and without the datatype xsd:string."""

    def __init__(self, text: str, quads: Iterable[Quad] = ()) -> None:
        self._data, self._text = rdflib.Dataset(), text
        for quad in quads:
            self.change(quad, 1)

    def change(self, quad: Quad, sign: int) -> None:
        with _as_written():
            self._change(quad, sign)

    def _change(self, quad: Quad, sign: int) -> None:
        graph, *triple = quad
        name = rdflib.URIRef(terms.lexical(graph)) if graph else rdflib.graph.DATASET_DEFAULT_GRAPH_ID
        context = self._data.graph(name)
        made: Any = tuple(map(_rdflib_term, triple))
        if sign > 0:
            context.add(made)
        else:
            context.remove(made)

    def solutions(self) -> Solutions:
        with _as_written():
            found = self._data.query(_prepared(self._text))
            if found.type == "ASK":
                return Solutions((), ((),) if found.askAnswer else ())
            if found.type in ("CONSTRUCT", "DESCRIBE"):
                return Solutions(TRIPLE, tuple(tuple(map(_term, triple)) for triple in found.graph or ()))
            columns = tuple(str(each) for each in found.vars or ())
            rows = [tuple(row.get(each) for each in found.vars or ()) for row in found.bindings]
            return Solutions(columns, tuple(tuple(None if each is None else _term(each) for each in row) for row in rows))


@lru_cache(maxsize=8)
def _prepared(text: str) -> PreparedQuery:
    """Return a query that is read once: to read it takes longer than to answer it."""
    return rdflib_sparql.prepareQuery(text)


@contextlib.contextmanager
def _as_written() -> Iterator[None]:
    """Let rdflib keep numbers as they are written, and read no graph from elsewhere."""
    before = rdflib.NORMALIZE_LITERALS, rdflib_sparql.SPARQL_LOAD_GRAPHS
    rdflib.NORMALIZE_LITERALS, rdflib_sparql.SPARQL_LOAD_GRAPHS = False, False
    try:
        with warnings.catch_warnings():
            # It warns of what it does itself, and of literals that are no value of their type.
            warnings.simplefilter("ignore")
            yield
    finally:
        rdflib.NORMALIZE_LITERALS, rdflib_sparql.SPARQL_LOAD_GRAPHS = before


def _node(term: Term) -> Any:
    match terms.kind(term):
        case TermKind.IRI:
            return pyoxigraph.NamedNode(terms.lexical(term))
        case TermKind.BLANK:
            return pyoxigraph.BlankNode(terms.lexical(term))
    if language := terms.language(term):
        return pyoxigraph.Literal(terms.lexical(term), language=language)
    return pyoxigraph.Literal(terms.lexical(term), datatype=pyoxigraph.NamedNode(str(terms.datatype(term))))


def _rdflib_term(term: Term) -> rdflib.term.Node:
    match terms.kind(term):
        case TermKind.IRI:
            return rdflib.URIRef(terms.lexical(term))
        case TermKind.BLANK:
            return rdflib.BNode(terms.lexical(term))
    datatype = terms.datatype(term)
    is_plain = datatype in (STRING, LANGUAGE_TEXT)
    return rdflib.Literal(
        terms.lexical(term), lang=terms.language(term) or None, datatype=None if is_plain else rdflib.URIRef(str(datatype)), normalize=False
    )


def _term(value: Any) -> Term:
    match value:
        case rdflib.Literal():
            return terms.literal(str(value), str(value.datatype or STRING), value.language)
        case rdflib.BNode():
            return terms.blank(str(value))
        case _:
            return terms.iri(str(value))
