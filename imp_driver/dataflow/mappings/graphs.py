"""The graphs that a circuit reads: rows of tables in, the triples of each place by their shapes out.

A changed row goes to the shapes that it matches alone, found by its predicate first; a shape that several patterns have is kept once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from imp_driver.dataflow.mappings.facts import Facts
from imp_driver.dataflow.mappings.operator import Row, taking
from imp_driver.sparql.algebra import EachNamed, Node, Place, Triple, Variable
from imp_driver.sparql.terms import Term

QuadRow: TypeAlias = tuple[Term, Term, Term, Term | None]
"""Subject, predicate, object, and the named graph or None for the default graph."""
Constants: TypeAlias = tuple[Term | None, Term | None, Term | None]
"""Of a triple pattern: its subject, predicate and object, None for a variable."""
Shape: TypeAlias = tuple[Term | int, ...]
"""A triple pattern with numbers for its variables, in the order in which they are met; the fourth is the graph where each is by itself."""
_Names: TypeAlias = Mapping[Term | None, Sequence[Term | None]] | None
"""By which names the graphs of one table go at a place; None for all named graphs by their own."""
_Take: TypeAlias = Callable[[QuadRow, int], None]


def shape_of(triple: Triple, place: Place) -> tuple[Shape, tuple[Variable, ...]]:
    """Return the shape of a triple pattern and the variables that its numbers stand for."""
    nodes: tuple[Node, ...] = (*triple.nodes, place.variable) if isinstance(place, EachNamed) else triple.nodes
    numbers: dict[Variable, int] = {}
    shape = tuple([numbers.setdefault(node, len(numbers)) if isinstance(node, Variable) else node for node in nodes])
    return shape, tuple(numbers)


def constants_of(nodes: Sequence[Node | int]) -> Constants:
    """Return the terms among a subject, a predicate and an object."""
    subject, predicate, object_ = (node if isinstance(node, str) else None for node in nodes[:3])
    return subject, predicate, object_


def key_of(place: Place) -> object:
    """Return the same for places with the same graphs, whatever variable is bound to their names."""
    return (place.tables, place.sources) if isinstance(place, EachNamed) else frozenset(place)


class Graphs:
    """All places that patterns of one circuit read."""

    def __init__(self) -> None:
        self._facts: dict[tuple[object, ...], Facts] = {}
        self._wanted: dict[str, dict[Constants, None]] = {}
        self._routes: dict[str, dict[Term | None, list[_Take]]] = {}

    @property
    def wanted(self) -> dict[str, tuple[Constants, ...]]:
        """Per table what triples are read of it, those alone that no wider ones hold."""
        return {table: tuple(each for each in found if not _is_held(each, found)) for table, found in self._wanted.items()}

    @property
    def size(self) -> int:
        return sum(len(facts.rows) for facts in self._facts.values())

    def facts(self, place: Place, shape: Shape) -> Facts:
        """Return the triples of a place that have a shape, each as the values of its numbers."""
        key = (key_of(place), shape)
        found = self._facts.get(key)
        if found is None:
            found = self._facts[key] = Facts(len({node for node in shape if isinstance(node, int)}))
            self._read(place, constants_of(shape), lambda names: _by_shape(found, shape, names))
        return found

    def whole(self, place: Place, constants: Constants, facts: Facts) -> None:
        """Have triples of a place put into ``facts``, with the graph where each is by itself; call it for as many constants as are read."""
        self._read(place, constants, lambda names: _whole(facts, constants, names))

    def step(self, changes: Mapping[str, Mapping[QuadRow, int]]) -> None:
        """Take in signed rows of tables.

        Raises:
            InternalError: a row was deleted more often than it was there.
        """
        for table, rows in changes.items():
            routes = self._routes.get(table)
            if routes is None:
                continue
            others = routes[None]
            for quad, count in rows.items():
                for take in routes.get(quad[1], others):
                    take(quad, count)
        for facts in self._facts.values():
            if facts.waiting or facts.has_changed:
                facts.settle()

    def keep(self, key: tuple[object, ...], facts: Facts) -> Facts:
        """Have other facts settled and counted with those of shapes; returns those that are kept under the key already."""
        return self._facts.setdefault(key, facts)

    def _read(self, place: Place, constants: Constants, make: Callable[[_Names], _Take]) -> None:
        for table, names in _names_by_table(place).items():
            self._wanted.setdefault(table, {})[constants] = None
            routes = self._routes.setdefault(table, {None: []})
            take, predicate = make(names), constants[1]
            if predicate is None:
                for each in routes.values():
                    each.append(take)
            else:
                routes.setdefault(predicate, list(routes[None])).append(take)


def _names_by_table(place: Place) -> dict[str, _Names]:
    if isinstance(place, EachNamed) and not place.sources:
        return dict.fromkeys(place.tables)
    found: dict[str, dict[Term | None, dict[Term | None, None]]] = {}
    pairs = place.sources if isinstance(place, EachNamed) else [(None, source) for source in place]
    for name, source in pairs:
        found.setdefault(source.table, {}).setdefault(source.name, {})[name] = None
    return {table: {name: tuple(each) for name, each in names.items()} for table, names in found.items()}


def _is_held(constants: Constants, others: Mapping[Constants, None]) -> bool:
    return any(
        other != constants and all(wide is None or wide == own for wide, own in zip(other, constants, strict=True)) for other in others
    )


def _by_shape(facts: Facts, shape: Shape, names: _Names) -> _Take:
    firsts = {node: shape.index(node) for node in shape if isinstance(node, int)}
    take = taking(tuple(firsts.values()))
    terms = [(place, node) for place, node in enumerate(shape) if isinstance(node, str)]
    pairs = [(place, firsts[node]) for place, node in enumerate(shape) if isinstance(node, int) and firsts[node] != place]
    # The predicate has been looked at, where it is a term.
    checks = [(place, term) for place, term in terms if place != 1]

    def matching(quad: Row, count: int) -> None:
        for place, term in checks:
            if quad[place] != term:
                return
        for place, first in pairs:
            if quad[place] != quad[first]:
                return
        row, waiting = take(quad), facts.waiting
        waiting[row] = waiting.get(row, 0) + count

    return _by_name(matching, names, is_named=len(shape) > 3)


def _whole(facts: Facts, constants: Constants, names: _Names) -> _Take:
    is_named = facts.width > 3

    def matching(quad: Row, count: int) -> None:
        for own, term in zip(quad, constants, strict=False):
            if term is not None and own != term:
                return
        row, waiting = quad if is_named else quad[:3], facts.waiting
        waiting[row] = waiting.get(row, 0) + count

    return _by_name(matching, names, is_named=is_named)


def _by_name(matching: Callable[[Row, int], None], names: _Names, *, is_named: bool) -> _Take:
    """Return what takes the quads of certain graphs, under the names that these go by."""

    def of_all_named(quad: QuadRow, count: int) -> None:
        if quad[3] is not None:
            matching(quad, count)

    if names is None:
        return of_all_named
    if is_named:

        def of_names(quad: QuadRow, count: int) -> None:
            for name in names.get(quad[3], ()):
                matching((*quad[:3], name), count)

        return of_names

    def of_graphs(quad: QuadRow, count: int) -> None:
        if quad[3] in names:
            matching(quad, count)

    return of_graphs
