"""What is known of a maintained relation, as values."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from imp_driver.persist.record import Record
from imp_driver.reasons import Reason, RecaptureReason
from imp_driver.snapshot.vector import TableState, Vector


@dataclass(frozen=True, slots=True)
class Identity:
    """What a relation is, the same in every process.

    Attributes:
        key, family, prefix, source: hashes of what it depends on (maintain/identity.py): all; all but its row conditions; that without the
            aggregates; that without the keys. None depends on what cuts it.
        template, template_text: of the first query that it was captured for.
        table: the first that was cut for it; ``location`` of that.
    """

    key: str
    template: str
    template_text: str
    table: str
    location: str
    family: str
    prefix: str
    source: str


@dataclass(frozen=True, slots=True)
class Cause:
    """Why the groups are to be captured again."""

    reason: RecaptureReason
    detail: str


CLEARLY_FEWER = 0.8
"""Share of the rows that were too many, at which they may be few enough."""
MOST_TRIES = 3
"""Captures that fail at ever newer versions: rows that an expression cannot be computed for seldom leave a table."""


@dataclass(frozen=True, slots=True)
class CaptureFailure:
    """Why there are no groups.

    ``vector`` are the versions at which another try would fail again, None for all; ``rows`` those of the tables where these were too many;
    ``tries`` how often it has failed.
    """

    reason: Reason
    detail: str
    vector: Vector | None = None
    rows: int | None = None
    tries: int = 1

    def stands(self, vector: Vector, rows: int) -> bool:
        """Say whether another try would fail again, at these versions with so many rows."""
        if self.rows is not None:
            return rows > CLEARLY_FEWER * self.rows
        return self.vector in (None, vector) or self.tries >= MOST_TRIES


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """Where the groups can be read back from, and at which versions they stand there."""

    record: Record
    vector: Vector

    def version(self, location: str) -> int | None:
        """Return the version of one table; None for another one."""
        return None if location not in self.vector else self.vector[location].version

    @classmethod
    def of(cls, record: Record) -> Stored:
        return cls(record, {table.location: TableState(table.table_id, table.version, table.rows) for table in record.tables})


@dataclass(frozen=True, slots=True)
class Counts:
    """How often a relation was used, in ``answers`` of these for the rows themselves, and what it took."""

    uses: int = 0
    answers: int = 0
    captures: int = 0
    maintained: int = 0
    delta_rows: int = 0


class Tally:
    """Counts of a relation; queries count from any thread."""

    def __init__(self) -> None:
        self.counts = Counts()
        self._lock = threading.Lock()

    def add(self, *, uses: int = 0, answers: int = 0, captures: int = 0, maintained: int = 0, delta_rows: int = 0) -> None:
        with self._lock:
            old = self.counts
            self.counts = Counts(
                old.uses + uses,
                old.answers + answers,
                old.captures + captures,
                old.maintained + maintained,
                old.delta_rows + delta_rows,
            )
