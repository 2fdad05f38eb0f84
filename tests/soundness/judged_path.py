"""Delta tables of a folder with one connection of the driver, and beside it an engine that optimises nothing, which judges its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from tests.faults.lake import Lake
from tests.soundness.engine import connect_engine
from tests.soundness.lake_path import LakePath, Rows


def unoptimised_engine() -> duckdb.DuckDBPyConnection:
    """Connect to an engine that runs the queries of this connection as they are written: no rule of its optimizer can then be wrong."""
    connection = connect_engine()
    connection.execute("PRAGMA disable_optimizer")
    return connection


class JudgedPath(LakePath):
    """``judged`` are the rows of a query as it is written."""

    def __init__(self, folder: Path, memory: int = 1 << 30) -> None:
        super().__init__(folder, memory=memory)
        self._judge = Lake(folder, unoptimised_engine())

    def judged(self, text: str) -> Rows:
        return [tuple(row.values()) for row in self._judge.query(text).to_pylist()]

    def judged_rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table, by the names of its columns."""
        rows: list[dict[str, Any]] = self._judge.query(f"SELECT * FROM {name}").to_pylist()
        return rows

    def update(self, name: str, changes: dict[str, str], condition: str) -> None:
        """Commit other values, by their expressions, in the rows that pass a condition."""
        DeltaTable(self._judge.location(name)).update(changes, predicate=condition)

    def merge(self, name: str, rows: pa.Table, gone: Sequence[int]) -> None:
        """Commit in one step: these rows take the places of those with their ids, or come new, and rows with the ids in ``gone`` leave."""
        leaving = [dict.fromkeys(rows.schema.names) | {"id": each} for each in gone]
        source = pa.concat_tables([rows, pa.Table.from_pylist(leaving, rows.schema)])
        flags = pa.array([False] * rows.num_rows + [True] * len(gone))
        merger = DeltaTable(self._judge.location(name)).merge(
            source.append_column("gone", flags), "target.id = source.id", source_alias="source", target_alias="target"
        )
        values = {column: f"source.{column}" for column in rows.schema.names}
        merger = merger.when_matched_delete("source.gone").when_matched_update(values)
        merger.when_not_matched_insert(values, predicate="NOT source.gone").execute()

    def close(self) -> None:
        super().close()
        self._judge.connection.close()
