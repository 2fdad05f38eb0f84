"""What the workload compares: the driver's operators, which follow changes of triples, and two engines that ask their stores anew."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

from benchmarks.protocol import Turn
from benchmarks.records import Quantity
from benchmarks.sparql.bsbm import Triple
from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.sparql import terms
from imp_driver.sparql.algebra import Source
from imp_driver.sparql.read import read_query
from imp_driver.sparql.terms import Term, TermKind

OURS = "IMP"
TABLE = "triples"
Changes: TypeAlias = Sequence[tuple[Triple, int]]
"""Triples with +1 where they come and -1 where they go."""
Quad: TypeAlias = tuple[Term, Term, Term, Term | None]
Row: TypeAlias = tuple[Term | None, ...]


class System(Protocol):
    """Something that knows the triples, and can be asked one query."""

    def change(self, changes: Changes) -> None:
        """Let triples come and go, untimed."""

    def turn(self) -> Turn:
        """Return the answer, and what it took to have it."""


class Store(Protocol):
    """Triples of an engine, which answers any query over them."""

    def load(self, triples: Iterable[Triple]) -> None:
        """Take in triples."""

    def change(self, changes: Changes) -> None:
        """Let triples come and go."""

    def answer(self, text: str) -> Any:
        """Return the engine's own rows of a query."""

    def rows(self, answer: Any) -> Iterator[Row]:
        """Return rows of terms as the driver writes them."""


class Maintained:
    """The driver's operators. What changes is followed in ``turn``, in one step; ``prepare`` follows it untimed."""

    def __init__(self, text: str, triples: Iterable[Triple]) -> None:
        self._circuit = Circuit(read_query(text, default=(Source(TABLE),)).pattern)
        self._pending: list[tuple[Triple, int]] = [(triple, 1) for triple in triples]
        self._turns, self._seconds = 0, dict[str, float]()
        self.prepare()

    def change(self, changes: Changes) -> None:
        self._pending += changes

    def prepare(self) -> None:
        """Follow what has changed."""
        pending, self._pending = self._pending, []
        self._circuit.step({TABLE: _net(pending)})

    @property
    def number_of_rows(self) -> int:
        """How many rows the answer has, equal ones each by itself."""
        return sum(self._circuit.rows.values())

    @property
    def milliseconds_of_operators(self) -> Mapping[str, float]:
        """What a turn takes in each kind of operator, on average."""
        return {name: seconds * 1000 / self._turns for name, seconds in self._seconds.items()}

    def turn(self) -> Turn:
        before = dict(self._circuit.seconds)
        found = self._timed()
        self._turns += 1
        for name, seconds in self._circuit.seconds.items():
            self._seconds[name] = self._seconds.get(name, 0.0) + seconds - before.get(name, 0.0)
        return found

    def _timed(self) -> Turn:
        with _no_collection():
            begin = time.perf_counter()
            self.prepare()
            after_step = time.perf_counter()
            found = dict(self._circuit.rows)
            end = time.perf_counter()
        spent = {Quantity.QUERY: (end - begin) * 1000, Quantity.MAINTENANCE: (after_step - begin) * 1000, Quantity.HELD: self._circuit.size}
        return Turn([fingerprint(found)], spent)


class Recomputed:
    """An engine that is asked a query; its triples are changed apart, and are those of all queries."""

    def __init__(self, store: Store, text: str) -> None:
        self._store, self._text = store, text

    def change(self, changes: Changes) -> None:
        self._store.change(changes)

    def turn(self) -> Turn:
        with _no_collection():
            begin = time.perf_counter()
            answer = self._store.answer(self._text)
            milliseconds = (time.perf_counter() - begin) * 1000
        return Turn([fingerprint(Counter(self._store.rows(answer)))], {Quantity.QUERY: milliseconds})


class OxigraphStore:
    """pyoxigraph, in memory."""

    def __init__(self) -> None:
        import pyoxigraph

        self._made = pyoxigraph
        self._store = pyoxigraph.Store()

    def load(self, triples: Iterable[Triple]) -> None:
        # No text of these triples has anything that N-Triples escapes.
        lines = "".join(f"{subject} {predicate} {value} .\n" for subject, predicate, value in triples)
        self._store.bulk_load(lines.encode(), self._made.RdfFormat.N_TRIPLES)

    def change(self, changes: Changes) -> None:
        for triple, sign in changes:
            quad = self._made.Quad(*map(self._node, triple))
            if sign > 0:
                self._store.add(quad)
            else:
                self._store.remove(quad)

    def answer(self, text: str) -> Any:
        found: Any = self._store.query(text)
        return len(found.variables), list(found)

    def rows(self, answer: Any) -> Iterator[Row]:
        width, found = answer
        places = range(width)
        return (tuple([None if (value := solution[place]) is None else str(value) for place in places]) for solution in found)

    def _node(self, term: Term) -> Any:
        made = self._made
        match terms.kind(term):
            case TermKind.IRI:
                return made.NamedNode(terms.lexical(term))
            case TermKind.BLANK:
                return made.BlankNode(terms.lexical(term))
        if language := terms.language(term):
            return made.Literal(terms.lexical(term), language=language)
        return made.Literal(terms.lexical(term), datatype=made.NamedNode(str(terms.datatype(term))))


class RdflibStore:
    """rdflib, in memory."""

    def __init__(self) -> None:
        import rdflib
        from rdflib.plugins.sparql import prepareQuery

        self._made, self._prepare = rdflib, prepareQuery
        self._graph = rdflib.Graph()
        self._prepared: dict[str, Any] = {}

    def load(self, triples: Iterable[Triple]) -> None:
        self._graph.addN((*map(self._node, triple), self._graph) for triple in triples)

    def change(self, changes: Changes) -> None:
        for triple, sign in changes:
            made: Any = tuple(map(self._node, triple))
            if sign > 0:
                self._graph.add(made)
            else:
                self._graph.remove(made)

    def answer(self, text: str) -> Any:
        if text not in self._prepared:
            self._prepared[text] = self._prepare(text)
        found = self._graph.query(self._prepared[text])
        return found.vars, list(found.bindings)

    def rows(self, answer: Any) -> Iterator[Row]:
        variables, found = answer
        return (tuple([self._term(binding.get(variable)) for variable in variables]) for binding in found)

    def _node(self, term: Term) -> Any:
        made = self._made
        match terms.kind(term):
            case TermKind.IRI:
                return made.URIRef(terms.lexical(term))
            case TermKind.BLANK:
                return made.BNode(terms.lexical(term))
        datatype = terms.datatype(term)
        is_typed = datatype not in (terms.STRING, terms.LANGUAGE_TEXT)
        return made.Literal(
            terms.lexical(term), lang=terms.language(term) or None, datatype=made.URIRef(str(datatype)) if is_typed else None
        )

    def _term(self, value: Any) -> Term | None:
        return None if value is None else str(value.n3())


def _net(changes: Changes) -> dict[Quad, int]:
    found: dict[Quad, int] = {}
    for triple, sign in changes:
        quad = (*triple, None)
        found[quad] = found.get(quad, 0) + sign
    return {quad: sign for quad, sign in found.items() if sign}


def fingerprint(rows: Mapping[Row, int]) -> tuple[int, int]:
    """Return the number of rows and the sum of their hashes: a million of them would take longer to compare than to make."""
    return sum(rows.values()), sum([hash(row) * count for row, count in rows.items()]) % (1 << 64)


@contextmanager
def _no_collection() -> Iterator[None]:
    """All systems share the heap of this process: Python's collector would make one pay for the rows of another."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
