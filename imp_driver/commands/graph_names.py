"""Names of graphs -> their tables and views."""

from __future__ import annotations

from dataclasses import dataclass

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.parse.graphs import read_graph_name
from imp_driver.ports import Relation, RelationKind, Session
from imp_driver.sparql.graph_table import MAPPING, PROPERTY, TRIPLES
from imp_driver.values.quoting import qualified


@dataclass(frozen=True, slots=True)
class Graph:
    """A table or view that is a graph; ``is_mapped`` where its triples are rows of other tables."""

    name: tuple[str, ...]
    is_mapped: bool
    relation: Relation


def found_graph(session: Session, name: tuple[str, ...]) -> Graph:
    """Return the graph of a name. Raises ProgrammingError where nothing has it, or something that is no graph."""
    relation = session.resolve(name)
    if relation is None:
        raise ProgrammingError(f"There is no graph {'.'.join(name)}: CREATE GRAPH {qualified(name)} makes it.")
    definition = None if relation.kind is RelationKind.TEMPORARY_VIEW else session.definition(relation.name)
    what = None if definition is None else definition.properties.get(PROPERTY)
    if what not in (TRIPLES, MAPPING):
        told = f"{'.'.join(name)} is a {relation.kind.value} that CREATE GRAPH has not made"
        raise ProgrammingError(f"{told} (it has no property {PROPERTY}), so it is no graph. SHOW GRAPHS lists those that there are.")
    return Graph(relation.name, what == MAPPING, relation)


def changed_graph(session: Session, text: str) -> tuple[str, ...]:
    """Return the name of the table of a graph that is to be changed.

    Raises:
        ProgrammingError: there is no such graph.
        NotSupportedError: its triples are rows of other tables.
    """
    graph = found_graph(session, read_graph_name(text))
    if graph.is_mapped:
        raise NotSupportedError(f"The triples of {text} are rows of the tables that its mapping names: change these.")
    return graph.name
