"""Updates (SPARQL 1.1 Update, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.algebra import (
    Bgp,
    Clear,
    EachNamed,
    Load,
    Modify,
    Node,
    Pattern,
    Place,
    Project,
    Quad,
    Source,
    Triple,
    Update,
    Values,
    Variable,
)
from imp_driver.sparql.reading.context import Context
from imp_driver.sparql.reading.data import data_tree
from imp_driver.sparql.reading.dataset import Dataset
from imp_driver.sparql.reading.joining import joined
from imp_driver.sparql.reading.names import Names, is_absolute
from imp_driver.sparql.reading.patterns import flat_triples, group
from imp_driver.sparql.reading.selection import select
from imp_driver.sparql.reading.tokens import operations, unescaped
from imp_driver.sparql.reading.tree import Blank, Tree, update_tree
from imp_driver.sparql.terms import TermKind, kind

_ALL: Final = (Variable(".subject"), Variable(".predicate"), Variable(".object"))
"""Of all triples of a graph; no text has these variables, and no parameter is meant for them."""
ONCE: Final = Values((), ((),))
"""The pattern of data: one solution, which binds nothing."""


def updates(text: str, default: Source | None) -> tuple[Update, ...]:
    """Return the updates of a request in their order, ``default`` being the graph of what names none.

    Raises:
        ProgrammingError: the text is no update of SPARQL 1.1, or does not say which graph it changes.
        NotSupportedError: something of SPARQL 1.1 that this driver leaves out.
    """
    whole = unescaped(text)
    names, found, labels = Names(), list[Update](), set[str]()
    for offset, operation in operations(whole):
        prologue, tree = data_tree(operation) or update_tree(operation, whole, offset)
        names = names.behind(prologue)
        if tree is not None:
            found += _Operation(names, default, labels).read(tree)
    return tuple(found)


class _Operation:
    """One operation of a request.

    ``labels`` are those of blank nodes in data of earlier operations, which no other one may have (section 19.6 of the query language).
    """

    def __init__(self, names: Names, default: Source | None, labels: set[str]) -> None:
        self._names = names
        self._default = default
        self._labels = labels
        self._context = self._context_of(Dataset.of(() if default is None else (default,)))

    def read(self, tree: Tree) -> Sequence[Update]:
        match tree.rule:
            case "InsertData":
                return (Modify((), self._quads(tree.one("quads"), data="INSERT DATA"), ONCE),)
            case "DeleteData":
                return (Modify(self._quads(tree.one("quads"), data="DELETE DATA"), (), ONCE),)
            case "DeleteWhere":
                return (self._delete_where(tree),)
            case "Modify":
                return (self._modify(tree),)
            case "Clear" | "Drop":
                return (self._clear(tree),)
            case "Load":
                target = tree.one("graphiri")
                source = self._source() if target is None else self._named(target)
                return (Load(self._names.iri(tree.one("iri")), source, tree.one("silent") is not None),)
            case "Create":
                return self._create(tree)
            case _:
                return self._transfer(tree)

    def _context_of(self, dataset: Dataset) -> Context:
        return Context(self._names, dataset, select)

    def _source(self) -> Source:
        if self._default is None:
            raise ProgrammingError(
                "the update does not say which graph it changes: write GRAPH <name> or WITH <name>, or set the option graph"
            )
        return self._default

    def _named(self, leaf: Any) -> Source:
        return self._context.dataset.sources(self._names.graph(leaf))[0]

    # Templates and data.

    def _quads(self, tree: Tree, *, data: str = "", deletes: str = "") -> tuple[Quad, ...]:
        quads = [self._quad(triple, self._source(), None, data) for triple in flat_triples(tree.many("triples"))]
        for part in tree.many("quadsNotTriples"):
            term = part.one("term")
            graph = term if isinstance(term, Variable) else None
            if data and graph is not None:
                raise ProgrammingError(f"{data} has the variable ?{graph.name}: use INSERT or DELETE with WHERE")
            source = self._named(term) if graph is None else Source(self._source().table)
            quads += [self._quad(triple, source, graph, data) for triple in flat_triples(part.many("triples"))]
        if data:
            self._check_labels(tree)
        if deletes or data == "DELETE DATA":
            _check_deleted(quads, deletes or data)
        return tuple(dict.fromkeys(quads))

    def _quad(self, leaves: tuple[Any, Any, Any], source: Source, graph: Variable | None, data: str) -> Quad:
        subject, predicate, object_ = (self._context.template_node(leaf) for leaf in leaves)
        if data:
            for node in (subject, predicate, object_):
                if isinstance(node, Variable) and not node.is_hidden:
                    raise ProgrammingError(f"{data} has the variable ?{node.name}: use INSERT or DELETE with WHERE")
            if not isinstance(subject, Variable) and kind(subject) is TermKind.LITERAL:
                raise ProgrammingError(f"{data} has the literal {subject} as a subject, which no graph can have")
        return Quad(Triple(subject, predicate, object_), source, graph)

    def _check_labels(self, tree: Tree) -> None:
        found = _labels(tree)
        if twice := sorted(found & self._labels):
            raise ProgrammingError(f"_:{twice[0]} stands in the data of two operations: they would be two blank nodes; use another label")
        self._labels |= found

    # DELETE and INSERT by a pattern.

    def _modify(self, tree: Tree) -> Modify:
        if (given := tree.one("withClause")) is not None:
            self._default = self._named(given)
            self._context = self._context_of(Dataset.of((self._default,)))
        deleted, inserted = tree.one("delete"), tree.one("insert")
        gone = () if deleted is None else self._quads(deleted.one("quads"), deletes="DELETE")
        new = () if inserted is None else self._quads(inserted.one("quads"))
        clauses = tree.many("using")
        dataset = self._context.dataset.restricted(
            [self._names.graph(clause.one("default")) for clause in clauses if clause.one("default") is not None],
            [self._names.graph(clause.one("named")) for clause in clauses if clause.one("named") is not None],
        )
        pattern = group(self._context_of(dataset), tree.one("where"), None)
        return Modify(gone, new, Project(pattern, _variables((*gone, *new))))

    def _delete_where(self, tree: Tree) -> Modify:
        quads = self._quads(tree.one("quads"), deletes="DELETE WHERE")
        triples: dict[Place, list[Triple]] = {}
        for quad in quads:
            place: Place = (quad.source,) if quad.graph is None else EachNamed(quad.graph, (quad.source.table,))
            triples.setdefault(place, []).append(quad.triple)
        pattern: Pattern = Bgp((), ())
        for place, found in triples.items():
            pattern = joined(pattern, Bgp(tuple(found), place))
        return Modify(quads, (), Project(pattern, _variables(quads)))

    # Whole graphs.

    def _clear(self, tree: Tree) -> Clear:
        is_silent = tree.one("silent") is not None
        match tree.one("graphiri"):
            case "DEFAULT":
                return Clear((self._source(),), (), is_silent)
            case "NAMED":
                return Clear((), (self._source().table,), is_silent)
            case "ALL":
                return Clear((self._source(),), (self._source().table,), is_silent)
            case leaf:
                return Clear((self._named(leaf),), (), is_silent)

    def _create(self, tree: Tree) -> Sequence[Update]:
        name = self._names.graph(tree.one("graphiri"))
        if is_absolute(name) or tree.one("silent") is not None:
            # A named graph is there as soon as it has a triple.
            return ()
        raise NotSupportedError(f"CREATE GRAPH <{name}> of a SPARQL request makes no table: use the statement that makes graph tables")

    def _transfer(self, tree: Tree) -> Sequence[Update]:
        is_silent = tree.one("silent") is not None
        start, end = (self._source() if leaf == "DEFAULT" else self._named(leaf) for leaf in tree.many("graph"))
        if start == end:
            return ()
        triple = Triple(*_ALL)
        add = Modify((), (Quad(triple, end),), Bgp((triple,), (start,)))
        match tree.rule:
            case "Add":
                return (add,)
            case "Copy":
                return Clear((end,), (), is_silent), add
            case _:
                return Clear((end,), (), is_silent), add, Clear((start,), (), is_silent)


def _check_deleted(quads: Sequence[Quad], clause: str) -> None:
    if any(isinstance(node, Variable) and node.is_hidden for quad in quads for node in quad.triple.nodes):
        raise ProgrammingError(f"{clause} has a blank node, which would be a new one that no graph has: use a variable")


def _variables(quads: Sequence[Quad]) -> tuple[Variable, ...]:
    nodes: list[Node | None] = [node for quad in quads for node in (*quad.triple.nodes, quad.graph)]
    return tuple(dict.fromkeys(node for node in nodes if isinstance(node, Variable) and not node.is_hidden))


def _labels(found: Any) -> set[str]:
    match found:
        case Blank(label, True):
            return {label}
        case list():
            return {label for one in found for label in _labels(one)}
        case Tree():
            return {label for one in found.parts.values() for label in _labels(one)}
        case _:
            return set()
