"""CREATE GRAPH, DROP GRAPH and SHOW GRAPHS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa

from imp_driver.changes import NO_SKETCH, Changes
from imp_driver.commands.graph_names import found_graph
from imp_driver.commands.local import LocalStream
from imp_driver.commands.running import RunOne, without_rows
from imp_driver.errors import OperationalError, ProgrammingError
from imp_driver.parse.graphs import NewGraph, read_dropped_graph, read_new_graph
from imp_driver.parse.statement import parse
from imp_driver.ports import Outcome, Session
from imp_driver.sparql.graph_table import MAPPING, PROPERTY, TRIPLES, create_text
from imp_driver.sparql.mapping import read_mapping
from imp_driver.sparql.mapping_sql import view_text
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified


class Graphs:
    """The statements of one connection that make graphs; ``run_one`` runs another statement on behalf of one."""

    def __init__(self, session: Session, changes: Changes, run_one: RunOne) -> None:
        self._session = session
        self._changes = changes
        self._run_one = run_one

    def create(self, text: str, execution: Execution) -> Outcome:
        """Make a graph: an empty table, or a view of tables that a mapping names.

        Raises:
            ProgrammingError: the name is taken, or the mapping is wrong.
            NotSupportedError: the mapping has what is not followed here.
            OperationalError: its file cannot be read.
        """
        wanted = read_new_graph(text)
        if self._session.resolve(wanted.name) is not None:
            graph = found_graph(self._session, wanted.name)
            if not wanted.may_exist:
                raise ProgrammingError(f"The graph {'.'.join(graph.name)} is there already. CREATE GRAPH IF NOT EXISTS leaves it as it is.")
            return Outcome(None, -1, NO_SKETCH)
        mapping = wanted.mapping if wanted.file is None else _file_text(wanted.file)
        made = create_text(wanted.name, wanted.comment) if mapping is None else self._mapped(wanted, mapping, execution)
        without_rows(self._run_one, made, execution)
        return Outcome(None, -1, NO_SKETCH)

    def _mapped(self, wanted: NewGraph, mapping: str, execution: Execution) -> str:
        return view_text(wanted.name, read_mapping(mapping), mapping, wanted.comment, self._types(execution))

    def _types(self, execution: Execution) -> Callable[[str], Mapping[str, str]]:
        def of(query: str) -> Mapping[str, str]:
            return {column.name: column.type_name for column in self._session.describe(execution.of(query)).columns}

        return of

    def drop(self, text: str, execution: Execution) -> Outcome:
        """Drop the table or view of a graph. Raises ProgrammingError where there is no graph of this name."""
        name, may_miss = read_dropped_graph(text)
        if may_miss and self._session.resolve(name) is None:
            return Outcome(None, -1, NO_SKETCH)
        if self._session.resolve(name) is None:
            raise ProgrammingError(f"There is no graph {'.'.join(name)} to drop. SHOW GRAPHS lists those that there are.")
        graph = found_graph(self._session, name)
        without_rows(self._run_one, f"DROP {'VIEW' if graph.is_mapped else 'TABLE'} {qualified(graph.name)}", execution)
        return Outcome(None, -1, NO_SKETCH)

    def shown(self, execution: Execution) -> Outcome:
        """Return a row for each graph of the current schema that may be read."""
        settings = dict(self._session.settings())
        place = (settings["catalog"], *settings["schema"].split("."))
        listed = self._session.read(f"SHOW TABLES IN {qualified(place)}", execution).to_pylist()
        names = sorted((*place, row["tableName"]) for row in listed if not row["isTemporary"])
        found = [(name, kind, comment, *self._size(name)) for name in names for kind, comment in self._known(name)]
        columns = list(zip(*found, strict=True)) or [()] * 5
        text, number = pa.string(), pa.int64()
        return Outcome(
            LocalStream(
                {
                    "graph_name": (text, [".".join(name) for name in columns[0]]),
                    "kind": (text, columns[1]),
                    "triples": (number, columns[4]),
                    "version": (number, columns[3]),
                    "comment": (text, columns[2]),
                }
            ),
            -1,
            NO_SKETCH,
        )

    def _known(self, name: tuple[str, ...]) -> list[tuple[str, str | None]]:
        definition = self._session.definition(name)
        kind = None if definition is None else definition.properties.get(PROPERTY)
        if definition is None or kind not in (TRIPLES, MAPPING) or not self._session.may_read(name):
            return []
        return [(kind, definition.comment)]

    def _size(self, name: tuple[str, ...]) -> tuple[int | None, int | None]:
        """Return the version and the rows of a table; None of both for a view."""
        snapshot = self._changes.target(parse(f"DELETE FROM {qualified(name)}"))
        return (None, None) if snapshot is None else (snapshot.version, snapshot.row_count)


def _file_text(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise OperationalError(f"The mapping {path} cannot be read: {what}.") from error
