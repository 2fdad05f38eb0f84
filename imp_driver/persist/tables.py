"""The store of one warehouse: two Delta tables, written and read in process; ``states`` holds states in parts, ``sketches`` the records.

A state is written before the record that names it, so that a record has its state; states that no record names any more are swept.
Commits carry a transaction of their writer, so that one whose answer was lost is not made twice (ivm section 5, tier 1).
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Transaction, WriterProperties, write_deltalake
from deltalake.exceptions import DeltaError, TableNotFoundError

from imp_driver.errors import OperationalError
from imp_driver.persist.encoding import FORMAT, Row, checksum_of, decoded, decoded_state, encoded, encoded_state
from imp_driver.persist.record import Record, StateColumns, StoreDamaged

PART_BYTES = 16 << 20
"""Of one row of a state."""
MOST_FILES = 64
"""Of the records before they are written into one."""
SWEEP_EVERY = 50
"""Saves between two sweeps."""
ORPHANED_SECONDS = 3600
"""After which a state without a record is no longer one whose record another process is about to write."""
TRIES = 3
_LOG = logging.getLogger("imp_driver.persist")
_RECORDS = pa.schema(
    [("format", pa.int32()), ("key", pa.string()), ("state", pa.string()), ("body", pa.string())]
    + [(name, pa.binary()) for name in ("bounds", "fragments", "fragment_rows")]
    + [("checksum", pa.string())]
)
_STATES = pa.schema(
    [
        ("state", pa.string()),
        ("part", pa.int32()),
        ("data", pa.binary()),
        ("checksum", pa.string()),
        ("saved_at", pa.timestamp("us", "UTC")),
    ]
)
_CONFIGURATION = {"delta.logRetentionDuration": "interval 1 hours", "delta.deletedFileRetentionDuration": "interval 1 hours"}
# What delta-rs raises for a store that cannot be reached, written or understood; a full disk is an OSError.
_FAILURES = (DeltaError, OSError, pa.ArrowException, ValueError)


class DeltaRepository:
    """A Repository in a folder or under a URL that delta-rs can write. Made by the first save."""

    def __init__(self, location: str, storage: dict[str, str] | None = None) -> None:
        self.location = location.rstrip("/")
        self._storage = storage
        self._writer = f"imp_driver {uuid.uuid4().hex}"
        self._commits = 0
        self._saves = 0
        self._states: dict[str, str] = {}
        self._lock = threading.Lock()

    def version(self) -> int:
        """Return the version of the table of records, -1 before the first. Raises OperationalError."""
        table = self._read("looked at", lambda: self._open("sketches"))
        return -1 if table is None else int(table.version())

    def records(self) -> list[Record]:
        """Return all readable records; the others are skipped with a warning. Raises OperationalError."""

        def rows() -> list[dict[str, Any]]:
            table = self._open("sketches")
            return [] if table is None else table.to_pyarrow_table(columns=_RECORDS.names).to_pylist()

        found = []
        for row in self._read("read", rows):
            try:
                found.append(decoded(Row(**row)))
            except StoreDamaged as error:
                _LOG.warning("A stored sketch is not used and will be captured again: %s.", error)
        return found

    def load(self, record: Record) -> dict[str, pa.Array]:
        """Return the state of a record. Raises StoreDamaged."""
        try:
            table = self._open("states")
            rows = None if table is None else _rows_of(table, record.state)
        except Exception as error:  # the query engine of delta-rs has errors of its own
            raise StoreDamaged(f"the state of sketch {record.key} cannot be read: {_first_line(error)}") from error
        if rows is None or not len(rows) or rows.column("part").to_pylist() != list(range(len(rows))):
            raise StoreDamaged(f"the state of sketch {record.key} is not in the store")
        parts = rows.column("data").to_pylist()
        if any(mark != checksum_of(part) for mark, part in zip(rows.column("checksum").to_pylist(), parts, strict=True)):
            raise StoreDamaged(f"the state of sketch {record.key} is damaged: its checksum differs")
        return decoded_state(b"".join(parts))

    def save(self, records: Sequence[tuple[Record, StateColumns]]) -> None:
        """Write states, then the records that name them. Raises OperationalError, and then the former records are still there."""
        states = pa.concat_tables([_state_rows(record.state, columns) for record, columns in records])
        rows = [encoded(record) for record, _ in records]
        columns = list(zip(*map(astuple, rows), strict=True))
        with self._lock:
            self._commit("states", states, None)
            self._commit("sketches", pa.table(columns, schema=_RECORDS), _is_replaced([row.key for row in rows]))
            former = [self._states[row.key] for row in rows if row.key in self._states]
            self._states.update((row.key, row.state) for row in rows)
            self._saves += 1
            if former:
                self._write(lambda: self._delete_states(former))
            if self._saves % SWEEP_EVERY == 0:
                self._write(self._sweep)

    def remove(self, keys: Sequence[str]) -> None:
        """Remove the records of some keys. Raises OperationalError."""

        def delete() -> None:
            table = self._open("sketches")
            if table is not None and keys:
                table.delete(_is_key(keys))

        with self._lock:
            self._write(delete)

    def sweep(self) -> None:
        """Remove states that no record names, and write small files of records into one. Raises OperationalError."""
        with self._lock:
            self._write(self._sweep)

    def _sweep(self) -> None:
        sketches, states = self._open("sketches"), self._open("states")
        if sketches is None or states is None:
            return
        before = datetime.now(UTC) - timedelta(seconds=ORPHANED_SECONDS)
        there = states.to_pyarrow_table(columns=["state", "saved_at"]).to_pylist()
        named = set(sketches.to_pyarrow_table(columns=["state"]).column("state").to_pylist())
        self._delete_states(sorted({row["state"] for row in there if row["saved_at"] < before} - named))
        if len(sketches.file_uris()) > MOST_FILES:
            sketches.optimize.compact()
        for table in (sketches, states):
            table.create_checkpoint()
            # A process that still reads a removed file finds it gone, and looks for the newer record or captures.
            table.vacuum(0, dry_run=False, enforce_retention_duration=False)

    def _delete_states(self, states: Sequence[str]) -> None:
        table = self._open("states")
        if table is not None and states:
            table.delete(f"state IN ({', '.join(map(_quoted, states))})")

    def _open(self, name: str) -> DeltaTable | None:
        try:
            return DeltaTable(f"{self.location}/{name}", storage_options=self._storage)
        except TableNotFoundError:
            return None

    def _commit(self, name: str, rows: pa.Table, replaced: str | None) -> None:
        """Append rows, or put them in the place of those that a condition selects; once, however often it is tried."""
        self._commits += 1
        number = self._commits

        def commit() -> None:
            table = self._open(name)
            if table is not None and (table.transaction_version(self._writer) or 0) >= number:
                return
            properties = CommitProperties(app_transactions=[Transaction(self._writer, number)])
            # Small groups of rows, so that reading one state does not read its neighbours.
            layout = WriterProperties(max_row_group_size=1 if name == "states" else 1024)
            if table is None:
                write_deltalake(
                    f"{self.location}/{name}",
                    rows,
                    mode="append",
                    storage_options=self._storage,
                    configuration=_CONFIGURATION,
                    commit_properties=properties,
                    writer_properties=layout,
                )
            elif replaced is None:
                write_deltalake(table, rows, mode="append", commit_properties=properties, writer_properties=layout)
            else:
                write_deltalake(table, rows, mode="overwrite", predicate=replaced, commit_properties=properties, writer_properties=layout)

        self._write(commit)

    def _write(self, act: Callable[[], None]) -> None:
        """Try some times: another process may commit at the same moment."""
        for left in reversed(range(TRIES)):
            try:
                act()
                return
            except _FAILURES as error:
                if left == 0 or isinstance(error, OSError):
                    raise OperationalError(f"The sketch store {self.location} cannot be written: {_first_line(error)}") from error

    def _read(self, done: str, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except _FAILURES as error:
            raise OperationalError(f"The sketch store {self.location} cannot be {done}: {_first_line(error)}") from error


def _rows_of(table: DeltaTable, state: str) -> pa.Table:
    """Return the parts of one state in order. After a checkpoint Arrow datasets of delta-rs cannot skip files; its query engine can."""
    found = QueryBuilder().register("states", table).execute(f"SELECT * FROM states WHERE state = {_quoted(state)} ORDER BY part")
    return pa.table(found.read_all())


def _state_rows(state: str, columns: StateColumns) -> pa.Table:
    data = encoded_state(columns)
    parts = [data[begin : begin + PART_BYTES] for begin in range(0, len(data), PART_BYTES)]
    checksums = [checksum_of(part) for part in parts]
    names, numbers, times = [state] * len(parts), list(range(len(parts))), [datetime.now(UTC)] * len(parts)
    return pa.table([names, numbers, parts, checksums, times], schema=_STATES)


def _is_key(keys: Iterable[str]) -> str:
    return f"key IN ({', '.join(map(_quoted, keys))})"


def _is_replaced(keys: Iterable[str]) -> str:
    """Select the former records of some keys, and all that an earlier version of the driver has left: nobody will read them again."""
    return f"{_is_key(keys)} OR format < {FORMAT}"


def _quoted(text: str) -> str:
    # Keys and names of states are hexadecimal digits; anything else would be text of another's making.
    if not text.isalnum():
        raise ValueError(f"{text!r} is no key of the sketch store")
    return f"'{text}'"


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0]
