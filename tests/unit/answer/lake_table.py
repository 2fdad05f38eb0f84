"""One Delta table of random rows of any types, with one connection that answers from memory and DuckDB in the place of Spark."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.values.options import Options, Policy
from imp_driver.values.report import SketchReport
from imp_driver.values.run import Run
from tests.faults.lake import Lake, LakeSession
from tests.soundness.engine import drained


class LakeTable:
    """``ask`` compares each answer with the plain one; ``row`` makes a random row; ``zone`` is that of the session."""

    def __init__(
        self,
        folder: Path,
        name: str,
        schema: pa.Schema,
        row: Callable[[random.Random], list[object]],
        rows: int = 300,
        zone: str = "",
    ) -> None:
        self._chance = random.Random(7)
        self._name, self._schema, self._row = name, schema, row
        self._lake = Lake(folder)
        if zone:
            self._lake.connection.execute(f"SET TimeZone = '{zone}'")
        source = DeltaTables()
        self.relations = Relations(source, 1 << 30)
        self._path = Middleware(
            LakeSession(self._lake, zone), source, Sketches(self.relations), Options(answers=True, policy=Policy.INCREMENTAL)
        )
        self.insert([row(self._chance) for _ in range(rows)])

    def insert(self, rows: list[list[object]]) -> None:
        columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), self._schema, strict=True)]
        configuration = None if self._lake.has(self._name) else {"delta.enableChangeDataFeed": "true"}
        location, data = self._lake.location(self._name), pa.table(columns, schema=self._schema)
        write_deltalake(location, data, mode="append", configuration=configuration)

    def delete(self, condition: str) -> None:
        DeltaTable(self._lake.location(self._name)).delete(condition)

    def change(self, condition: str) -> None:
        """Insert some rows and delete those that pass."""
        self.insert([self._row(self._chance) for _ in range(20)])
        self.delete(condition)

    def ask(self, text: str) -> SketchReport:
        outcome = self._path.run(Run(text))
        rows = sorted(repr(tuple(row.values())) for row in drained(outcome.stream))
        assert rows == sorted(repr(tuple(row.values())) for row in self._lake.query(text).to_pylist()), text
        return outcome.report

    def settle(self) -> None:
        assert self.relations.background.settle(30)

    def grouped_by(self) -> list[str]:
        """Return the keys of the newest state, as SQL."""
        block = self.relations.registry.relations()[-1].block
        assert block is not None
        return [key.replace("`", "").lower() for key in block.keys_sql]

    def close(self) -> None:
        self._path.close()
