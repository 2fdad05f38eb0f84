"""A range of commits in, plan out: which rows changed, where they lie, and who reads them. One pass over the log, no data file is opened.

In process a commit's change feed files are read where it has any; otherwise its added and removed files are the change, and of a file whose
deletion vector changed only the rows between the two vectors. This is exact whether or not the change feed is on. Spark reads what is too
much for that. delta-rs's own change feed is not used: it gives wrong rows where a deletion vector grows, and reads neither column mapping
nor escaped partition folders.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from imp_driver.delta.files import Piece
from imp_driver.delta.history import CommitRange, Limits
from imp_driver.delta.live_files import live_files
from imp_driver.delta.pieces import changing, pieces_of, rows_changed, rows_to_read
from imp_driver.delta.relations import change_feed_relation, files_relation
from imp_driver.delta.schema import TableMetadata
from imp_driver.delta.store import TableStore, data_path
from imp_driver.delta.vectors import vector_path
from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.values.tables import ChangePlan, ChangesUnavailable

_REPLACING = ("REPLACE TABLE", "CLONE", "CONVERT")


@dataclass(frozen=True, slots=True)
class FilePlan(ChangePlan):
    """A plan that carries what the log said, so that reading does not parse it again."""

    metadata: TableMetadata | None = None
    pieces: tuple[Piece, ...] = ()

    @property
    def compares_files(self) -> bool:
        """Whether rows of removed files may be there again in added ones."""
        return self.source is DeltaSource.CHANGED_FILES and any(not piece.compares for piece in self.pieces)


def classify(changes: CommitRange) -> FilePlan:
    """Return the cheapest exact way to the signed rows.

    Raises:
        ChangesUnavailable: there is none.
    """
    metadata, has_feed = _check_metadata(changes)
    pieces = pieces_of(changes.commits, has_feed=has_feed)
    if not pieces:
        return _plan(changes, DeltaSource.NONE, 0, metadata, pieces)
    _require_files(changes.store, pieces)
    to_read = rows_to_read(changes.commits, pieces, has_feed=has_feed)
    is_in_process = _is_in_process(pieces, to_read, changes.limits)
    if has_feed:
        return _fed(changes, metadata, to_read, pieces, is_in_process=is_in_process)
    if is_in_process and all(piece.weight > 0 for piece in pieces):
        return _plan(changes, DeltaSource.ADDED_FILES, to_read, metadata, pieces)
    changed = rows_changed(changes.commits)
    if is_in_process:
        return _plan(changes, DeltaSource.CHANGED_FILES, changed, metadata, pieces)
    return _by_spark(changes, metadata, changed, pieces)


def _fed(changes: CommitRange, metadata: TableMetadata, rows: int | None, pieces: tuple[Piece, ...], *, is_in_process: bool) -> FilePlan:
    if is_in_process:
        return _plan(changes, DeltaSource.CHANGE_FEED, rows, metadata, pieces)
    columns = [column.column for column in metadata.columns]
    relation = change_feed_relation(changes.store.folder or changes.location, columns, changes.after, changes.up_to)
    return _plan(changes, DeltaSource.SPARK_CHANGE_FEED, rows, metadata, pieces, relation)


def _by_spark(changes: CommitRange, metadata: TableMetadata, rows: int | None, pieces: tuple[Piece, ...]) -> FilePlan:
    _refuse_overwrites(changes)
    folder = changes.store.folder
    if folder is None:
        raise ChangesUnavailable(
            RecaptureReason.CHANGES_UNREADABLE, f"Files of {changes.location} cannot be named to Spark; switch on its change feed."
        )
    parts = live_files(changes, folder)
    if not parts:
        return _plan(changes, DeltaSource.NONE, 0, metadata, ())
    names = tuple(column.column.name for column in metadata.columns)
    return _plan(changes, DeltaSource.SPARK_FILES, rows, metadata, pieces, files_relation(folder, names, parts))


def oldest_version(plan: FilePlan, changes: CommitRange) -> int | None:
    """Return the oldest version that Spark must be able to open for a plan; None when it opens none but the newest."""
    if plan.source is DeltaSource.SPARK_CHANGE_FEED:
        return plan.from_version + 1
    if plan.source is DeltaSource.SPARK_FILES and changes.store.folder is not None:
        return min(version for version, _, _ in live_files(changes, changes.store.folder))
    return None


def _plan(
    changes: CommitRange,
    source: DeltaSource,
    rows: int | None,
    metadata: TableMetadata,
    pieces: tuple[Piece, ...],
    relation: str | None = None,
) -> FilePlan:
    names, size = frozenset(column.column.name for column in metadata.columns), sum(piece.file.size for piece in pieces)
    return FilePlan(changes.location, changes.after, changes.up_to, source, rows, relation, names, size, metadata, pieces)


def _check_metadata(changes: CommitRange) -> tuple[TableMetadata, bool]:
    """Return the metadata at the end, with the columns that meant the same all the time, and whether the feed was on at every commit."""
    metadata, has_feed = changes.metadata, True
    kept = set(metadata.columns)
    for commit in changes.commits:
        where = f"Commit {commit.version} ({commit.operation}) of {changes.location}"
        if commit.operation == "RESTORE":
            raise ChangesUnavailable(RecaptureReason.RESTORED, f"{where} restored an earlier version.")
        if any(word in commit.operation for word in _REPLACING):
            raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"{where} replaced the table.")
        if commit.metadata is not None:
            kept &= set(commit.metadata.columns)
            if not kept or not metadata.is_laid_out_like(commit.metadata):
                raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"{where} changed all columns or the partitioning.")
            metadata = commit.metadata
        has_feed = has_feed and metadata.has_change_feed
    return replace(metadata, columns=tuple(column for column in metadata.columns if column in kept)), has_feed


def _refuse_overwrites(changes: CommitRange) -> None:
    for commit in changes.commits:
        if commit.parameters.get("mode") == "Overwrite" and not commit.parameters.get("predicate") and changing(commit.removed):
            raise ChangesUnavailable(RecaptureReason.RESTORED, f"Commit {commit.version} of {changes.location} overwrote the table.")


def _is_in_process(pieces: Sequence[Piece], rows: int | None, limits: Limits) -> bool:
    if any(data_path(piece.file.path) is None for piece in pieces):
        return False
    if rows is not None:
        return rows <= limits.rows
    return sum(piece.file.size for piece in pieces) <= limits.bytes


def _require_files(store: TableStore, pieces: Sequence[Piece]) -> None:
    """Notice vacuumed files before Spark stumbles over them; other stores are not asked, each question is a request."""
    if store.folder is None:
        return
    for piece in pieces:
        stored_vectors = [vector for vector in (piece.file.vector, piece.earlier) if vector is not None and vector.storage != "i"]
        for path in (data_path(piece.file.path), *map(vector_path, stored_vectors)):
            if path is not None and not os.path.exists(os.path.join(store.folder, path)):
                raise ChangesUnavailable(
                    RecaptureReason.HISTORY_GONE, f"The file {path} of {store.folder} is gone; it was probably vacuumed."
                )
