"""Graphs of other tables: which tables the view of a mapping reads, where its triples can be made of their rows in process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from imp_driver.errors import Error
from imp_driver.ports import Relation, RelationKind, Session
from imp_driver.reasons import Reason
from imp_driver.sparql.graph_table import MAPPING, MAPPING_TEXT, PROPERTY
from imp_driver.sparql.mapping import RowMap, TripleMap, read_mapping
from imp_driver.sparql.mapping_sql import query_text, table_of
from imp_driver.values.quoting import qualified
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangeSource, TableSnapshot

_SPARK_NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
"""Of the types that Delta names otherwise."""
_MOST_MAPPINGS = 64


@dataclass(frozen=True, slots=True, eq=False)
class MappedTable:
    """A table, its newest version, and the triples that each of its rows makes."""

    relation: Relation
    newest: TableSnapshot
    maps: tuple[TripleMap, ...]


def mapped_tables(session: Session, source: ChangeSource, view: Relation) -> tuple[MappedTable, ...]:
    """Return the tables of a graph that is a view.

    Raises:
        Refused: the view is not that of a mapping, or means something else here, or its rows are not those of Delta tables alone.
        Error: the engine failed.
    """
    definition = session.definition(view.name) if view.kind is RelationKind.VIEW and view.view is not None else None
    if definition is None or view.view is None or definition.properties.get(PROPERTY) != MAPPING:
        raise Refused(Reason.NOT_A_DELTA_TABLE, f"{'.'.join(view.name)} is a {view.kind.value}")
    if view.view.problem:
        raise Refused(Reason.VIEW, view.view.problem)
    maps = _maps(definition.properties.get(MAPPING_TEXT, ""))
    bases = [_base(session, view.view.namespace, each) for each in maps]
    newest = {each.name: _newest(source, each) for each in bases}
    found: dict[tuple[str, ...], tuple[Relation, list[TripleMap]]] = {}
    for rows, base in zip(maps, bases, strict=True):
        found.setdefault(base.name, (base, []))[1].extend(rows.triples)
    read = {f"SELECT * FROM {qualified(table_of(rows))} AS r": newest[base.name] for rows, base in zip(maps, bases, strict=True)}
    _check_text(view, maps, read)
    return tuple(MappedTable(relation, newest[relation.name], tuple(own)) for relation, own in found.values())


def types_of(snapshot: TableSnapshot) -> Mapping[str, str]:
    """Return Delta's names of the types of a table's columns."""
    return {column.name: column.type_name for column in snapshot.schema}


@lru_cache(maxsize=_MOST_MAPPINGS)
def _maps(text: str) -> tuple[RowMap, ...]:
    try:
        return read_mapping(text)
    except Error as error:
        raise Refused(Reason.LEFT_TO_SPARK, f"the mapping of the graph cannot be read: {error}") from error


def _base(session: Session, namespace: tuple[str, ...], rows: RowMap) -> Relation:
    if rows.table is None:
        raise Refused(Reason.LEFT_TO_SPARK, "the mapping has rr:sqlQuery, whose rows are not followed here; rr:tableName is")
    name = table_of(rows)
    relation = session.resolve((*namespace, *name) if len(name) == 1 else name)
    if relation is None or relation.kind is not RelationKind.DELTA_TABLE or relation.location is None:
        what = "is not there" if relation is None else f"is a {relation.kind.value}"
        raise Refused(Reason.NOT_A_DELTA_TABLE, f"{'.'.join(name)}, which the mapping of the graph reads, {what}")
    return relation


def _newest(source: ChangeSource, relation: Relation) -> TableSnapshot:
    assert relation.location is not None
    return source.snapshot(relation.location)


def _check_text(view: Relation, maps: tuple[RowMap, ...], read: Mapping[str, TableSnapshot]) -> None:
    """Raise Refused where the view's query is another one than its mapping makes of the tables as they are.

    Args:
        read: versions by the queries that ask for their types.
    """

    def types(query: str) -> Mapping[str, str]:
        return {name: _SPARK_NAMES.get(kind, kind) for name, kind in types_of(read[query]).items()}

    try:
        wanted = query_text(maps, types)
    except Error as error:
        raise Refused(Reason.LEFT_TO_SPARK, f"the view of the graph cannot be made of its tables any more: {error}") from error
    if view.view is None or view.view.text.strip() != wanted.strip():
        raise Refused(Reason.VIEW, f"the query of {'.'.join(view.name)} is another one than its mapping makes of the tables as they are")
