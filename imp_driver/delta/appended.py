"""Newer commits of a table that do nothing but append files: its next state without a look at all of its files.

Whatever else a commit has (files removed, deletion vectors, metadata, a protocol), and a log with a gap, is left to delta-rs.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from imp_driver.delta.store import FileIdentity, TableStore, commit_path

_HARMLESS = frozenset({"commitInfo", "txn"})
MOST_COMMITS = 100
"""Since the table's files were read; delta-rs reads all of these at once when they are asked for."""


@dataclass(frozen=True, slots=True)
class Appended:
    """``version`` is the newest; ``rows`` were added to get there, None where a file does not say how many it has."""

    version: int
    identity: FileIdentity
    rows: int | None


def appended(store: TableStore, version: int, identity: FileIdentity) -> Appended | None:
    """Return what came after a version of a table on a local disk; None where that is not certain, or is no append."""
    assert store.folder is not None
    rows: int | None = 0
    newest, last = version, identity
    try:
        while newest < (end := _last_version(store)):
            if end - version > MOST_COMMITS:
                return None
            newest += 1
            found = store.commit_identity(newest)
            added = _rows_of(store.read(commit_path(newest)))
            if found is None or store.commit_identity(newest) != found:
                return None
            last, rows = found, None if rows is None or added is None else rows + added
    except (OSError, ValueError, KeyError, TypeError, AttributeError, _OtherChangeError):
        return None
    # The table may have been recreated while its new commits were read.
    return Appended(newest, last, rows) if newest > version and store.commit_identity(version) == identity else None


class _OtherChangeError(Exception):
    """A commit does something else than to append files."""


def _last_version(store: TableStore) -> int:
    names = os.listdir(f"{store.folder}/_delta_log")
    return max((int(name[:20]) for name in names if len(name) == 25 and name.endswith(".json") and name[:20].isdigit()), default=-1)


def _rows_of(content: bytes) -> int | None:
    """Return the rows that a commit appends, None where it does not say. Raises _OtherChangeError, or an error for what is no commit."""
    rows: int | None = 0
    is_described = False
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        ((kind, action),) = json.loads(line).items()
        is_described |= kind == "commitInfo"
        if kind in _HARMLESS:
            continue
        if kind != "add" or not action["dataChange"] or action.get("deletionVector"):
            raise _OtherChangeError
        added = _row_count(action)
        rows = None if rows is None or added is None else rows + added
    if not is_described:
        raise _OtherChangeError
    return rows


def _row_count(action: dict[str, Any]) -> int | None:
    statistics = action.get("stats")
    found = json.loads(statistics).get("numRecords") if statistics else None
    return None if found is None else int(found)
