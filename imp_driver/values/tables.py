"""What delta/ hands on: snapshots of tables, plans of changes, signed rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.reasons import DeltaSource, RecaptureReason

WEIGHT_COLUMN = "__imp_weight"
"""Name of the weight column in relations that Spark reads."""
UNFIT_CHARACTERS = frozenset(" ,;{}()\n\t=")
"""Delta has no columns with these in their names unless the table maps names."""


class ChangesUnavailable(Exception):
    """The rows between two versions cannot be had; the state must be captured again."""

    def __init__(self, reason: RecaptureReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """``type_name`` is Delta's: ``integer``, ``long``, ``decimal(10,2)``, ``struct`` ..; ``char(n)``, ports.COLLATED, NESTED_CHAR."""

    name: str
    type_name: str
    nullable: bool


class FileStatistics(Protocol):
    """Statistics of the data files of one snapshot, as columns of one entry per file."""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Bytes."""

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """Live rows (deletion vectors subtracted); -1 where unknown."""

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        """Return (minimum, maximum, null count) of a column: Arrow NULL and -1 where unknown. Strings may be truncated but stay bounds."""


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """One version of one table. ``table_id`` changes when a table is dropped and recreated; ``row_count`` is None where a file lacks it."""

    location: str
    table_id: str
    version: int
    schema: tuple[SchemaColumn, ...]
    row_count: int | None
    files: FileStatistics


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """How to get the signed rows of (from_version, to_version].

    Attributes:
        source: NONE means that no row changed.
        rows: estimate of the signed rows to read; None when unknown.
        relation: for Spark sources, a parenthesised SQL relation with the table's columns and WEIGHT_COLUMN; else None.
        bytes: of the data files in which the rows lie; only some columns, and of files with deletion vectors some rows, are read.
        columns: names that stood for the same column at every version, whose rows alone are had; None: all that there are.
    """

    location: str
    from_version: int
    to_version: int
    source: DeltaSource
    rows: int | None
    relation: str | None = None
    columns: frozenset[str] | None = None
    bytes: int = 0

    def lost(self, columns: Iterable[str]) -> list[str]:
        """Return those of some columns that became other ones, which may change no file: also of a plan whose source is NONE."""
        return [] if self.columns is None else [name for name in columns if name not in self.columns]


@dataclass(frozen=True, slots=True)
class ZSet:
    """Rows of the base table (only the asked columns) with weight +1 (inserted) or -1 (deleted)."""

    rows: pa.Table
    weights: npt.NDArray[np.int64]


def with_count(rows: pa.Table, count: int) -> pa.Table:
    """Return rows that are so many: a table without columns has none, whatever it was read or filtered from."""
    return rows if rows.num_columns else pa.table({"none": pa.nulls(count)})


def at_version(relation: str, version: int) -> str:
    """Return a table's name, in SQL, read as it was at a version: Spark's own words for time travel, whatever the format."""
    return f"{relation} VERSION AS OF {version}"


class ChangeSource(Protocol):
    """The table-format seam: all that the driver must know of a format, behind which Delta lies (docs/table-formats.md).

    Version, file statistics and identity are in a snapshot, the delta between versions is a plan and its rows; time travel is the engine's,
    by ``at_version`` with the version numbers of the snapshots. One object serves all connections of a process, from several threads.

    Versions of one table are whole numbers that grow with each commit, not necessarily by one. Nothing may be guessed: what cannot be had
    exactly raises, and the driver captures again or runs the query unchanged.
    """

    def snapshot(self, location: str) -> TableSnapshot:
        """Return the newest version, other writers' commits included. Raises OperationalError: no readable table of this format."""

    def snapshot_at(self, location: str, version: int) -> TableSnapshot:
        """Return an older version. Raises OperationalError when it is no longer there, or never was."""

    def version_at(self, location: str, moment: float) -> int:
        """Return the newest version committed up to a moment (seconds since 1970), by the commits' own times.

        Raises OperationalError when the table was not there then, or its history does not reach back.
        """

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        """Say how the signed rows between two versions of the table meant are had; opens no data file.

        Raises:
            ChangesUnavailable: they cannot, as the history is gone, the table was replaced or restored, or its schema changed.
        """

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        """Read the rows of a plan without ``relation``. Rows in both versions may be left out or come with both weights.

        Raises:
            ChangesUnavailable: a file is gone or cannot be read.
        """

    def rows_with(self, snapshot: TableSnapshot, columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        """Return signed rows whose sum are the rows of a version whose column ``key`` has one of the values.

        Of equal rows some may take others back. None, always allowed, lets the engine find them.
        """

    def commit_digest(self, location: str, version: int) -> str | None:
        """Return what tells a commit from any other that ever had its number; None when it can no longer be read."""

    def commit_metrics(self, location: str, version: int) -> dict[str, int]:
        """Return the whole-number metrics of one commit, ``numOutputRows`` among them; empty, always allowed, when there are none."""
