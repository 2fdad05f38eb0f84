"""Commits in, plan out: which rows changed, where they lie, and who reads them. One pass over the log, no data file is opened.

In process a commit's change feed files are read where it has any; otherwise its added and removed files are the change, and of a file whose
deletion vector changed only the rows between the two vectors. This is exact whether or not the change feed is on. delta-rs's own change
feed is not used: it gives wrong rows where a deletion vector grows, and reads neither column mapping nor escaped partition folders.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from imp_driver.delta.commits import Commit, DataFile, VectorReference, deleted_rows
from imp_driver.delta.files import Piece
from imp_driver.delta.relations import change_feed_relation, files_relation, spark_file_path
from imp_driver.delta.schema import TableMetadata
from imp_driver.delta.store import TableStore, data_path
from imp_driver.delta.vectors import vector_path
from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.values.tables import ChangePlan, ChangesUnavailable

_REPLACING = ("REPLACE TABLE", "CLONE", "CONVERT")
_MAXIMUM_VERSIONS = 20
"""Versions that one relation over files may read: Spark replays the log for each."""
_MAXIMUM_BYTES = 256 << 20
"""Bytes of files that are read in process when the number of rows is unknown."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``rows`` read in process at most; ``files`` that one relation over files may name at most."""

    rows: int = 2_000_000
    files: int = 500


@dataclass(frozen=True, slots=True)
class FilePlan(ChangePlan):
    """A plan that carries what the log said, so that reading does not parse it again."""

    metadata: TableMetadata | None = None
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitRange:
    """The commits of (after, up_to] and the metadata before them."""

    location: str
    store: TableStore
    after: int
    up_to: int
    metadata: TableMetadata
    commits: Sequence[Commit]
    limits: Limits


def classify(changes: CommitRange) -> FilePlan:
    """Return the cheapest exact way to the signed rows.

    Raises:
        ChangesUnavailable: there is none.
    """
    metadata, has_feed = _check_metadata(changes)
    if not has_feed:
        _refuse_overwrites(changes)
    pieces = tuple(piece for commit in changes.commits for piece in _pieces(commit, has_feed))
    if not pieces:
        return _plan(changes, DeltaSource.NONE, 0, metadata)
    _require_files(changes.store, pieces)
    rows = _sum(_feed_rows(commit) if has_feed and commit.changed else _file_rows(commit) for commit in changes.commits)
    in_process = _is_in_process(metadata, pieces, rows, changes.limits)
    if has_feed and in_process:
        return _plan(changes, DeltaSource.CHANGE_FEED, rows, metadata, pieces)
    names = tuple(column.column.name for column in metadata.columns)
    folder = changes.store.folder
    if has_feed:
        columns = [column.column for column in metadata.columns]
        relation = change_feed_relation(folder or changes.location, columns, changes.after, changes.up_to)
        return _plan(changes, DeltaSource.SPARK_CHANGE_FEED, rows, relation=relation)
    if in_process and all(piece.weight > 0 for piece in pieces):
        return _plan(changes, DeltaSource.ADDED_FILES, rows, metadata, pieces)
    if folder is None:
        raise ChangesUnavailable(
            RecaptureReason.CHANGES_UNREADABLE, f"Files of {changes.location} cannot be named to Spark; switch on its change feed."
        )
    parts = _parts(changes, folder)
    if not parts:
        return _plan(changes, DeltaSource.NONE, 0, metadata)
    return _plan(changes, DeltaSource.SPARK_FILES, rows, relation=files_relation(folder, names, parts))


def oldest_version(plan: FilePlan, changes: CommitRange) -> int | None:
    """Return the oldest version that Spark must be able to open for a plan; None when it opens none but the newest."""
    if plan.source is DeltaSource.SPARK_CHANGE_FEED:
        return plan.from_version + 1
    if plan.source is DeltaSource.SPARK_FILES and changes.store.folder is not None:
        return min(version for version, _, _ in _parts(changes, changes.store.folder))
    return None


def _plan(
    changes: CommitRange,
    source: DeltaSource,
    rows: int | None,
    metadata: TableMetadata | None = None,
    pieces: tuple[Piece, ...] = (),
    relation: str | None = None,
) -> FilePlan:
    return FilePlan(changes.location, changes.after, changes.up_to, source, rows, relation, metadata, pieces)


def _check_metadata(changes: CommitRange) -> tuple[TableMetadata, bool]:
    """Return the metadata at the end and whether the change feed was on at every commit."""
    metadata, has_feed = changes.metadata, True
    for commit in changes.commits:
        where = f"Commit {commit.version} ({commit.operation}) of {changes.location}"
        if commit.operation == "RESTORE":
            raise ChangesUnavailable(RecaptureReason.RESTORED, f"{where} restored an earlier version.")
        if any(word in commit.operation for word in _REPLACING):
            raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"{where} replaced the table.")
        if commit.metadata is not None:
            if not metadata.reads_like(commit.metadata):
                raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"{where} changed the schema or the partitioning.")
            metadata = commit.metadata
        has_feed = has_feed and metadata.has_change_feed
    return metadata, has_feed


def _refuse_overwrites(changes: CommitRange) -> None:
    for commit in changes.commits:
        if commit.parameters.get("mode") == "Overwrite" and not commit.parameters.get("predicate") and _changing(commit.removed):
            raise ChangesUnavailable(RecaptureReason.RESTORED, f"Commit {commit.version} of {changes.location} overwrote the table.")


def _pieces(commit: Commit, has_feed: bool) -> Iterator[Piece]:
    if has_feed and commit.changed:
        yield from (Piece(file, 0) for file in commit.changed)
        return
    removed = {file.path: file for file in _changing(commit.removed)}
    for file in _changing(commit.added):
        before = removed.pop(file.path, None)
        if before is None:
            yield Piece(file, 1)
        elif before.vector != file.vector:
            yield Piece(file, 0, compares=True, earlier=before.vector)
    yield from (Piece(file, -1) for file in removed.values())


def _changing(files: Iterable[DataFile]) -> list[DataFile]:
    return [file for file in files if file.data_change]


def _feed_rows(commit: Commit) -> int | None:
    """Estimate the rows of a commit's change feed: an updated row is there twice."""
    counted = {name.replace("_", "").lower(): value for name, value in commit.metrics.items()}
    single = ("numdeletedrows", "numtargetrowsinserted", "numtargetrowsdeleted")
    double = ("numupdatedrows", "numtargetrowsupdated")
    rows = sum(counted.get(name, 0) for name in single) + 2 * sum(counted.get(name, 0) for name in double)
    return rows or None


def _file_rows(commit: Commit) -> int | None:
    return _sum(_piece_rows(piece) for piece in _pieces(commit, False))


def _piece_rows(piece: Piece) -> int | None:
    if piece.compares:
        return abs(deleted_rows(piece.file) - (piece.earlier.cardinality if piece.earlier else 0))
    return piece.file.live_rows


def _sum(numbers: Iterable[int | None]) -> int | None:
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def _is_in_process(metadata: TableMetadata, pieces: Sequence[Piece], rows: int | None, limits: Limits) -> bool:
    # In mapping mode "id" files may name their columns differently from the log, only field identifiers count.
    if metadata.mapping_mode == "id" or any(data_path(piece.file.path) is None for piece in pieces):
        return False
    if rows is not None:
        return rows <= limits.rows
    return sum(piece.file.size for piece in pieces) <= _MAXIMUM_BYTES


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


def _parts(changes: CommitRange, folder: str) -> list[tuple[int, int, list[str]]]:
    """Return (version at which the files are live, weight, paths) of the files that differ.

    A file is named with its deletion vector; what came and went inside the range cancels. A file that stays until the end is read at the
    end, one that was there at the start is read at the start, so that mostly two versions suffice.
    """
    last = {file.path: commit.version for commit in changes.commits for file in (*commit.added, *commit.removed)}
    touched: set[str] = set()
    weights: Counter[tuple[str, VectorReference | None]] = Counter()
    versions: dict[tuple[str, VectorReference | None, int], int] = {}
    for commit in changes.commits:
        for file in _changing(commit.removed):
            weights[file.path, file.vector] -= 1
            versions[file.path, file.vector, -1] = commit.version - 1 if file.path in touched else changes.after
        for file in _changing(commit.added):
            weights[file.path, file.vector] += 1
            versions[file.path, file.vector, 1] = commit.version if last[file.path] > commit.version else changes.up_to
        touched.update(file.path for file in (*commit.added, *commit.removed))
    grouped: dict[tuple[int, int], list[str]] = {}
    for (path, vector), weight in weights.items():
        if weight:
            stored = data_path(path)
            if stored is None:
                raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, f"The data file {path} lies on another store than its table.")
            grouped.setdefault((versions[path, vector, weight], weight), []).append(spark_file_path(folder, stored))
    _refuse_many(changes, grouped)
    return [(version, weight, paths) for (version, weight), paths in sorted(grouped.items())]


def _refuse_many(changes: CommitRange, grouped: dict[tuple[int, int], list[str]]) -> None:
    files = sum(map(len, grouped.values()))
    if files > changes.limits.files or len({version for version, _ in grouped}) > _MAXIMUM_VERSIONS:
        raise ChangesUnavailable(
            RecaptureReason.DELTA_TOO_LARGE, f"{files} files of {changes.location} changed in {len(changes.commits)} commits."
        )
