"""An engine without a JVM for the whole driver: DuckDB behind the seams of session and change source, with versions in memory."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count, pairwise
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import sqlglot
from sqlglot import exp

from imp_driver.errors import OperationalError
from imp_driver.ports import Relation, RelationKind, ResultColumn, ResultShape, ResultStream, ResultTooLarge, TableDefinition
from imp_driver.reasons import DeltaSource
from imp_driver.values.execution import Execution
from imp_driver.values.tables import ChangePlan, SchemaColumn, TableSnapshot, ZSet
from tests.soundness.buckets import MemoryBuckets
from tests.soundness.kept_rows import Engine, MemoryRows, type_name
from tests.soundness.tables import COLUMNS

Row = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Files:
    """Statistics of a table whose files hold two rows each, sorted by one column."""

    rows_of: tuple[tuple[Row, ...], ...]
    columns: tuple[str, ...]

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.ones(len(self.rows_of), np.int64)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        return np.array([len(file) for file in self.rows_of], np.int64)

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        place = self.columns.index(column)
        values = [[row[place] for row in file if row[place] is not None] for file in self.rows_of]
        lower, upper = ([extreme(each, default=None) for each in values] for extreme in (min, max))  # type: ignore[type-var]
        nulls = [len(file) - len(each) for file, each in zip(self.rows_of, values, strict=True)]
        return pa.array(lower, pa.int32()), pa.array(upper, pa.int32()), np.array(nulls, np.int64)


MOST_DATABASES = 64
"""Of one engine; what they hold goes with it."""
_engines: list[tuple[duckdb.DuckDBPyConnection, Iterator[int]]] = []
_engines_lock = threading.Lock()
# The threads of an engine do not go on in a forked process.
os.register_at_fork(after_in_child=_engines.clear)


def new_engine() -> duckdb.DuckDBPyConnection:
    """Open an engine without an optimization that forgets HAVING sum(a) < 2 above a LEFT JOIN whose right side it knows to be empty."""
    return duckdb.connect(config={"disabled_optimizers": "statistics_propagation"})


def connect_engine() -> duckdb.DuckDBPyConnection:
    """Connect to a database of one's own in an engine that others use too: to open one takes fifty times as long.

    Settings are the engine's, so who changes any needs ``new_engine``.
    """
    with _engines_lock:
        while True:
            engine, numbers = _engines.pop() if _engines else (new_engine(), iter(range(MOST_DATABASES)))
            number = next(numbers, None)
            if number is None:
                continue
            try:
                connection = engine.cursor()
                connection.execute(f"ATTACH ':memory:' AS own_{number}; USE own_{number}")
            except duckdb.Error:
                # An assertion of the engine has failed before, after which it answers nothing more.
                continue
            _engines.append((engine, numbers))
            return connection


@dataclass(slots=True)
class Warehouse:
    """Tables ``r`` and ``s`` of INT columns; version n of a table is its n-th list of rows.

    ``clustering`` is the place of a column; ``has_look_up`` says that rows can be found without a query.
    """

    connection: duckdb.DuckDBPyConnection = field(default_factory=connect_engine)
    clustering: int = 1
    history: dict[str, list[list[Row]]] = field(default_factory=lambda: {table: [] for table in COLUMNS})
    times: dict[str, list[float]] = field(default_factory=lambda: {table: [] for table in COLUMNS})
    now: float = 0.0
    looked_up: int = 0
    has_look_up: bool = True
    buckets: MemoryBuckets = field(init=False)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.buckets = MemoryBuckets(self.query)

    def commit(self, table: str, rows: Sequence[Row]) -> None:
        """Make ``rows`` the newest version of a table."""
        name = f"{table}__{len(self.history[table])}"
        columns = COLUMNS[table]
        data = pa.table({column: pa.array([row[place] for row in rows], pa.int32()) for place, column in enumerate(columns)})
        with self.lock:
            self.connection.register("__imp_rows", data)
            self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM __imp_rows")
            self.connection.unregister("__imp_rows")
            self.connection.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM {name}")
        self.history[table].append(list(rows))
        self.times[table].append(self.now)

    def rows(self, table: str) -> list[Row]:
        return self.history[table][-1]

    def newest(self, table: str) -> int:
        return len(self.history[table]) - 1

    def query(self, text: str) -> pa.Table:
        """Run a query of Spark SQL."""
        with self.lock:
            found = self.connection.sql(in_duckdb(text)).to_arrow_table()
        return pa.table({name: _narrow(found.column(place)) for place, name in enumerate(_unique(found.column_names))})

    # The change source.

    def snapshot(self, location: str) -> TableSnapshot:
        return self.snapshot_at(location, self.newest(location[1:]))

    def snapshot_at(self, location: str, version: int) -> TableSnapshot:
        table = location[1:]
        if not 0 <= version <= self.newest(table):
            raise OperationalError(f"no version {version} of {table}")
        schema = tuple(SchemaColumn(column, "integer", True) for column in COLUMNS[table])
        rows = sorted(self.history[table][version], key=lambda row: (row[self.clustering] is None, row[self.clustering] or 0))
        files = Files(tuple(tuple(rows[place : place + 2]) for place in range(0, len(rows), 2)), COLUMNS[table])
        return TableSnapshot(location, table, version, schema, len(rows), files)

    def version_at(self, location: str, moment: float) -> int:
        before = [version for version, time in enumerate(self.times[location[1:]]) if time <= moment]
        if not before:
            raise OperationalError(f"no version of {location} then")
        return before[-1]

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        return ChangePlan(location, from_version, to_version, DeltaSource.CHANGE_FEED, None)

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        table = plan.location[1:]
        # Commit by commit, as logs and feeds have them: what came and went in between has both signs.
        versions = [Counter(rows) for rows in self.history[table][plan.from_version : plan.to_version + 1]]
        signed = [(row, 1) for old, new in pairwise(versions) for row in (new - old).elements()]
        signed += [(row, -1) for old, new in pairwise(versions) for row in (old - new).elements()]
        places = [COLUMNS[table].index(column) for column in columns]
        rows = {column: pa.array([row[place] for row, _ in signed], pa.int32()) for column, place in zip(columns, places, strict=True)}
        weights = np.array([weight for _, weight in signed], np.int64)
        return ZSet(pa.table(rows) if rows else pa.table({"none": weights}), weights)

    def rows_with(self, snapshot: TableSnapshot, columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        """Return the rows of an earlier version and what changed since, as they are found in files."""
        table = snapshot.location[1:]
        if not self.has_look_up or snapshot.version != self.newest(table):
            return None
        wanted, place = set(values.drop_null().to_pylist()), COLUMNS[table].index(key)
        earlier, newest = (self.history[table][version] for version in (snapshot.version // 2, snapshot.version))
        before, after = Counter(earlier), Counter(newest)
        signed = [(row, 1) for row in (*earlier, *(after - before).elements())] + [(row, -1) for row in (before - after).elements()]
        signed = [(row, weight) for row, weight in signed if row[place] in wanted]
        self.looked_up += 1
        rows = {name: pa.array([row[COLUMNS[table].index(name)] for row, _ in signed], pa.int32()) for name in columns}
        return ZSet(pa.table(rows), np.array([weight for _, weight in signed], np.int64))

    def commit_digest(self, location: str, version: int) -> str | None:
        return f"{location} {version} {self.history[location[1:]][version]}"

    def commit_metrics(self, location: str, version: int) -> dict[str, int]:
        return {}


@dataclass(slots=True)
class TableStream:
    """Rows that are there already."""

    schema: pa.Schema
    batches: list[pa.RecordBatch]
    columns: tuple[ResultColumn, ...] = ()

    def next_batch(self) -> pa.RecordBatch | None:
        return self.batches.pop(0) if self.batches else None

    def close(self) -> None:
        self.batches = []


def drained(stream: ResultStream | None) -> list[dict[str, Any]]:
    """Return all rows of a stream."""
    assert stream is not None
    rows: list[dict[str, Any]] = []
    while (batch := stream.next_batch()) is not None:
        rows += batch.to_pylist()
    return rows


@dataclass(slots=True)
class DuckSession:
    """A session over a warehouse; it only reads. ``joined`` counts queries over changed rows."""

    warehouse: Warehouse
    joined: int = 0

    def execute(self, execution: Execution) -> ResultStream:
        found = self.warehouse.query(execution.text)
        return TableStream(found.schema, found.to_batches())

    def describe(self, execution: Execution) -> ResultShape:
        schema = self.warehouse.query(execution.text).schema
        return ResultShape(tuple(ResultColumn(field.name, type_name(field.type), None, None, True) for field in schema), schema)

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        found = self.warehouse.query(text)
        if most_bytes is not None and found.nbytes > most_bytes:
            raise ResultTooLarge(found.nbytes / len(found))
        return found

    def buckets(self, execution: Execution) -> MemoryBuckets:
        return self.warehouse.buckets

    def kept_rows(self, execution: Execution) -> MemoryRows:
        connection = self.warehouse.connection
        return MemoryRows(Engine(self.warehouse.query, connection.register, connection.unregister))

    def read_with(self, text: str, view: str, rows: pa.Table, execution: Execution) -> pa.Table:
        self.joined += 1
        with self.warehouse.lock:
            self.warehouse.connection.register(view, rows)
            try:
                return self.warehouse.query(text)
            finally:
                self.warehouse.connection.unregister(view)

    def execute_with(self, execution: Execution, views: Mapping[str, pa.Table]) -> ResultStream:
        with self.warehouse.lock:
            for view, rows in views.items():
                self.warehouse.connection.register(view, rows)
            try:
                return self.execute(execution)
            finally:
                for view in views:
                    self.warehouse.connection.unregister(view)

    def append(self, text: str, view: str, rows: pa.Table, execution: Execution) -> None:
        raise NotImplementedError

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        return Relation(RelationKind.DELTA_TABLE, (name[-1].lower(),), f"/{name[-1].lower()}") if name[-1].lower() in COLUMNS else None

    def may_read(self, name: tuple[str, ...]) -> bool:
        return True

    def parallelism(self) -> int:
        return 1

    def has_row_rules(self) -> bool:
        return False

    def knows_zone(self, name: str) -> bool:
        return False

    def moment(self) -> None:
        return None

    def settings(self) -> tuple[tuple[str, str], ...]:
        return ()

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return None

    def version_at(self, name: tuple[str, ...], time: str, execution: Execution) -> int | None:
        return None

    def last_commit_version(self) -> int | None:
        return None

    def interrupt(self, execution: Execution) -> None:
        """Nothing takes long here."""

    def close(self) -> None:
        self.warehouse.connection.close()


def in_duckdb(text: str) -> str:
    """Translate a query of Spark SQL.

    Half of the texts differ from an earlier one in versions and names of changed rows alone, and translating takes longer than running.
    """
    varying = _VARYING.findall(text)
    places = count()
    return _STAND_IN.sub(lambda found: varying[int(found[1])], _translated(_VARYING.sub(lambda _: f"7310000{next(places):04}", text)))


_VARYING = re.compile(r"(?<=VERSION AS OF )\d+|(?<=__imp_changes_)[0-9a-f]{32}")
_STAND_IN = re.compile(r"7310000(\d{4})")


@lru_cache(maxsize=4096)
def _translated(text: str) -> str:
    return sqlglot.parse_one(text, read="spark").transform(_translated_node, copy=False).sql(dialect="duckdb", copy=False)


def counted(node: exp.Expr) -> exp.Expr:
    """Return COUNT_IF as COUNT: DuckDB's own is NULL, and not 0, where the condition is NULL in all rows."""
    return exp.Count(this=exp.Case().when(node.this, exp.Literal.number(1))) if isinstance(node, exp.CountIf) else node


def _translated_node(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.CountIf):
        return counted(node)
    if isinstance(node, exp.Select) and _has_sets(node):
        # In Spark no rows have no group by the empty set either.
        return node.having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0)), copy=False)
    version: Any = node.args.get("version") if isinstance(node, exp.Table) else None
    if version is None:
        return node
    return exp.Table(
        this=exp.to_identifier(f"{node.name}__{version.expression.this}"), alias=node.args.get("alias") or exp.TableAlias(this=node.this)
    )


def _has_sets(select: exp.Select) -> bool:
    group = select.args.get("group")
    return group is not None and any(isinstance(each, (exp.Rollup, exp.Cube, exp.GroupingSets)) for each in group.find_all(exp.Expr))


def _narrow(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """DuckDB's sums of integers are wider than Spark's."""
    return column.cast(pa.int64()) if pa.types.is_decimal(column.type) and column.type.scale == 0 else column


def _unique(names: Sequence[str]) -> list[str]:
    seen: Mapping[str, int] = Counter(names)
    return [f"{name}#{place}" if seen[name] > 1 else name for place, name in enumerate(names)]
