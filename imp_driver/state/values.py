"""What is known of a maintained relation, as values."""

from __future__ import annotations

import threading
from collections.abc import Iterable
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


class Usage:
    """What a relation served: its counts, and the identifiers of all templates. Told from any thread."""

    def __init__(self, templates: Iterable[str] = ()) -> None:
        self.counts = Counts()
        self.templates = frozenset(templates)
        self._lock = threading.Lock()

    def note_template(self, template: str) -> None:
        with self._lock:
            self.templates |= {template}

    def note_use(self) -> None:
        """Count one query."""
        self.add(uses=1)

    def note_answer(self) -> None:
        """Count one query whose rows came from the groups."""
        self.add(answers=1)

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


class Attempts:
    """What was tried for a relation in vain, and is not tried in that way again.

    Attributes:
        failure: why the last capture failed; None after one that did not.
        is_without_circuit: keeping the tables of a join cannot be had.
        needs_deep_buffers: shallow buffers of minima or maxima ran dry.
    """

    def __init__(self) -> None:
        self.failure: CaptureFailure | None = None
        self.is_without_circuit = False
        self.needs_deep_buffers = False

    def note_failure(self, failure: CaptureFailure | None) -> None:
        self.failure = failure

    def note_without_circuit(self) -> None:
        self.is_without_circuit = True

    def note_cause(self, cause: Cause) -> None:
        """Learn from why groups are to be captured again."""
        self.needs_deep_buffers |= cause.reason is RecaptureReason.INEXACT_STATE
