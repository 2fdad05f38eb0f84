"""A warehouse of real Delta tables with DuckDB in the place of Spark: what one process keeps in files, the next one finds."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from deltalake import DeltaTable, write_deltalake
from sqlglot import exp

from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.persist.tables import DeltaRepository
from imp_driver.ports import Moment, Relation, RelationKind, ResultColumn, ResultShape, ResultStream, TableDefinition
from imp_driver.reasons import Reason
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.faults.lake_buckets import LakeBuckets
from tests.soundness.engine import TableStream, connect_engine, counted, drained
from tests.soundness.kept_rows import Engine, MemoryRows, type_name

COLUMNS = ("id", "g", "a")
SCHEMA = pa.schema([(name, pa.int32()) for name in COLUMNS])
GROUPS = 12
Row = tuple[int, int, int]
Log = tuple[tuple[object, ...], ...]


@dataclass(slots=True)
class Versions:
    """What is registered in DuckDB of a table's versions while its log stays as it is."""

    log: Log
    newest: int | None = None
    names: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Lake:
    """Tables in folders; a table's name is that of its folder. A version is read once for as long as no file of the log changes."""

    folder: Path
    connection: duckdb.DuckDBPyConnection = field(default_factory=connect_engine)
    versions: dict[str, Versions] = field(default_factory=dict)
    now: datetime = datetime(2024, 3, 1, tzinfo=UTC)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def location(self, table: str) -> str:
        return str(self.folder / table)

    def has(self, table: str) -> bool:
        return Path(self.location(table), "_delta_log").exists()

    def log(self, table: str) -> Log:
        """Return what tells whether any file of the table's log has changed."""
        with os.scandir(Path(self.location(table), "_delta_log")) as entries:
            found = [(entry.name, entry.stat()) for entry in entries]
        return tuple(sorted((name, file.st_ino, file.st_size, file.st_mtime_ns) for name, file in found))

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
        with self.lock:
            names = tuple((*table, self._registered(*table)) for table in _tables(text) if self.has(table[0]))
            found = self.connection.sql(_translated(text, names, self.now)).to_arrow_table()
        return pa.Table.from_arrays([_narrow(column) for column in found.columns], names=found.column_names)

    @contextmanager
    def holding(self, views: Mapping[str, pa.Table]) -> Iterator[None]:
        """Have rows under names for as long as the block lasts; others wait."""
        with self.lock:
            for view, rows in views.items():
                self.connection.register(view, rows)
            try:
                yield
            finally:
                for view in views:
                    self.connection.unregister(view)

    def rows(self, text: str) -> list[str]:
        """Return the rows of a query, sorted, for comparison."""
        return sorted(map(repr, self.query(text).to_pylist()))

    def _registered(self, table: str, version: int | None) -> str:
        """Return the name that the rows of a version have in DuckDB; None is the newest one."""
        log = self.log(table)
        known = self.versions.get(table)
        if known is None or known.log != log:
            known = self.versions[table] = Versions(log)
        wanted = known.newest if version is None else version
        if wanted is not None and wanted in known.names:
            return known.names[wanted]
        found = DeltaTable(self.location(table), version=wanted)
        if version is None:
            known.newest = found.version()
        name = f"{table}__{found.version()}"
        if found.version() not in known.names:
            self.connection.register(name, found.to_pyarrow_table())
            known.names[found.version()] = name
        return name


@dataclass(slots=True)
class LakeSession:
    """A session over a lake; it only reads. ``zone`` is that of its times, which nobody asks for where it is empty."""

    lake: Lake
    zone: str = ""

    def execute(self, execution: Execution) -> ResultStream:
        found = self.lake.query(execution.text)
        return TableStream(found.schema, found.to_batches())

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        return self.lake.query(text)

    def describe(self, execution: Execution) -> ResultShape:
        schema = self.lake.query(execution.text).schema
        return ResultShape(tuple(ResultColumn(field.name, type_name(field.type), None, None, True) for field in schema), schema)

    def parallelism(self) -> int:
        return 1

    def has_row_rules(self) -> bool:
        return False

    def buckets(self, execution: Execution) -> LakeBuckets:
        return LakeBuckets(self.lake.query)

    def kept_rows(self, execution: Execution) -> MemoryRows:
        return MemoryRows(Engine(self.lake.query, self.lake.connection.register, self.lake.connection.unregister))

    def read_with(self, text: str, view: str, rows: pa.Table, execution: Execution) -> pa.Table:
        with self.lake.holding({view: rows}):
            return self.lake.query(text)

    def execute_with(self, execution: Execution, views: Mapping[str, pa.Table]) -> ResultStream:
        with self.lake.holding(views):
            return self.execute(execution)

    def append(self, text: str, view: str, rows: pa.Table, execution: Execution) -> None:
        raise NotImplementedError

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        table = name[-1].lower()
        if not self.lake.has(table):
            return None
        return Relation(RelationKind.DELTA_TABLE, (table,), self.lake.location(table))

    def may_read(self, name: tuple[str, ...]) -> bool:
        return self.resolve(name) is not None

    def knows_zone(self, name: str) -> bool:
        return False

    def moment(self) -> Moment:
        return Moment(self.lake.now.date(), self.lake.now)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("spark.sql.session.timeZone", self.zone),) if self.zone else ()

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return None

    def version_at(self, name: tuple[str, ...], time: str, execution: Execution) -> int | None:
        return None

    def last_commit_version(self) -> int | None:
        return None

    def interrupt(self, execution: Execution) -> None:
        return None

    def close(self) -> None:
        return None


class Process:
    """What one process has of a lake: its own view of the tables and of the store, and one connection in shadow mode."""

    def __init__(self, folder: Path | Lake, mode: SketchMode = SketchMode.SHADOW, store: Path | None = None) -> None:
        self.lake = folder if isinstance(folder, Lake) else Lake(folder)
        self.source = DeltaTables()
        location = self.lake.location("_imp/store") if store is None else str(store)
        self.repository = DeltaRepository(location)
        self.sketches = Sketches(Relations(self.source, 1 << 30, self.repository, buckets=f"{location}/buckets"))
        self.path = self.connect(mode)

    def connect(self, mode: SketchMode = SketchMode.SHADOW) -> Middleware:
        return Middleware(LakeSession(self.lake), self.source, self.sketches, Options(answers=False, sketch=mode))

    def ask(self, text: str) -> SketchReport:
        """Run a query; its rows must be those of the plain one, which has several answers where rows at its limit tie."""
        outcome = self.path.run(Execution(text))
        found = sorted(map(repr, drained(outcome.stream)))
        assert outcome.report.reason is Reason.TIE_AT_LIMIT or found == self.lake.rows(text)
        return outcome.report

    def close(self) -> None:
        self.path.close()


@lru_cache(maxsize=1_000)
def _parsed(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, read="spark")


@lru_cache(maxsize=1_000)
def _tables(text: str) -> tuple[tuple[str, int | None], ...]:
    """Return the tables of a query with their versions; None is the newest one."""
    return tuple(dict.fromkeys(map(_version, _parsed(text).find_all(exp.Table))))


@lru_cache(maxsize=1_000)
def _translated(text: str, names: tuple[tuple[str, int | None, str], ...], now: datetime) -> str:
    """Translate a query of Spark SQL. ``names``: what versions of tables are called in DuckDB; other tables stay as they are."""
    registered = {(table, version): name for table, version, name in names}

    def in_duckdb(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.CurrentDate):
            return exp.cast(exp.Literal.string(str(now.date())), exp.DType.DATE)
        if isinstance(node, exp.CurrentTimestamp) or (isinstance(node, exp.Anonymous) and node.name.lower() == "now"):
            return exp.cast(exp.Literal.string(now.isoformat(sep=" ")), exp.DType.TIMESTAMPTZ)
        if isinstance(node, exp.DateTrunc):
            return exp.cast(node.copy(), exp.DType.DATE)
        name = registered.get(_version(node)) if isinstance(node, exp.Table) else None
        if name is None:
            return counted(node)
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
        return exp.Table(this=exp.to_identifier(name), alias=alias)

    return _parsed(text).transform(in_duckdb).sql(dialect="duckdb", copy=False)


def _version(table: exp.Expr) -> tuple[str, int | None]:
    version: Any = table.args.get("version")
    return table.name, None if version is None else int(version.expression.this)


def _narrow(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """DuckDB's sums of integers are wider than Spark's."""
    return column.cast(pa.int64()) if pa.types.is_decimal(column.type) and column.type.scale == 0 else column
