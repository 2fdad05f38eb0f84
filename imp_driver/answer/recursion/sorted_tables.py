"""Tables that questions about a recursion read again and again, kept by the engine in the order of what is sought in them.

A copy is of one version. Rows that have changed since stand beside it: those that are gone from it, and those that are new. What a rule
makes of a table does not depend on how often a row is in it, so of equal rows it matters only whether there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from imp_driver.answer.recursion.convert import as_rows, as_table
from imp_driver.answer.recursion.sought import Sought
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.plan.nodes import Scan
from imp_driver.plan.render import RelationOf
from imp_driver.ports import KeptRows
from imp_driver.values.quoting import quoted_name
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True, eq=False)
class SortedTable:
    """A table at the version that a recursion stands for.

    Attributes:
        schema: of the columns that are read.
        copies: names of the copies, each by the column of its order.
        rows: of all copies.
        counts: of each row that has changed since, how many equal ones the copies have, and how many there are now.
        gone, new: the names of rows that are gone from the copies, and of those that are new; empty where there are none.
    """

    schema: pa.Schema
    copies: Mapping[str, str]
    rows: int
    counts: Mapping[Row, tuple[int, int]] = field(default_factory=dict)
    gone: str = ""
    new: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The names under which the engine has all this."""
        return frozenset((*self.copies.values(), *self.beside))

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of what has changed."""
        return tuple(filter(None, (self.gone, self.new)))

    def read(self, sought: Sought) -> str | None:
        """Return the rows that are sought, as a query in brackets; None where no copy is in the order of that column."""
        copy = self.copies.get(sought.column)
        if copy is None:
            return None
        found = f"SELECT {self._columns} FROM {copy} WHERE {sought.condition}"
        if self.gone:
            found = f"SELECT {self._columns} FROM ({found}) AS many LEFT ANTI JOIN {self.gone} AS few ON {self._is_same}"
        return f"({found} UNION ALL SELECT {self._columns} FROM {self.new})" if self.new else f"({found})"

    def counted(self, few: str, rows: pa.Table) -> str:
        """Return how often the copies have each of a few rows, which are under a name."""
        name, copy = next(iter(self.copies.items()))
        among = Sought.of(name, rows.column(name), may_be_null=True)
        where = "" if among is None else f" WHERE {among.condition}"
        items = ", ".join(f"few.{each}" for each in self._names)
        named = ", ".join(f"few.{each} AS k{place}" for place, each in enumerate(self._names))
        many = f"(SELECT {self._columns} FROM {copy}{where}) AS many"
        return f"SELECT {named}, count(*) AS n FROM {many} INNER JOIN {few} AS few ON {self._is_same} GROUP BY {items}"

    @property
    def _names(self) -> list[str]:
        return [quoted_name(name) for name in self.schema.names]

    @property
    def _is_same(self) -> str:
        return " AND ".join(f"few.{each} <=> many.{each}" for each in self._names)

    @property
    def _columns(self) -> str:
        return ", ".join(self._names)


@dataclass(frozen=True, slots=True, eq=False)
class Changer:
    """Has changes beside copies. ``read`` asks the engine; ``names`` are new ones."""

    kept: KeptRows
    read: Callable[[str], pa.Table]
    names: Iterator[str]

    def all_changed(
        self, tables: Mapping[tuple[str, ...], SortedTable], changes: Mapping[tuple[str, ...], ZSet]
    ) -> dict[tuple[str, ...], SortedTable]:
        """Return tables after changes of some. Raises as ``changed``; nothing new is kept then."""
        made: dict[tuple[str, ...], SortedTable] = {}
        try:
            for name in tables.keys() & changes.keys():
                made[name] = self.changed(tables[name], changes[name])
        except BaseException:
            self.drop([each for table in made.values() for each in table.beside])
            raise
        return {**tables, **made}

    def changed(self, table: SortedTable, net: ZSet) -> SortedTable:
        """Return a table after a change, whose names are new ones; those of ``table`` stay. Raises an Error of this driver."""
        rows = net.rows.select(table.schema.names).cast(table.schema)
        weights = dict(zip(as_rows(rows.columns), net.weights.tolist(), strict=True))
        counts = dict(table.counts)
        unknown = [row for row in weights if row not in counts]
        before = self._counted(table, unknown) if unknown else {}
        for row, weight in weights.items():
            copied, now = counts.get(row) or (before.get(row, 0), before.get(row, 0))
            counts[row] = copied, now + weight
        gone = [row for row, (copied, now) in counts.items() if copied and not now]
        new = [row for row, (copied, now) in counts.items() if now and not copied]
        after = replace(table, counts=counts, gone="", new="")
        try:
            after = replace(after, gone=self._handed_over(table.schema, gone))
            return replace(after, new=self._handed_over(table.schema, new))
        except BaseException:
            self.drop(after.beside)
            raise

    def drop(self, names: Collection[str]) -> None:
        """Let rows go. Raises nothing."""
        for name in names:
            self.kept.drop(name)

    def _counted(self, table: SortedTable, rows: Collection[Row]) -> Mapping[Row, int]:
        few = as_table(rows, table.schema)
        name = next(self.names)
        self.kept.hand_over(name, few)
        try:
            found = self.read(table.counted(name, few))
        finally:
            self.kept.drop(name)
        *columns, counts = found.columns
        known = [column.cast(kind) for column, kind in zip(columns, table.schema.types, strict=True)]
        return dict(zip(as_rows(known), counts.to_pylist(), strict=True))

    def _handed_over(self, schema: pa.Schema, rows: Collection[Row]) -> str:
        if not rows:
            return ""
        name = next(self.names)
        self.kept.hand_over(name, as_table(rows, schema))
        return name


@dataclass(frozen=True, slots=True, eq=False)
class ReadTables:
    """Tells where a question reads tables: from copies where these are in the order of what is sought, else where the tables are shown."""

    shown: RelationOf
    sorted: Mapping[tuple[str, ...], SortedTable]

    def __call__(self, scan: Scan, sought: Sought | None) -> str:
        """Return a name, or a query in brackets. Raises an Error of this driver."""
        table = self.sorted.get(scan.table)
        found = None if table is None or sought is None else table.read(sought)
        return self.shown(scan) if found is None else found
