"""One Delta table of random rows of any types, whose answers are compared with the plain ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from imp_driver.values.report import SketchReport
from tests.soundness.lake_path import LakePath, Rows


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
        self._path = LakePath(folder, zone)
        self.relations, self.settle, self.close = self._path.relations, self._path.settle, self._path.close
        self.go_to = self._path.go_to
        self.insert([row(self._chance) for _ in range(rows)])

    def insert(self, rows: list[list[object]]) -> None:
        columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), self._schema, strict=True)]
        self._path.append(self._name, pa.table(columns, schema=self._schema))

    def delete(self, condition: str) -> None:
        self._path.delete(self._name, condition)

    def change(self, condition: str) -> None:
        """Insert some rows and delete those that pass."""
        self.insert([self._row(self._chance) for _ in range(20)])
        self.delete(condition)

    def ask(self, text: str) -> SketchReport:
        rows, report = self._path.ask(text)
        assert _sorted(rows) == _sorted(self._path.plain(text)), text
        return report

    def grouped_by(self) -> list[str]:
        """Return the keys of the newest state, as SQL."""
        block = self.relations.registry.relations()[-1].block
        assert block is not None
        return [key.replace("`", "").lower() for key in block.keys_sql]


def _sorted(rows: Rows) -> list[str]:
    return sorted(map(repr, rows))
