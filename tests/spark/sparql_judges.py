"""Others' answers to SPARQL, of rdflib and of oxigraph, as texts of terms: bags of rows over quads that are given as such texts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

import pyoxigraph
import rdflib

from imp_driver.sparql import terms

Row: TypeAlias = tuple[object, ...]
Quad: TypeAlias = tuple[str, str, str, str | None]
Judge: TypeAlias = Callable[[str, Sequence[str]], list[Row]]
"""Gives the rows of a query's text, with these columns."""


def by_rdflib(quads: Sequence[Quad]) -> Judge:
    dataset = rdflib.Dataset()
    for *triple, graph in quads:
        target = dataset.default_graph if graph is None else dataset.graph(rdflib.URIRef(terms.lexical(graph)))
        target.add(tuple(map(_to_rdflib, triple)))  # type: ignore[arg-type]

    def rows(text: str, columns: Sequence[str]) -> list[Row]:
        with warnings.catch_warnings():
            # rdflib itself reads what it has deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            solutions: Any = list(dataset.query(text))
        found = [{str(name): _from_rdflib(value) for name, value in row.asdict().items()} for row in solutions]
        return [tuple(plain(row.get(name)) for name in columns) for row in found]

    return rows


def by_oxigraph(quads: Sequence[Quad]) -> Judge:
    store = pyoxigraph.Store()
    for *triple, graph in quads:
        name = pyoxigraph.DefaultGraph() if graph is None else pyoxigraph.NamedNode(terms.lexical(graph))
        subject, predicate, value = map(_to_oxigraph, triple)
        store.add(pyoxigraph.Quad(subject, predicate, value, name))

    def rows(text: str, columns: Sequence[str]) -> list[Row]:
        found: Any = store.query(text)
        names = [variable.value for variable in found.variables]
        solutions: list[Mapping[str, Any]] = [dict(zip(names, solution, strict=True)) for solution in found]
        return [tuple(plain(_from_oxigraph(row.get(name))) for name in columns) for row in solutions]

    return rows


def plain(term: str | None) -> object:
    """Return what is the same for terms that differ in how they are written alone: numbers by type and value."""
    datatype = (terms.datatype(term) or "" if term else "").removeprefix(terms.XSD)
    if term is None or not datatype:
        return term
    lexical = terms.lexical(term)
    try:
        if datatype in ("float", "double"):
            return datatype, f"{float(lexical.replace('INF', 'inf')):.12g}"
        if datatype in ("integer", "decimal"):
            return datatype, Decimal(lexical).quantize(Decimal("1e-12")).normalize() + 0
    except (ValueError, InvalidOperation):
        return term
    return term


def _to_rdflib(term: str) -> rdflib.term.Node:
    match terms.kind(term):
        case terms.TermKind.IRI:
            return rdflib.URIRef(terms.lexical(term))
        case terms.TermKind.BLANK:
            return rdflib.BNode(terms.lexical(term))
    language, datatype = terms.language(term), terms.datatype(term)
    kind = None if datatype in (terms.STRING, terms.LANGUAGE_TEXT) else rdflib.URIRef(str(datatype))
    return rdflib.Literal(terms.lexical(term), lang=language or None, datatype=kind, normalize=False)


def _from_rdflib(term: Any) -> str | None:
    match term:
        case None:
            return None
        case rdflib.URIRef():
            return terms.iri(str(term))
        case rdflib.BNode():
            return terms.blank(str(term))
        case _:
            return terms.literal(str(term), str(term.datatype or terms.STRING), term.language)


def _to_oxigraph(term: str) -> Any:
    match terms.kind(term):
        case terms.TermKind.IRI:
            return pyoxigraph.NamedNode(terms.lexical(term))
        case terms.TermKind.BLANK:
            return pyoxigraph.BlankNode(terms.lexical(term))
    language = terms.language(term)
    if language:
        return pyoxigraph.Literal(terms.lexical(term), language=language)
    return pyoxigraph.Literal(terms.lexical(term), datatype=pyoxigraph.NamedNode(str(terms.datatype(term))))


def _from_oxigraph(term: Any) -> str | None:
    match term:
        case None:
            return None
        case pyoxigraph.NamedNode():
            return terms.iri(term.value)
        case pyoxigraph.BlankNode():
            return terms.blank(term.value)
        case _:
            return terms.literal(term.value, term.datatype.value, term.language)
