"""Rows of the newest version by their key: those of an earlier version's files, and what changed since.

A DELETE that writes files anew would have all columns decoded again for a few rows. The files of the earlier version are what they were, so
their decoded columns serve for as long as little has changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from imp_driver.delta.columns import FileColumns, ReadFiles
from imp_driver.delta.handle import TableHandle, TableState
from imp_driver.delta.lookup import Wanted, rows_with
from imp_driver.delta.schema import stored_columns
from imp_driver.delta.store import FileIdentity
from imp_driver.errors import OperationalError
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.tables import ChangePlan, ChangesUnavailable, TableSnapshot, ZSet

MOST_CHANGED_SHARE = 0.1
"""Of a table's rows; when more have changed its newest files are read instead."""
FEW_CHANGES = 10_000
"""Signed rows that are never too many, however small the table."""
MOST_BYTES = 32 << 20
"""Of the changes of one table."""
_MOST_TABLES = 8


class Changes(Protocol):
    """The part of a ChangeSource that says what changed."""

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan: ...

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Followed:
    """A version whose files are read, and the signed rows from it to a later ``version``, whose commit has ``identity``."""

    state: TableState
    version: int
    identity: FileIdentity | None
    changes: ZSet

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.changes.rows.column_names)


class FollowedTables:
    """Thread-safe. For each table that was asked about lately a version, and its changes up to the newest one that was asked about."""

    def __init__(self, changes: Changes, kept: ReadFiles) -> None:
        self._changes = changes
        self._kept = kept
        self._followed: BoundedCache[str, _Followed] = BoundedCache(_MOST_TABLES)

    def rows_with(self, handle: TableHandle, snapshot: TableSnapshot, names: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        """Return signed rows whose sum are the rows of a version that have one of the values; None where the engine must find them."""
        for base in (self._earlier, self._newest):
            try:
                followed = base(handle, snapshot, tuple(dict.fromkeys((*names, key))))
                found = None if followed is None else self._found(handle, followed, names, key, values)
            except (ChangesUnavailable, OperationalError, OSError, ValueError, LookupError, pa.ArrowException):
                # Files of the earlier version may be gone.
                continue
            if found is not None and followed is not None:
                self._followed[snapshot.table_id] = followed
                return found
        return None

    def _newest(self, handle: TableHandle, snapshot: TableSnapshot, names: tuple[str, ...]) -> _Followed | None:
        """Return the asked version itself; None where it is not the newest."""
        state = handle.known(snapshot.version)
        if state is None or (state.snapshot.version, state.snapshot.table_id) != (snapshot.version, snapshot.table_id):
            return None
        return _Followed(state, snapshot.version, state.identity, ZSet(_empty(state, names), _NO_WEIGHTS))

    def _earlier(self, handle: TableHandle, snapshot: TableSnapshot, names: tuple[str, ...]) -> _Followed | None:
        """Return the version that is followed, with its changes up to the asked one; None where its files do not serve for that."""
        followed = self._followed.get(snapshot.table_id)
        if followed is None:
            return None
        before, version = followed.state.snapshot, snapshot.version
        identity = handle.store.commit_identity(version)
        if version < followed.version or identity is None or handle.store.commit_identity(followed.version) != followed.identity:
            return None
        if set(names) <= set(followed.names):
            start, known = followed.version, followed.changes
        else:
            start, known = before.version, ZSet(_empty(followed.state, tuple(dict.fromkeys((*followed.names, *names)))), _NO_WEIGHTS)
        if start == version:
            return _Followed(followed.state, version, identity, known)
        most = max(FEW_CHANGES, MOST_CHANGED_SHARE * (before.row_count or 0))
        plan = self._changes.plan(snapshot.location, snapshot.table_id, start, version)
        if plan.relation is not None or len(known.weights) + (plan.rows or 0) > most:
            return None
        added = self._changes.read(plan, tuple(known.rows.column_names))
        rows = pa.concat_tables([known.rows, added.rows]).combine_chunks()
        changes = ZSet(rows, np.concatenate((known.weights, added.weights)))
        if len(changes.weights) > most or rows.nbytes > MOST_BYTES or handle.store.commit_identity(version) != identity:
            return None
        return _Followed(followed.state, version, identity, changes)

    def _found(self, handle: TableHandle, followed: _Followed, names: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        state = followed.state
        columns = stored_columns(state.metadata, state.snapshot.location, tuple(dict.fromkeys((*names, key))))
        wanted = Wanted.of(next(each for each in columns if each.column.name == key), values)
        read = FileColumns(handle.store, state.snapshot.table_id, self._kept)
        rows = rows_with(read, state, columns, wanted)
        if rows is None:
            return None
        changed = wanted.among(followed.changes)
        weights = np.concatenate((np.ones(len(rows), dtype=np.int64), changed.weights))
        return ZSet(pa.concat_tables([rows.select(names), changed.rows.select(names)]), weights)


def _empty(state: TableState, names: tuple[str, ...]) -> pa.Table:
    """Raises ChangesUnavailable."""
    columns = stored_columns(state.metadata, state.snapshot.location, names)
    return pa.schema([column.field for column in columns]).empty_table()


_NO_WEIGHTS = np.zeros(0, dtype=np.int64)
