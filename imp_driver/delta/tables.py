"""Delta tables as the source of changes: the one object of this folder, shared by all connections of a process."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa

from imp_driver.delta.classify import FilePlan, classify, oldest_version
from imp_driver.delta.columns import FileColumns, ReadFiles
from imp_driver.delta.commits import read_commits, read_metrics, read_time
from imp_driver.delta.followed import FollowedTables
from imp_driver.delta.handle import TableHandle, TableState
from imp_driver.delta.history import CommitRange, Limits
from imp_driver.delta.kept_changes import read_pieces
from imp_driver.delta.schema import TableMetadata, stored_columns
from imp_driver.delta.shared_changes import SharedChanges
from imp_driver.delta.store import commit_path
from imp_driver.errors import OperationalError
from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.tables import ChangePlan, ChangesUnavailable, TableSnapshot, ZSet

MOST_TABLES = 500
"""That are kept open, each with the statistics of its files; the least recently used is read anew when it is asked for."""


class DeltaTables:
    """A ChangeSource over delta-rs (versions, statistics) and the log's own files (changes). Thread-safe."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._handles: BoundedCache[str, TableHandle] = BoundedCache(MOST_TABLES)
        self._read = ReadFiles()
        self._shared = SharedChanges()
        self._followed = FollowedTables(self, self._read)

    def snapshot(self, location: str) -> TableSnapshot:
        """Return the newest version. Raises OperationalError when the folder is not a readable Delta table."""
        return self._handle(location).state().snapshot

    def snapshot_at(self, location: str, version: int) -> TableSnapshot:
        """Return an older version; the last few are kept. Raises OperationalError when it is not to be had."""
        return self._handle(location).state_at(version).snapshot

    def version_at(self, location: str, moment: float) -> int:
        """Return the newest version that was committed up to a moment (seconds since 1970). Raises OperationalError."""
        handle = self._handle(location)
        version = handle.state().snapshot.version
        while True:
            if version < 0:
                raise OperationalError(f"{location} was not there yet at the asked time; its first commit came later.")
            committed = read_time(handle.store, version)
            if committed is None:
                raise OperationalError(f"The history of {location} does not reach back to the asked time; its oldest commit is gone.")
            if committed <= moment:
                return version
            version -= 1

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        """Classify the commits of (from_version, to_version]. Raises ChangesUnavailable."""
        handle = self._handle(location)
        state = _expect(handle, table_id, max(from_version, to_version))
        if from_version == to_version:
            return FilePlan(location, from_version, to_version, DeltaSource.NONE, 0, metadata=state.metadata)
        if from_version > to_version:
            raise ChangesUnavailable(RecaptureReason.RESTORED, f"{location} is wanted at version {to_version}, before {from_version}.")
        commits = read_commits(handle.store, from_version, to_version)
        changed = any(commit.metadata is not None for commit in commits)
        metadata = _metadata_before(handle, state, from_version, to_version, changed)
        changes = CommitRange(location, handle.store, from_version, to_version, metadata, commits, self._limits)
        try:
            plan = classify(changes)
            oldest = oldest_version(plan, changes)
        except ValueError as error:
            raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, f"The log of {location} names files in an unknown way.") from error
        if oldest is not None and handle.metadata_at(oldest) is None:
            raise ChangesUnavailable(RecaptureReason.HISTORY_GONE, f"Version {oldest} of {location} can no longer be read.")
        _expect(handle, table_id, to_version)
        return plan

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        """Read the rows of a plan of this object whose source is in process. Raises ChangesUnavailable."""
        if not isinstance(plan, FilePlan) or plan.metadata is None or plan.relation is not None:
            raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, f"The plan for {plan.location} is not one to read in process.")
        wanted = stored_columns(plan.metadata, plan.location, columns)
        if not plan.pieces:
            return ZSet(pa.schema([column.field for column in wanted]).empty_table(), np.empty(0, np.int64))
        files = FileColumns(self._handle(plan.location).store, plan.metadata.table_id, self._read)
        return self._shared.rows(plan, files.table_id, wanted, lambda missing: read_pieces(files, missing, plan), plan.metadata.columns)

    def rows_with(self, snapshot: TableSnapshot, columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        """Return signed rows whose sum are those of the newest version with one of the values; None: the engine must find them."""
        return self._followed.rows_with(self._handle(snapshot.location), snapshot, columns, key, values)

    def commit_digest(self, location: str, version: int) -> str | None:
        """Return a digest of the commit's file, which holds random names; None when it is gone."""
        try:
            content = self._handle(location).store.read(commit_path(version))
        except (OSError, OperationalError, ValueError):
            return None
        return hashlib.blake2s(content, digest_size=16).hexdigest()

    def commit_metrics(self, location: str, version: int) -> dict[str, int]:
        """Return the whole-number operation metrics of one commit, under the writer's names; empty when there are none."""
        return read_metrics(self._handle(location).store, version)

    def _handle(self, location: str) -> TableHandle:
        return self._handles.get_or_add(location, lambda: TableHandle(location))


def _expect(handle: TableHandle, table_id: str, version: int) -> TableState:
    """Return a state of the table meant that reaches a version. Raises ChangesUnavailable when another one lies there, or none."""
    try:
        state = handle.known(version) or handle.state()
    except OperationalError as error:
        raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"{handle.location} can no longer be read.") from error
    if state.snapshot.table_id != table_id or state.snapshot.version < version:
        raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"Another table lies in {handle.location} now.")
    return state


def _metadata_before(handle: TableHandle, state: TableState, after: int, up_to: int, changed: bool) -> TableMetadata:
    if not changed and state.snapshot.version > up_to:
        changed = any(commit.metadata is not None for commit in read_commits(handle.store, up_to, state.snapshot.version))
    metadata = handle.metadata_at(after) if changed else state.metadata
    if metadata is None:
        raise ChangesUnavailable(RecaptureReason.HISTORY_GONE, f"Version {after} of {handle.location} can no longer be read.")
    return metadata
