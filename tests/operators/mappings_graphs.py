"""Tables of quads for tests of patterns: read by a scan, and by two engines that judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any
from warnings import catch_warnings, simplefilter

from imp_driver.dataflow.mappings.graphs import Constants, QuadRow
from imp_driver.dataflow.mappings.operator import Row
from imp_driver.sparql.algebra import EachNamed, Place, Source, Variable
from imp_driver.sparql.terms import XSD, TermKind, blank, datatype, iri, kind, language, lexical, literal

TABLE = "t"
EXAMPLE = "http://example.org/"


def name(text: str) -> str:
    return iri(EXAMPLE + text)


def number(text: object) -> str:
    return literal(str(text), f"{XSD}integer")


class ScannedTriples:
    """Counts of quads per table, and what ``evaluate`` reads of them."""

    def __init__(self, tables: Mapping[str, Mapping[QuadRow, int]]) -> None:
        self._tables = tables

    def matching(self, place: Place, constants: Constants) -> Iterator[Row]:
        found: dict[Row, None] = {}
        for table, rows in self._tables.items():
            for quad, count in rows.items():
                if count > 0 and all(term is None or term == own for term, own in zip(constants, quad[:3], strict=True)):
                    for graph in _graphs(place, table, quad[3]):
                        found[(*quad[:3], *graph)] = None
        return iter(found)


def _graphs(place: Place, table: str, graph: str | None) -> list[Row]:
    if not isinstance(place, EachNamed):
        return [()] if Source(table, graph) in place else []
    if place.sources:
        return [(alias,) for alias, source in place.sources if source == Source(table, graph)]
    return [(graph,)] if table in place.tables and graph is not None else []


def random_quads(random: Random, count: int, terms: int = 4, graphs: Iterable[str | None] = (None,)) -> list[QuadRow]:
    """Return quads of few terms, so that they meet and that the same come again."""
    names = list(graphs)
    return [
        (
            name(random.choice("abcdef"[:terms])),
            name(random.choice("pqr")),
            random.choice([name(random.choice("abcdef"[:terms])), number(random.randrange(3))]),
            random.choice(names),
        )
        for _ in range(count)
    ]


def random_changes(random: Random, table: Counter[QuadRow], quads: list[QuadRow]) -> dict[QuadRow, int]:
    """Return changes of a table, which has them from then on: rows come, some of them once more, and some go."""
    changes: Counter[QuadRow] = Counter()
    for quad in quads:
        if random.random() < 0.55:
            changes[quad] += 1
    present = list((table + changes).elements())
    for quad in random.sample(present, min(len(present), random.randrange(4))):
        changes[quad] -= 1
    table.update(changes)
    for quad in [quad for quad, count in table.items() if not count]:
        del table[quad]
    return {quad: count for quad, count in changes.items() if count}


def rdflib_rows(text: str, quads: Iterable[QuadRow], variables: tuple[Variable, ...]) -> Counter[Row]:
    """Return the solutions that rdflib has over the quads, the default graph being that of quads without a graph."""
    import rdflib

    def made(term: str) -> Any:
        if kind(term) is not TermKind.LITERAL:
            return rdflib.URIRef(lexical(term)) if kind(term) is TermKind.IRI else rdflib.BNode(lexical(term))
        return rdflib.Literal(
            lexical(term), lang=language(term) or None, datatype=None if datatype(term) is None else rdflib.URIRef(str(datatype(term)))
        )

    dataset = rdflib.Dataset()
    for *triple, graph in quads:
        target = dataset.default_graph if graph is None else dataset.graph(made(graph))
        target.add(tuple(map(made, triple)))
    with catch_warnings():
        # It warns of its own attributes.
        simplefilter("ignore", DeprecationWarning)
        rows: list[Any] = list(dataset.query(text))
    return Counter(tuple([_of_rdflib(row[rdflib.Variable(each.name)]) for each in variables]) for row in rows)


def _of_rdflib(term: Any) -> str | None:
    import rdflib

    if term is None:
        return None
    if isinstance(term, rdflib.URIRef):
        return iri(str(term))
    if isinstance(term, rdflib.BNode):
        return blank(str(term))
    return literal(str(term), str(term.datatype) if term.datatype else f"{XSD}string", term.language)


def oxigraph_rows(text: str, quads: Iterable[QuadRow], variables: tuple[Variable, ...]) -> Counter[Row]:
    """Return the solutions that pyoxigraph has."""
    import pyoxigraph

    def made(term: str) -> Any:
        if kind(term) is not TermKind.LITERAL:
            return pyoxigraph.NamedNode(lexical(term)) if kind(term) is TermKind.IRI else pyoxigraph.BlankNode(lexical(term))
        if language(term):
            return pyoxigraph.Literal(lexical(term), language=language(term))
        return pyoxigraph.Literal(lexical(term), datatype=pyoxigraph.NamedNode(str(datatype(term))))

    store = pyoxigraph.Store()
    for subject, predicate, object_, graph in quads:
        place = pyoxigraph.DefaultGraph() if graph is None else made(graph)
        store.add(pyoxigraph.Quad(made(subject), made(predicate), made(object_), place))
    found: Any = store.query(text)
    return Counter(tuple([_of_oxigraph(row[each.name]) for each in variables]) for row in found)


def _of_oxigraph(term: Any) -> str | None:
    import pyoxigraph

    if term is None:
        return None
    if isinstance(term, pyoxigraph.NamedNode):
        return iri(term.value)
    if isinstance(term, pyoxigraph.BlankNode):
        return blank(term.value)
    return literal(term.value, term.datatype.value, term.language)
