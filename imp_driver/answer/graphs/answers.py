"""Queries over graphs, answered from the solutions of their patterns, which follow the graphs' tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from imp_driver.answer.graphs.followed import FollowedPattern
from imp_driver.answer.graphs.mapped import MappedTable, mapped_tables
from imp_driver.answer.graphs.quads import Wanted
from imp_driver.answer.graphs.tables import GraphTable
from imp_driver.answer.permitted import Permitted
from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.errors import ProgrammingError
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.parse.graphs import read_graph_name
from imp_driver.ports import Relation, RelationKind, Session
from imp_driver.reasons import Reason
from imp_driver.snapshot.versions import Versions
from imp_driver.sparql.algebra import Pattern, Source
from imp_driver.sparql.graph_table import COLUMNS
from imp_driver.sparql.parts import tables_of
from imp_driver.state.graph_states import GraphState
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.quoting import qualified
from imp_driver.values.redaction import redacted
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangeSource, TableSnapshot

ReadT = TypeVar("ReadT")
TableVersions: TypeAlias = Mapping[tuple[str, ...], int]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """What a session has under the name of a graph; ``newest`` is its table's newest version, None where it is no table of Delta."""

    relation: Relation
    newest: TableSnapshot | None = None

    @property
    def text(self) -> str:
        """Its name in SQL."""
        return qualified(self.relation.name)


@dataclass(frozen=True, slots=True)
class GraphAnswers:
    """What the queries over graphs of one connection are answered from."""

    session: Session
    source: ChangeSource
    versions: Versions
    sketches: Sketches
    permitted: Permitted
    options: Options

    @property
    def default(self) -> tuple[Source, ...]:
        """The graph that is meant where a text names none."""
        return (Source(self.options.graph),) if self.options.graph else ()

    def graphs(self, pattern: Pattern) -> Mapping[str, Graph]:
        """Return the graphs that a pattern reads, by the names that it has for them. Raises as ``graph``."""
        return {name: self.graph(name) for name in tables_of(pattern)}

    def graph(self, name: str) -> Graph:
        """Return what has the name of a graph. Raises ProgrammingError where it is no graph."""
        try:
            parts = read_graph_name(name)
        except ProgrammingError:
            raise ProgrammingError(
                f"<{name}> is no name of a graph: these are names of tables, in backticks where they need them."
            ) from None
        found = self.session.resolve(parts)
        if found is None:
            raise ProgrammingError(f"There is no graph {name}. CREATE GRAPH {name} makes one; SHOW GRAPHS lists those that there are.")
        if found.kind is not RelationKind.DELTA_TABLE or found.location is None:
            return Graph(found)
        newest = self.source.snapshot(found.location)
        _check_columns(found, newest)
        return Graph(found, newest)

    def once(
        self, pattern: Pattern, graphs: Mapping[str, Graph], means: Means, reader: Callable[[Circuit], ReadT]
    ) -> tuple[Upkeep, TableVersions, ReadT]:
        """Return what a reader makes of the solutions of a pattern now, which are not kept. Raises as ``read``."""
        tables = self._tables(graphs)
        upkeep, vector, found = FollowedPattern(pattern, self.options.memory, is_once=True).read(tables, self.source, means, reader)
        return upkeep, _versions(tables, vector), found

    def read(
        self, pattern: Pattern, graphs: Mapping[str, Graph], means: Means, reader: Callable[[Circuit], ReadT], statement: str
    ) -> tuple[str, Upkeep, TableVersions, ReadT]:
        """Return what a reader makes of the solutions of a pattern over graphs, which are followed from now on, after their identifier.

        No value of the pattern is another one each time. With the solutions comes which versions of which tables they are of.

        Raises:
            Refused: they cannot be followed here; the reason says why.
            Error: the engine failed.
        """
        tables = self._tables(graphs)
        known = self.sketches.relations.graphs
        followed = known.get_or_add(
            _key(pattern, tables), lambda: FollowedPattern(pattern, self.options.memory, statement=redacted(statement))
        )
        assert isinstance(followed, FollowedPattern)
        try:
            upkeep, vector, found = followed.read(tables, self.source, means, reader)
        finally:
            self.sketches.relations.metrics.count("imp_evictions_total", amount=known.trim(self.options.memory))
        self.sketches.relations.count(upkeep)
        return followed.identifier, upkeep, _versions(tables, vector), found

    def kept(self, pattern: Pattern, graphs: Mapping[str, Graph], wanted: Mapping[str, Wanted]) -> GraphState | None:
        """Return the state that a pattern would be answered from; None where there is none yet.

        Args:
            wanted: which triples the pattern can match, by graph.

        Raises:
            Refused: the pattern cannot be followed here, as far as that is known before rows are read.
        """
        tables = self._tables(graphs)
        for each in tables.values():
            each.columns(wanted[each.graph])
        return self.sketches.relations.graphs.find(_key(pattern, tables))

    def _tables(self, graphs: Mapping[str, Graph]) -> dict[str, GraphTable]:
        if self.options.sketch is SketchMode.OFF or not self.options.answers:
            raise Refused(Reason.SKETCH_OFF)
        self.permitted.check_tables(each.relation.name for each in graphs.values())
        found: dict[str, GraphTable] = {}
        for name, graph in graphs.items():
            if graph.newest is not None:
                found[name] = self._table(name, graph.relation, graph.newest)
                continue
            mapped = mapped_tables(self.session, self.source, graph.relation)
            self.permitted.check_tables(each.relation.name for each in mapped)
            found |= {f"{name} {'.'.join(each.relation.name)}": self._mapped(name, each) for each in mapped}
        return found

    def _mapped(self, graph: str, table: MappedTable) -> GraphTable:
        return replace(self._table(graph, table.relation, table.newest), maps=table.maps)

    def _table(self, graph: str, relation: Relation, newest: TableSnapshot) -> GraphTable:
        version = self.versions.of(relation.name, newest.location)
        snapshot = newest if version is None else self.source.snapshot_at(newest.location, version)
        return GraphTable(graph, relation.name, snapshot, version is not None)


def _check_columns(relation: Relation, snapshot: TableSnapshot) -> None:
    """Raise ProgrammingError for a table that is no graph."""
    missing = set(COLUMNS) - {column.name for column in snapshot.schema}
    if missing:
        what = f"it has no column {', '.join(sorted(missing))}"
        raise ProgrammingError(f"The table {'.'.join(relation.name)} is no graph: {what}. CREATE GRAPH makes one.")


def _key(pattern: Pattern, tables: Mapping[str, GraphTable]) -> Hashable:
    """Return what tells states apart: the same names may be those of other tables to another session."""
    return pattern, tuple(sorted((name, each.snapshot.location, repr(each.maps)) for name, each in tables.items()))


def _versions(tables: Mapping[str, GraphTable], vector: Mapping[str, TableSnapshot]) -> TableVersions:
    return {tables[name].name: each.version for name, each in vector.items()}
