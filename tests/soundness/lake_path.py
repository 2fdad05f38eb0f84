"""Delta tables of any types in a folder, with one connection that answers from memory and DuckDB in the place of Spark."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Policy
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.faults.lake import Lake, LakeSession
from tests.soundness.engine import connect_engine, drained, new_engine

Rows = list[tuple[Any, ...]]


class LakePath:
    """``zone`` is that of the session; groups of more than ``memory`` bytes are kept in buckets."""

    def __init__(self, folder: Path, zone: str = "", memory: int = 1 << 30) -> None:
        self._lake = Lake(folder, new_engine() if zone else connect_engine())
        if zone:
            self._lake.connection.execute(f"SET TimeZone = '{zone}'")
        source = DeltaTables()
        self.relations = Relations(source, memory, buckets=str(folder / "_buckets"))
        # By their times alone steps on a busy machine would be left out.
        self._path = Middleware(LakeSession(self._lake, zone), source, Sketches(self.relations), Options(policy=Policy.INCREMENTAL))

    def append(self, name: str, rows: pa.Table) -> None:
        """Commit rows of a table, which is made with the first ones."""
        configuration = None if self._lake.has(name) else {"delta.enableChangeDataFeed": "true"}
        write_deltalake(self._lake.location(name), rows, mode="append", configuration=configuration)

    def delete(self, name: str, condition: str) -> None:
        DeltaTable(self._lake.location(name)).delete(condition)

    def ask(self, text: str) -> tuple[Rows, SketchReport]:
        """Return the rows of a query, and how they came about."""
        outcome = self._path.run(Execution(text))
        return [tuple(row.values()) for row in drained(outcome.stream)], outcome.report

    def table(self, text: str) -> pa.Table:
        """Return the rows of the plain query."""
        return self._lake.query(text)

    def plain(self, text: str) -> Rows:
        return [tuple(row.values()) for row in self.table(text).to_pylist()]

    def go_to(self, moment: date) -> None:
        """Have queries run at a time, or at the beginning of a day."""
        self._lake.now = moment if isinstance(moment, datetime) else datetime.combine(moment, time(), UTC)

    def settle(self) -> None:
        """Wait for what is captured in the background."""
        assert self.relations.background.settle(60)

    def close(self) -> None:
        self._path.close()
        self._lake.connection.close()
