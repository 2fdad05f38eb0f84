"""Maintenance in SQL alone (IMP report Appendix B) beside the driver's, and another engine that computes the groups anew.

The state of the aggregate is a Delta table; each change is read from the table's change feed and merged into it by Spark, and the groups
that pass are selected from it, which is what a sketch is derived from. ``maintenance ms`` and ``capture ms`` of SQL are without that
selection, ``query ms`` are with it. DuckDB, where it is installed, computes the same from the table's Parquet files, and from a table of
its own: its ``capture ms`` and ``maintenance ms`` are for reading rows into that.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from deltalake import DeltaTable

from benchmarks.harness import Rows, Systems, milliseconds
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns
from benchmarks.records import Quantity
from benchmarks.upkeep import Asked, drop, version_of
from benchmarks.workloads.aggregates import insert
from imp_driver.cli.synthetic import GROUPS
from imp_driver.reasons import Decision

if TYPE_CHECKING:
    import duckdb

STATE = "sqlonly_state"
AGAIN = "sqlonly_again"
DELTAS = (20, 2000)
LOW = GROUPS // 2
PASSES = f"total / counted > {LOW} AND total / counted < {LOW + 50}"
_MEASURED = {Decision.CAPTURED: Quantity.CAPTURE, Decision.MAINTAINED: Quantity.MAINTENANCE}


@dataclass(slots=True)
class Merged:
    """A state in a table, into which each turn merges the versions that are new; the first one makes it."""

    systems: Systems
    version: int | None = None

    def __call__(self) -> Turn:
        # The driver looks for it within its time.
        known, self.version = self.version, version_of(self.systems, self.systems.table.name)
        if known is None:
            return captured(self.systems, STATE)
        if known == self.version:
            return _selected(self.systems, STATE, Decision.FRESH, 0.0)
        return _selected(self.systems, STATE, Decision.MAINTAINED, milliseconds(partial(_merge, self.systems, known + 1, self.version)))


@dataclass(slots=True)
class Exported:
    """DuckDB with a table of its own, into which each turn reads the files that are new."""

    engine: duckdb.DuckDBPyConnection
    location: str
    files: set[str] = field(default_factory=set)

    def __call__(self) -> Turn:
        begin = time.perf_counter()
        found = set(DeltaTable(self.location).file_uris())
        decision = Decision.MAINTAINED if self.files and self.files <= found else Decision.CAPTURED
        if decision is Decision.CAPTURED:
            self.engine.execute("CREATE OR REPLACE TABLE exported (a INTEGER, b DOUBLE)")
            self.files = set()
        new, self.files = sorted(found - self.files), found
        if new:
            self.engine.execute("INSERT INTO exported SELECT a, b FROM read_parquet($files)", {"files": new})
        read = (time.perf_counter() - begin) * 1000
        rows: Rows = self.engine.execute(query("exported")).fetchall()
        spent = {Quantity.QUERY: (time.perf_counter() - begin) * 1000} | ({_MEASURED[decision]: read} if new else {})
        return Turn(rows, spent, decision.name if new else Decision.FRESH.name)


def run(journal: Journal, plan: Plan, systems: Systems, warehouse: str) -> None:
    """Measure one case per delta size: plain, the driver and SQL alone captured again and maintained, DuckDB."""
    table = systems.table.name
    for delta in DELTAS:
        systems.drop_sketches()
        page = journal.page({"delta": delta})
        ways: dict[str, Way] = {system: Asked(systems, system, query(table)) for system in ("NS", "FM", "IMP")}
        ways |= {"SQL, merged": Merged(systems), "SQL, captured again": partial(captured, systems, AGAIN)}
        with _duckdb(str(Path(warehouse) / table)) as others:
            if not others:
                page.facts["DuckDB"] = "not installed"
            take_turns(page, plan, Work({**ways, **others}, partial(insert, systems, delta)))
    drop(systems, STATE, AGAIN)


def query(table: str) -> str:
    """Return the query whose groups are maintained, on a table or what stands in its place."""
    return f"SELECT a, avg(b) AS ab FROM {table} GROUP BY a HAVING avg(b) > {LOW} AND avg(b) < {LOW + 50}"


def captured(systems: Systems, state: str) -> Turn:
    """Make the state anew from the whole table."""
    groups = f"SELECT a, count(*) AS number, count(b) AS counted, sum(b) AS total FROM {systems.table.name} GROUP BY a"
    make = f"CREATE OR REPLACE TABLE {state} USING DELTA AS {groups}"
    return _selected(systems, state, Decision.CAPTURED, milliseconds(lambda: systems.plain.execute(make).close()))


def _selected(systems: Systems, state: str, decision: Decision, spent: float) -> Turn:
    """Select the groups that pass from a state that took so many milliseconds."""
    answer = systems.ask("NS", f"SELECT a, total / counted AS ab FROM {state} WHERE {PASSES}")
    parts = {_MEASURED[decision]: spent} if decision in _MEASURED else {}
    return Turn(answer.rows, {Quantity.QUERY: spent + answer.seconds * 1000, **parts}, decision.name)


def _merge(systems: Systems, first: int, last: int) -> None:
    """Merge the changes of some versions into the state; a group without rows goes."""
    sign = "IF(_change_type IN ('insert', 'update_postimage'), 1, -1)"
    changes = (
        f"SELECT a, sum({sign}) AS number, sum(IF(b IS NULL, 0, {sign})) AS counted, sum(b * {sign}) AS total "
        f"FROM table_changes('{systems.table.name}', {first}, {last}) GROUP BY a"
    )
    systems.plain.execute(
        f"MERGE INTO {STATE} s USING ({changes}) d ON s.a <=> d.a WHEN MATCHED AND s.number + d.number = 0 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET number = s.number + d.number, counted = s.counted + d.counted, "
        "total = coalesce(s.total, 0) + coalesce(d.total, 0) WHEN NOT MATCHED THEN INSERT *"
    ).close()


@contextmanager
def _duckdb(location: str) -> Iterator[Mapping[str, Way]]:
    """Open DuckDB on a table of inserts alone, so that its files are its rows; nothing where it is not installed."""
    if find_spec("duckdb") is None:
        print("sqlonly: duckdb is not installed, so nothing is compared with it", flush=True)
        yield {}
        return
    import duckdb

    with duckdb.connect() as engine:
        yield {"DuckDB, its own table": Exported(engine, location), "DuckDB, Parquet files": partial(from_files, engine, location)}


def from_files(engine: duckdb.DuckDBPyConnection, location: str) -> Turn:
    """Ask DuckDB about the Parquet files of a table."""
    begin = time.perf_counter()
    rows: Rows = engine.execute(query(f"read_parquet({DeltaTable(location).file_uris()!r})")).fetchall()
    return Turn(rows, {Quantity.QUERY: (time.perf_counter() - begin) * 1000})
