"""How far a load is: Spark writes files under the names that they keep, and the end of each says how many rows it has."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

_EACH = 0.5
"""Seconds between two looks."""
_FEW = 10_000
"""Rows whose number a second says nothing: the time went into what each statement takes, however few rows it has."""


def rate(rows: int, seconds: float) -> str | None:
    """Return how many rows a second were written; None where that says nothing of how long more rows take."""
    return None if rows < _FEW or seconds <= 0 else f"{rows / seconds:,.0f} rows a second"


class Written:
    """Counts the rows of Parquet files that appear in a folder; those that are not whole do not count."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._seen = set(self._files())
        self.files, self.rows = 0, 0

    def look(self) -> None:
        """Count what has appeared."""
        for path in self._files():
            if path in self._seen:
                continue
            try:
                self.rows += pq.read_metadata(path).num_rows
            except (OSError, pa.ArrowException):
                continue
            self._seen.add(path)
            self.files += 1

    def _files(self) -> list[Path]:
        if self._folder is None:
            return []
        return [path for path in self._folder.rglob("*.parquet") if path.relative_to(self._folder).parts[0] != "_delta_log"]


class Progress:
    """While it is entered, a line of a terminal says how many files and rows are written; nothing where nobody looks."""

    def __init__(self, console: Console, text: str, written: Written) -> None:
        self._text = text
        self._written = written
        self._status = console.status(text) if console.is_terminal else None
        self._begin = time.perf_counter()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="imp-load-progress", daemon=True)

    def __enter__(self) -> Progress:
        if self._status is not None:
            self._status.start()
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._status is not None:
            self._is_over.set()
            self._thread.join()
            self._status.stop()

    def line(self) -> str:
        """Return what is said at this moment."""
        self._written.look()
        seconds = time.perf_counter() - self._begin
        if not self._written.rows:
            return f"{self._text} {seconds:.0f} s"
        parts = (f"{self._text} {self._written.files} written", f"{self._written.rows:,} rows", rate(self._written.rows, seconds))
        return ", ".join(filter(None, parts))

    def _run(self) -> None:
        while not self._is_over.wait(_EACH):
            if self._status is not None:
                self._status.update(self.line())
