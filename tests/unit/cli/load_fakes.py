"""A connection without an engine for ``imp load``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import imp_driver


class FakeCursor:
    def __init__(self, names: list[str], rows: list[tuple[Any, ...]]) -> None:
        self.description = [(name, None, None, None, None, None, None) for name in names]
        self._rows = rows
        self.rowcount = 5

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    def close(self) -> None:
        return None

    def __enter__(self) -> FakeCursor:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class FakeConnection:
    """Answers what ``imp load`` asks, and writes down everything else. ``target`` are the columns of a table that is there.

    ``error`` is raised by CREATE TABLE and INSERT.
    """

    def __init__(self, columns: list[tuple[str, str]]) -> None:
        self.columns = columns
        self.target: list[tuple[str, str]] | None = None
        self.properties: dict[str, str] = {}
        self.error: imp_driver.Error | None = None
        self.misfits: tuple[object, ...] = ()
        self.sent: list[str] = []
        self.linked: list[str] = []

    def execute(self, text: str) -> FakeCursor:
        if text == "DESCRIBE QUERY SELECT * FROM __imp_load":
            return FakeCursor(["col_name", "data_type"], [*self.columns])
        if text.startswith("DESCRIBE QUERY"):
            if self.target is None:
                raise imp_driver.ProgrammingError("not there", error_class="TABLE_OR_VIEW_NOT_FOUND")
            return FakeCursor(["col_name", "data_type"], [*self.target])
        if text.startswith("DESCRIBE DETAIL"):
            return FakeCursor(["numFiles", "properties", "location"], [(7, self.properties, "file:/none")])
        if text.startswith("SELECT count(*)"):
            return FakeCursor(["count(1)"], [(42,)])
        self.sent.append(text)
        if text.startswith("SELECT count_if"):
            return FakeCursor([], [self.misfits])
        if "(path '" in text:
            folder = Path(text.split("(path '")[1].split("'")[0])
            self.linked = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink())
        if self.error is not None and text.startswith(("CREATE TABLE", "INSERT")):
            raise self.error
        return FakeCursor([], [])

    def __enter__(self) -> FakeConnection:
        return self

    def __exit__(self, *_: object) -> None:
        return None
