"""Queries over graphs, answered from the solutions of their patterns, which follow the graphs' tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from imp_driver.answer.graphs.followed import FollowedPattern, GraphTable
from imp_driver.answer.graphs.quads import COLUMNS
from imp_driver.answer.permitted import Permitted
from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.errors import ProgrammingError
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.parse.views import read_name
from imp_driver.ports import Relation, RelationKind, Session
from imp_driver.reasons import Reason
from imp_driver.snapshot.versions import Versions
from imp_driver.sparql.algebra import Pattern
from imp_driver.values.options import Options, SketchMode
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangeSource, TableSnapshot

ReadT = TypeVar("ReadT")


@dataclass(frozen=True, slots=True)
class GraphAnswers:
    """What the queries over graphs of one connection are answered from."""

    session: Session
    source: ChangeSource
    versions: Versions
    sketches: Sketches
    permitted: Permitted
    options: Options

    def relation(self, name: str) -> Relation:
        """Return what the name of a graph stands for. Raises ProgrammingError where it is no graph."""
        try:
            parts = read_name(name)
        except ProgrammingError:
            raise ProgrammingError(
                f"<{name}> is no name of a graph: these are names of tables, in backticks where they need them."
            ) from None
        found = self.session.resolve(parts)
        if found is None:
            raise ProgrammingError(f"There is no graph {name}. CREATE GRAPH {name} makes one; SHOW GRAPHS lists those that there are.")
        if found.kind is RelationKind.DELTA_TABLE and found.location is not None:
            _check_columns(found, self.source.snapshot(found.location))
        return found

    def read(
        self, pattern: Pattern, tables: Mapping[str, Relation], means: Means, reader: Callable[[Circuit], ReadT], *, is_kept: bool = True
    ) -> tuple[Upkeep, Mapping[str, TableSnapshot], ReadT]:
        """Return what a reader makes of the solutions of a pattern over tables, by the names that it has for them.

        Args:
            is_kept: the solutions are followed from now on; no value of them is another one each time.

        Raises:
            Refused: they cannot be followed here; the reason says why.
            Error: the engine failed.
        """
        if self.options.sketch is SketchMode.OFF or not self.options.answers:
            raise Refused(Reason.SKETCH_OFF)
        self.permitted.check_tables(each.name for each in tables.values())
        graphs = {name: self._table(each) for name, each in tables.items()}
        if not is_kept:
            return FollowedPattern(pattern, self.options.memory, is_once=True).read(graphs, self.source, means, reader)
        known = self.sketches.relations.graphs
        key = pattern, tuple(sorted((name, each.snapshot.location) for name, each in graphs.items()))
        followed = known.get_or_add(key, lambda: FollowedPattern(pattern, self.options.memory))
        assert isinstance(followed, FollowedPattern)
        try:
            return followed.read(graphs, self.source, means, reader)
        finally:
            known.trim(_weight, self.options.memory)

    def _table(self, relation: Relation) -> GraphTable:
        if relation.kind is not RelationKind.DELTA_TABLE or relation.location is None:
            raise Refused(Reason.NOT_A_DELTA_TABLE, f"{'.'.join(relation.name)} is a {relation.kind.value}")
        version = self.versions.of(relation.name, relation.location)
        location = relation.location
        snapshot = self.source.snapshot(location) if version is None else self.source.snapshot_at(location, version)
        return GraphTable(relation.name, snapshot, version is not None)


def _check_columns(relation: Relation, snapshot: TableSnapshot) -> None:
    """Raise ProgrammingError for a table that is no graph."""
    missing = set(COLUMNS) - {column.name for column in snapshot.schema}
    if missing:
        what = f"it has no column {', '.join(sorted(missing))}"
        raise ProgrammingError(f"The table {'.'.join(relation.name)} is no graph: {what}. CREATE GRAPH makes one.")


def _weight(known: object) -> int:
    return known.bytes if isinstance(known, FollowedPattern) else 0
