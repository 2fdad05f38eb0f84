r"""A file that results go to (``\o file``): CSV, JSON or Parquet by its ending. All results of one file have the same columns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from imp_driver.cli.shell.rows import FORMATS
from imp_driver.dbapi.cursor import Cursor
from imp_driver.errors import NotSupportedError, OperationalError, ProgrammingError

_ENDINGS = (".csv", ".json", ".parquet")


class ResultFile:
    """Is made, in the place of an earlier one, by the first result.

    Attributes:
        incomplete: rows in the file of a result that ended with an error or was cancelled.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.incomplete = 0
        self._columns: list[tuple[object, ...]] | None = None
        self._text: IO[str] | None = None
        self._parquet: pq.ParquetWriter | None = None

    def write(self, cursor: Cursor) -> int:
        """Write what is left of a result and return the number of its rows.

        Raises:
            ProgrammingError: its columns are others than those that the file has.
            NotSupportedError: Parquet has no such type.
            OperationalError: the file cannot be written.
        """
        columns: list[tuple[object, ...]] = [(name, kind) for name, kind, *_ in cursor.description or ()]
        if self._columns not in (None, columns):
            raise ProgrammingError(f"{self.path} has rows of other columns: write this result to a file of its own, with \\o FILE.")
        before, written = self.incomplete, 0
        with _told(self.path):
            for count in self._parquet_rows(cursor) if self.path.suffix.lower() == ".parquet" else self._text_rows(cursor):
                self._columns = columns
                written += count
                self.incomplete = before + written
        self._columns, self.incomplete = columns, before
        return written

    def close(self) -> None:
        """Complete the file. Raises OperationalError."""
        with _told(self.path):
            for each in (self._text, self._parquet):
                if each is not None:
                    each.close()
        self._text = self._parquet = None

    def _text_rows(self, cursor: Cursor) -> Iterator[int]:
        is_new = self._text is None
        if self._text is None:
            self._text = self.path.open("w", encoding="utf-8", newline="")
        yield from FORMATS[self.path.suffix.lower().removeprefix(".")](self._text, cursor, is_new)
        self._text.flush()

    def _parquet_rows(self, cursor: Cursor) -> Iterator[int]:
        batches = cursor.fetch_record_batch()
        if self._parquet is None:
            self._parquet = pq.ParquetWriter(self.path, batches.schema)
        # Whether a column may be NULL differs from query to query, and is no other column.
        schema = self._parquet.schema
        for batch in batches:
            self._parquet.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            yield batch.num_rows


def opened(name: str) -> ResultFile:
    """Return a file for results.

    Raises:
        ProgrammingError: its name has no ending that says how to write it.
        OperationalError: its folder is not there, or it is a folder.
    """
    path = Path(name).expanduser()
    if path.suffix.lower() not in _ENDINGS:
        raise ProgrammingError(f"{name} has none of the endings .csv, .json and .parquet, which say how results are written.")
    if not path.parent.is_dir():
        raise OperationalError(f"There is no folder {path.parent}: make it first, or choose another one.")
    if path.is_dir():
        raise OperationalError(f"{path} is a folder; the name of a file is needed.")
    return ResultFile(path)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        problem = os.strerror(error.errno) if error.errno else str(error)
        raise OperationalError(f"{path} cannot be written: {problem}.") from error
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise NotSupportedError(f"{path} cannot hold this result: {error}. Cast its columns, or write CSV or JSON.") from error
