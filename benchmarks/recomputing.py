"""DuckDB in memory on one thread: it computes each query anew from a copy of the tables, which is changed along with them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

import sqlglot
from deltalake import DeltaTable

import imp_driver
from benchmarks.harness import Rows
from benchmarks.protocol import Turn
from benchmarks.records import Quantity

if TYPE_CHECKING:
    import duckdb


@dataclass(slots=True)
class Recomputing:
    """A database of copies; ``files`` are those that a table was read from, by its name."""

    engine: duckdb.DuckDBPyConnection
    files: dict[str, set[str]] = field(default_factory=dict)

    def load(self, connection: imp_driver.Connection, tables: Sequence[str]) -> None:
        """Copy Delta tables that have no deleted rows yet."""
        for name in tables:
            files = _files(connection, name)
            self.engine.execute(f"CREATE OR REPLACE TABLE {name} AS FROM read_parquet($files)", {"files": sorted(files)})
            self.files[name] = files

    def follow(self, connection: imp_driver.Connection, table: str) -> None:
        """Read the files that were added to a table since."""
        files = _files(connection, table)
        new = sorted(files - self.files[table])
        if new:
            self.engine.execute(f"INSERT INTO {table} FROM read_parquet($files)", {"files": new})
        self.files[table] = files

    def change(self, text: str) -> None:
        """Make a change that Spark makes too, in Spark's words."""
        self.engine.execute(translated(text))

    def ask(self, text: str) -> Turn:
        """Ask a query in Spark's words; to translate it is no part of the time."""
        own = translated(text)
        begin = time.perf_counter()
        rows: Rows = self.engine.execute(own).fetchall()
        return Turn(rows, {Quantity.QUERY: (time.perf_counter() - begin) * 1000})


def translated(text: str) -> str:
    return sqlglot.transpile(text, read="spark", write="duckdb")[0]


@contextmanager
def recomputing(connection: imp_driver.Connection, tables: Sequence[str]) -> Iterator[Recomputing | None]:
    """Open DuckDB with copies of tables; None where it is not installed."""
    if find_spec("duckdb") is None:
        print("duckdb is not installed, so nothing is compared with it", flush=True)
        yield None
        return
    import duckdb

    with duckdb.connect(config=dict(_CONFIGURATION)) as engine:
        others = Recomputing(engine)
        others.load(connection, tables)
        yield others


_CONFIGURATION: Mapping[str, str] = {"threads": "1"}


def _files(connection: imp_driver.Connection, table: str) -> set[str]:
    with connection.execute(f"DESCRIBE DETAIL {table}") as cursor:
        names = [column[0] for column in cursor.description or ()]
        detail = dict(zip(names, cursor.fetchall()[0], strict=True))
    return set(DeltaTable(detail["location"]).file_uris())
