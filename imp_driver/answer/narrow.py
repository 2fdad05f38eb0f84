"""Groups over more tables than a query reads -> the same over the query's own tables, and what must hold of the data for that.

Let each table but one, the root, be joined by columns that are unique in it. Then the join has at most one row for each of the root's, and
where it has as many rows as the root, exactly one for each: no condition has left any out, and every subset of the tables that are joined
so gives the root's rows, each once. Unlike declared keys, both are seen in the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.keys import text
from imp_driver.parse.dialect import SparkText
from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.attributes import column_named, substituted
from imp_driver.plan.bind import BoundBlock, all_groups, with_rows
from imp_driver.plan.conjunctive import equality
from imp_driver.plan.convert import row_expression
from imp_driver.plan.nodes import Attribute, Join, JoinKind, Plan, Scan

TableName: TypeAlias = tuple[str, ...]
_Place: TypeAlias = tuple[TableName, str]
"""A column of a table."""
_Pair: TypeAlias = frozenset[_Place]


@dataclass(frozen=True, slots=True)
class Unique:
    """Columns of a table of which no two rows have the same values, NULL aside."""

    table: TableName
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Narrow:
    """``block`` has the groups as those of the query's source, where the rows are as many as the root's and what is ``unique`` is so."""

    block: BoundBlock
    root: TableName
    unique: tuple[Unique, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """The tables of a block, each read once.

    Attributes:
        scans: of all of them.
        outer: the conditions of those that are joined by a LEFT JOIN.
        places: what the block calls the columns.
        pairs: the columns that the conditions above equate.
    """

    scans: Mapping[TableName, Scan]
    outer: Mapping[TableName, tuple[exp.Expr, ...]]
    places: Mapping[str, _Place]
    attributes: Mapping[_Place, Attribute]
    pairs: frozenset[_Pair]

    @classmethod
    def of(cls, block: BoundBlock) -> _Tables | None:
        """Return the tables of a block that only joins them; None for another block."""
        found = list(_inputs(block.source))
        scans = {scan.table: scan for scan, _ in found if scan is not None}
        if len(scans) < len(found):
            return None
        is_one = isinstance(block.source, Scan)
        attributes = {(scan.table, each.name): each for scan in scans.values() for each in scan.output}
        places = {each.name if is_one else each.identifier: place for place, each in attributes.items()}
        outer = {scan.table: conditions for scan, conditions in found if scan is not None and conditions is not None}
        return cls(scans, outer, places, attributes, _pairs(block.where_nodes, places))

    def joining(self, table: TableName) -> frozenset[_Pair]:
        """Return the columns by which a table is joined."""
        return _pairs(self.outer[table], self.places) if table in self.outer else self.pairs

    def named(self, node: exp.Expr) -> str:
        """Return an expression as any block over these tables has it."""
        return text(substituted(node, {name: column_named(".".join((*table, column))) for name, (table, column) in self.places.items()}))


def _inputs(source: Plan) -> Iterator[tuple[Scan | None, tuple[exp.Expr, ...] | None]]:
    """Yield the tables of a source with the conditions of their outer joins; None in the place of anything else."""
    match source:
        case Scan():
            yield source, None
        case Join(kind=JoinKind.INNER, conjuncts=()):
            yield from _inputs(source.left)
            yield from _inputs(source.right)
        case Join(kind=JoinKind.LEFT):
            yield from _inputs(source.left)
            yield (source.right if isinstance(source.right, Scan) else None), source.conjuncts
        case _:
            yield None, None


def _pairs(nodes: Sequence[exp.Expr], places: Mapping[str, _Place]) -> frozenset[_Pair]:
    found = (pair for node in nodes if (pair := equality(node)) is not None)
    return frozenset(frozenset((places[one], places[other])) for one, other in found if one in places and other in places)


def narrowed(
    finer: BoundBlock, asked: BoundBlock, types: Mapping[str, pa.DataType | None], rows: Mapping[TableName, int | None]
) -> Narrow | None:
    """Return finer groups as those of the source that is asked for; None where they are not, whatever the data.

    Args:
        types: of the columns of the block that is asked for.
        rows: of the tables that it reads; the root is the one that has most.
    """
    wide, own = _Tables.of(finer), _Tables.of(asked)
    if wide is None or own is None or len(wide.scans) == 1 or not own.scans.keys() <= wide.scans.keys():
        return None
    roots = [table for table in own.scans if table not in wide.outer and table not in own.outer and rows.get(table) is not None]
    if not roots:
        return None
    root = max(roots, key=lambda table: rows[table] or 0)
    hung = _Hung(wide, [root])
    if not (hung.add(own.scans, own) and hung.add(wide.scans, wide)):
        return None
    return Narrow(_over(finer, asked, wide, own, types), root, tuple(hung.unique))


@dataclass(slots=True)
class _Hung:
    """The tables that have at most one row for each of the root's, if what is ``unique`` is so."""

    wide: _Tables
    known: list[TableName]
    unique: list[Unique] = field(default_factory=list)

    def add(self, tables: Mapping[TableName, Scan], side: _Tables) -> bool:
        """Add all of some tables, by what both sides join them by; say whether each could be."""
        waiting = [table for table in tables if table not in self.known]
        while waiting:
            found = next(((table, columns) for table in waiting if (columns := self._columns(table, side))), None)
            if found is None:
                return False
            self.known.append(found[0])
            self.unique.append(Unique(*found))
            waiting.remove(found[0])
        return True

    def _columns(self, table: TableName, side: _Tables) -> tuple[str, ...]:
        """Return the columns by which a table is joined with those that are known; none where there are none on both sides."""
        columns: dict[str, None] = {}
        for pair in sorted(self._joining(table, side), key=sorted):
            own = [column for name, column in pair if name == table]
            is_known = any(name in self.known for name, _ in pair)
            if len(own) == 1 and is_known and _are_alike(*(self.wide.attributes[place] for place in pair)):
                columns[own[0]] = None
        return tuple(columns)

    def _joining(self, table: TableName, side: _Tables) -> frozenset[_Pair]:
        """Return what both sides equate to join a table, none where one of them gives other rows."""
        wide, pairs = self.wide, side.joining(table)
        if side is wide:
            return pairs
        if table in wide.outer:
            # It may be without a partner: only a join by the same conditions leaves the same rows without one.
            is_same = table in side.outer and set(map(side.named, side.outer[table])) == set(map(wide.named, wide.outer[table]))
            return pairs if is_same else frozenset()
        # Where each row has a partner by these conditions an outer join is an inner one.
        is_decided = table not in side.outer or (len(pairs) == len(side.outer[table]) and pairs <= wide.pairs)
        return pairs & wide.pairs if is_decided else frozenset()


def _are_alike(one: Attribute, other: Attribute) -> bool:
    """Say whether values that differ in one column are equal to different ones in the other."""
    kinds = {one.kind, other.kind}
    return len(kinds) == 1 and None not in kinds and not {one.type_name, other.type_name} & {"float", "double"}


def _over(finer: BoundBlock, asked: BoundBlock, wide: _Tables, own: _Tables, types: Mapping[str, pa.DataType | None]) -> BoundBlock:
    """Return groups with the names that the query has for columns; those of other tables have names that it cannot have."""
    names = {place: name for name, place in own.places.items()}
    as_own = {name: column_named(names.get(place, f"{place[1]} of another table")) for name, place in wide.places.items()}
    key_nodes = tuple(substituted(node, as_own) for node in finer.key_nodes)
    conditions = set(map(wide.named, finer.where_nodes))
    # All rows of the root have passed every condition of the groups.
    held = tuple(node for node in asked.where_nodes if own.named(node) in conditions or _pairs([node], own.places) & wide.pairs)
    block = replace(
        all_groups(finer),
        source=asked.source,
        key_nodes=key_nodes,
        keys_sql=tuple(map(text, key_nodes)),
        keys=tuple(row_expression(node, types) for node in key_nodes),
        aggregates=tuple(_renamed(each, as_own) for each in finer.aggregates),
    )
    return with_rows(block, held, types)


def _renamed(aggregate: BoundAggregate, names: Mapping[str, exp.Expr]) -> BoundAggregate:
    if aggregate.argument_node is None:
        return aggregate
    node = substituted(aggregate.argument_node, names)
    return replace(aggregate, argument_node=node, argument_sql=node.sql(dialect=SparkText))
