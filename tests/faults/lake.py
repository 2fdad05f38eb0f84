"""A warehouse of real Delta tables with DuckDB in the place of Spark: what one process keeps in files, the next one finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from deltalake import DeltaTable, write_deltalake
from sqlglot import exp

from imp_driver.config import Options, SketchMode
from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.observe.report import SketchReport
from imp_driver.persist.tables import DeltaRepository
from imp_driver.ports import Parameters, Relation, RelationKind, ResultStream, TableDefinition
from tests.faults.lake_buckets import LakeBuckets
from tests.soundness.engine import TableStream, drained

COLUMNS = ("id", "g", "a")
SCHEMA = pa.schema([(name, pa.int32()) for name in COLUMNS])
GROUPS = 12
Row = tuple[int, int, int]


@dataclass(slots=True)
class Lake:
    """Tables in folders; a table's name is that of its folder."""

    folder: Path
    connection: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)

    def location(self, table: str) -> str:
        return str(self.folder / table)

    def has(self, table: str) -> bool:
        return Path(self.location(table), "_delta_log").exists()

    def create(self, table: str, rows_per_group: int = 20) -> None:
        """Make a table whose files have one group each."""
        for group in range(GROUPS):
            self.insert(table, [(group * 1_000 + number, group, number % 7) for number in range(rows_per_group)])

    def insert(self, table: str, rows: list[Row]) -> None:
        data = pa.table([pa.array(column, pa.int32()) for column in zip(*rows, strict=True)], schema=SCHEMA)
        configuration = None if self.has(table) else {"delta.enableChangeDataFeed": "true"}
        write_deltalake(self.location(table), data, mode="append", configuration=configuration)

    def delete(self, table: str, condition: str) -> None:
        DeltaTable(self.location(table)).delete(condition)

    def update(self, table: str, changes: dict[str, str], condition: str) -> None:
        DeltaTable(self.location(table)).update(changes, predicate=condition)

    def version(self, table: str) -> int:
        return int(DeltaTable(self.location(table)).version())

    def query(self, text: str) -> pa.Table:
        """Run a query of Spark SQL."""
        tree = sqlglot.parse_one(text, read="spark").transform(self._at_version)
        found = self.connection.sql(tree.sql(dialect="duckdb")).to_arrow_table()
        return pa.table({name: _narrow(found.column(place)) for place, name in enumerate(found.column_names)})

    def rows(self, text: str) -> list[str]:
        """Return the rows of a query, sorted, for comparison."""
        return sorted(map(repr, self.query(text).to_pylist()))

    def _at_version(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Table) or not self.has(node.name):
            return node
        version: Any = node.args.get("version")
        wanted = None if version is None else int(version.expression.this)
        table = DeltaTable(self.location(node.name), version=wanted)
        name = f"{node.name}__{table.version()}"
        self.connection.register(name, table.to_pyarrow_table())
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
        return exp.Table(this=exp.to_identifier(name), alias=alias)


@dataclass(slots=True)
class LakeSession:
    """A session over a lake; it only reads."""

    lake: Lake

    def execute(self, text: str, parameters: Parameters, tag: str) -> ResultStream:
        found = self.lake.query(text)
        return TableStream(found.schema, found.to_batches())

    def read(self, text: str, tag: str, most_bytes: int | None = None) -> pa.Table:
        return self.lake.query(text)

    def buckets(self, tag: str) -> LakeBuckets:
        return LakeBuckets(self.lake.query)

    def read_with(self, text: str, view: str, rows: pa.Table, tag: str) -> pa.Table:
        self.lake.connection.register(view, rows)
        try:
            return self.lake.query(text)
        finally:
            self.lake.connection.unregister(view)

    def append(self, text: str, view: str, rows: pa.Table, tag: str) -> None:
        raise NotImplementedError

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        table = name[-1].lower()
        if not self.lake.has(table):
            return None
        return Relation(RelationKind.DELTA_TABLE, (table,), self.lake.location(table))

    def may_read(self, name: tuple[str, ...]) -> bool:
        return self.resolve(name) is not None

    def settings(self) -> tuple[tuple[str, str], ...]:
        return ()

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return None

    def last_commit_version(self) -> int | None:
        return None

    def interrupt(self, tag: str) -> None:
        return None

    def close(self) -> None:
        return None


class Process:
    """What one process has of a lake: its own view of the tables and of the store, and one connection in shadow mode."""

    def __init__(self, folder: Path | Lake, mode: SketchMode = SketchMode.SHADOW) -> None:
        self.lake = folder if isinstance(folder, Lake) else Lake(folder)
        self.source = DeltaTables()
        self.repository = DeltaRepository(self.lake.location("_imp/store"))
        self.sketches = Sketches(self.source, 1 << 30, None, self.repository, buckets=self.lake.location("_imp/store/buckets"))
        self.path = self.connect(mode)

    def connect(self, mode: SketchMode = SketchMode.SHADOW) -> Middleware:
        return Middleware(LakeSession(self.lake), self.source, self.sketches, Options(sketch=mode))

    def ask(self, text: str) -> SketchReport:
        """Run a query; its rows must be those of the plain one."""
        outcome = self.path.run(text, None, "tag")
        assert sorted(map(repr, drained(outcome.stream))) == self.lake.rows(text)
        return outcome.report

    def close(self) -> None:
        self.path.close()


def _narrow(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """DuckDB's sums of integers are wider than Spark's."""
    return column.cast(pa.int64()) if pa.types.is_decimal(column.type) and column.type.scale == 0 else column
