"""Files that differ between two versions, each with a version at which Spark finds it alive."""

from __future__ import annotations

from collections import Counter

from imp_driver.delta.commits import VectorReference
from imp_driver.delta.history import CommitRange
from imp_driver.delta.pieces import changing
from imp_driver.delta.relations import spark_file_path
from imp_driver.delta.store import data_path
from imp_driver.reasons import RecaptureReason
from imp_driver.values.tables import ChangesUnavailable

_MAXIMUM_VERSIONS = 20
"""Versions that one relation over files may read: Spark replays the log for each."""


def live_files(changes: CommitRange, folder: str) -> list[tuple[int, int, list[str]]]:
    """Return (version at which the files are live, weight, paths) of the files that differ.

    A file is named with its deletion vector; what came and went inside the range cancels. A file that stays until the end is read at the
    end, one that was there at the start is read at the start, so that mostly two versions suffice.

    Raises:
        ChangesUnavailable: they are too many for one relation, lie on another store, or are there twice.
    """
    last = {file.path: commit.version for commit in changes.commits for file in (*commit.added, *commit.removed)}
    touched: set[str] = set()
    weights: Counter[tuple[str, VectorReference | None]] = Counter()
    versions: dict[tuple[str, VectorReference | None, int], int] = {}
    for commit in changes.commits:
        for file in changing(commit.removed):
            weights[file.path, file.vector] -= 1
            versions[file.path, file.vector, -1] = commit.version - 1 if file.path in touched else changes.after
        for file in changing(commit.added):
            weights[file.path, file.vector] += 1
            versions[file.path, file.vector, 1] = commit.version if last[file.path] > commit.version else changes.up_to
        touched.update(file.path for file in (*commit.added, *commit.removed))
    grouped: dict[tuple[int, int], list[str]] = {}
    for (path, vector), weight in weights.items():
        if abs(weight) > 1:
            raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, f"The log of {changes.location} names {path} twice.")
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
