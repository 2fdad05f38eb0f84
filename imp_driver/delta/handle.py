"""One table kept open: newest version, metadata and statistics, refreshed from the commits that came since.

Invariant: what is cached belongs to the table that lies in the folder now. A table that was dropped and recreated there starts a log of its
own, and delta-rs would apply its commits to the state of the old one; so a commit file that is not the one that was read means: open anew.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable

from imp_driver.delta.appended import MOST_COMMITS, appended
from imp_driver.delta.commits import read_commits
from imp_driver.delta.schema import TableMetadata, read_metadata
from imp_driver.delta.statistics import LaterStatistics, TableStatistics
from imp_driver.delta.store import FileIdentity, LogIdentity, TableStore, data_path, open_store
from imp_driver.delta.vectors import Deleted
from imp_driver.errors import OperationalError
from imp_driver.values.tables import ChangesUnavailable, TableSnapshot

_READABLE_FEATURES = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview", "v2Checkpoint", "vacuumProtocolCheck"}
)


_OLDER_KEPT = 4
"""Older versions of a table whose statistics are kept; these are large."""


@dataclass(frozen=True, slots=True)
class TableState:
    """One version. ``deleted`` maps decoded paths of data files to the rows marked deleted; None when unknown."""

    snapshot: TableSnapshot
    metadata: TableMetadata
    identity: FileIdentity | None
    deleted: dict[str, Deleted] | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """The newest state, and what the log was like just before it was listed for it."""

    state: TableState
    identity: FileIdentity
    log: LogIdentity


class TableHandle:
    """Thread-safe access to the newest state of one table.

    On a local disk three looks at files tell that a log has no newer commit. Who finds that waits for nobody; a refresh serves all who
    wait for it.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self._lock = threading.Lock()
        self._store: TableStore | None = None
        self._table: DeltaTable | None = None
        self._state: TableState | None = None
        self._seen: _Seen | None = None
        self._older: dict[tuple[str, int], TableState] = {}

    @property
    def store(self) -> TableStore:
        if self._store is None:
            try:
                self._store = open_store(self.location)
            except OperationalError:
                raise
            except Exception as error:  # delta-rs raises many kinds for a store that it cannot reach
                raise OperationalError(f"The storage of {self.location} cannot be read in process.") from error
        return self._store

    def state(self) -> TableState:
        """Return the newest state. Raises OperationalError when there is no readable table."""
        found = self._unchanged()
        if found is not None:
            return found
        with self._lock:
            return self._unchanged() or self._listed()

    def _unchanged(self) -> TableState | None:
        """Return the newest state as it was last seen; None where only a list of the log tells whether it still is."""
        seen = self._seen
        return seen.state if seen is not None and self.store.is_newest(seen.state.snapshot.version, seen.identity, seen.log) else None

    def _listed(self) -> TableState:
        self._seen, log = None, self.store.log_identity()
        is_read = log is not None and self._append()
        if not is_read and (self._table is None or self._state is None or not self._refresh(self._table, self._state)):
            self._reopen()
        state = self._state
        assert state is not None
        if log is not None and state.identity is not None:
            self._seen = _Seen(state, state.identity, log)
        return state

    def _append(self) -> bool:
        """Go on to the newest version where files were appended and nothing else; False where that is not so."""
        known = self._state
        if self._table is None or known is None or known.identity is None:
            return False
        if known.snapshot.version - self._table.version() >= MOST_COMMITS:
            return False
        found = appended(self.store, known.snapshot.version, known.identity)
        if found is None:
            return False
        before, version, identity, deleted = known.snapshot, found.version, found.identity, known.deleted
        rows = None if before.row_count is None or found.rows is None else before.row_count + found.rows
        files = LaterStatistics(lambda: self._statistics(version, identity, deleted))
        self._state = TableState(replace(before, version=version, row_count=rows, files=files), known.metadata, identity, deleted)
        return True

    def _statistics(self, version: int, identity: FileIdentity, deleted: dict[str, Deleted] | None) -> TableStatistics:
        """Read the statistics of a version that files were appended for. Raises OperationalError where it is gone."""
        with self._lock:
            table = self._table
            try:
                if table is not None and table.version() < version:
                    table.update_incremental()
                if table is None or table.version() != version:
                    table = DeltaTable(self.store.folder or self.location, version=version)
            except Exception as error:  # delta-rs raises many kinds; the cause is chained
                raise OperationalError(f"Version {version} of {self.location} cannot be read; its history may be gone.") from error
            found = self._read_state(table, deleted).snapshot.files
        assert isinstance(found, TableStatistics)
        if self.store.commit_identity(version) != identity:
            raise OperationalError(f"Another table lies in {self.location} now.")
        return found

    def state_at(self, version: int) -> TableState:
        """Return the state at a version. Raises OperationalError when it is not to be had."""
        newest = self.state()
        if newest.snapshot.version == version:
            return newest
        key = (newest.snapshot.table_id, version)
        identity = self.store.commit_identity(version)
        with self._lock:
            known = self._older.get(key)
            if known is not None and known.identity == identity and identity is not None:
                return known
        try:
            table = DeltaTable(self.store.folder or self.location, version=version)
        except Exception as error:  # never there, cleaned up or vacuumed: the cause is chained
            raise OperationalError(f"Version {version} of {self.location} cannot be read; its history may be gone.") from error
        found = self._read_state(table, None)
        with self._lock:
            while len(self._older) >= _OLDER_KEPT:
                del self._older[next(iter(self._older))]
            self._older[key] = found
        return found

    def known(self, version: int) -> TableState | None:
        """Return the state as it was last read, if it reaches ``version`` and its table still lies there; None else. Reads no commits."""
        with self._lock:
            state = self._state
            if state is None or state.identity is None or state.snapshot.version < version:
                return None
            return state if self.store.commit_identity(state.snapshot.version) == state.identity else None

    def metadata_at(self, version: int) -> TableMetadata | None:
        """Return the metadata of an older version; None when it can no longer be made out."""
        try:
            return _metadata_of(DeltaTable(self.store.folder or self.location, version=version))
        except Exception:  # whatever hinders delta-rs: this version is not to be had
            return None

    def _refresh(self, table: DeltaTable, known: TableState) -> bool:
        """Bring the open table up to date; False when it must be opened anew."""
        version = known.snapshot.version
        if known.identity is None or self.store.commit_identity(version) != known.identity:
            return False
        try:
            table.update_incremental()
        except Exception:  # opening anew says what is wrong, or mends it
            return False
        # The table may have been recreated while its new commits were read.
        if self.store.commit_identity(version) != known.identity:
            return False
        newest = table.version()
        if newest != version:
            self._state = self._read_state(table, self._deleted_after(known, newest))
        return True

    def _reopen(self) -> None:
        self._table = self._state = None
        place = self.store.folder or self.location
        try:
            table = DeltaTable(place)
        except Exception as error:  # missing folder, no log, unreachable store, damaged log: the cause is chained
            raise OperationalError(
                f"{self.location} is not a Delta table that can be read in process. Check that the folder exists."
            ) from error
        self._state = self._read_state(table, None)
        self._table = table

    def _read_state(self, table: DeltaTable, deleted: dict[str, Deleted] | None) -> TableState:
        features = table.protocol().reader_features or []
        unknown = sorted(set(features) - _READABLE_FEATURES)
        if unknown:
            raise OperationalError(f"{self.location} needs table features that are not read in process: {', '.join(unknown)}.")
        version = table.version()
        identity = self.store.commit_identity(version)
        try:
            metadata = _metadata_of(table)
            if deleted is None:
                deleted = _read_deleted(table) if "deletionVectors" in features else {}
            counts = {path: rows.count for path, rows in deleted.items()}
            files = TableStatistics(pa.table(table.get_add_actions(flatten=False)), counts, metadata.columns)
        except Exception as error:  # delta-rs meets something in the log that it cannot read
            raise OperationalError(f"The log of {self.location} cannot be read in process at version {version}.") from error
        count = None if len(files.rows) and int(files.rows.min()) < 0 else int(files.rows.sum())
        columns = tuple(column.column for column in metadata.columns)
        snapshot = TableSnapshot(self.location, metadata.table_id, version, columns, count, files)
        return TableState(snapshot, metadata, identity, deleted)

    def _deleted_after(self, known: TableState, version: int) -> dict[str, Deleted] | None:
        """Carry the deleted rows on; None when every vector must be read anew."""
        if known.deleted is None:
            return None
        try:
            commits = read_commits(self.store, known.snapshot.version, version)
        except ChangesUnavailable:
            return None
        deleted = dict(known.deleted)
        for commit in commits:
            for file in commit.removed:
                deleted.pop(data_path(file.path) or file.path, None)
            deleted.update((data_path(file.path) or file.path, Deleted.stored(file.vector)) for file in commit.added if file.vector)
        return deleted


def _metadata_of(table: DeltaTable) -> TableMetadata:
    found = table.metadata()
    return read_metadata(str(found.id), table.schema().to_json(), found.partition_columns, found.configuration)


def _read_deleted(table: DeltaTable) -> dict[str, Deleted]:
    """Read every deletion vector, by decoded path."""
    vectors = pa.table(table.deletion_vectors()).combine_chunks()
    uri = table.table_uri
    found: dict[str, Deleted] = {}
    for path, kept in zip(vectors.column("filepath").to_pylist(), vectors.column("selection_vector"), strict=True):
        stored = data_path(path.removeprefix(uri if uri.endswith("/") else uri + "/"))
        found[stored or path] = Deleted.at(np.flatnonzero(~np.asarray(kept.values.to_numpy(zero_copy_only=False), dtype=np.bool_)))
    return found
