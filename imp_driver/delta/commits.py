"""Commit files of a Delta log in, typed actions out. Only the actions that decide about rows are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from imp_driver.delta.schema import TableMetadata, read_metadata
from imp_driver.delta.store import TableStore, commit_path
from imp_driver.reasons import RecaptureReason
from imp_driver.values.tables import ChangesUnavailable


@dataclass(frozen=True, slots=True)
class VectorReference:
    """Where a deletion vector is stored, in the terms of Delta's protocol."""

    storage: str
    text: str
    offset: int | None
    cardinality: int


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file as an action names it: ``path`` is the URI of the action, ``rows`` counts stored rows, None when unknown."""

    path: str
    partition: tuple[tuple[str, str | None], ...]
    rows: int | None
    size: int
    vector: VectorReference | None
    data_change: bool

    @property
    def live_rows(self) -> int | None:
        return None if self.rows is None else self.rows - deleted_rows(self)


def deleted_rows(file: DataFile) -> int:
    return file.vector.cardinality if file.vector else 0


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. ``changed`` are the files of the change feed; when there are any, they alone tell the rows that changed."""

    version: int
    operation: str
    parameters: dict[str, Any]
    metrics: dict[str, int]
    metadata: TableMetadata | None
    added: tuple[DataFile, ...]
    removed: tuple[DataFile, ...]
    changed: tuple[DataFile, ...]


def read_commits(store: TableStore, after: int, up_to: int) -> list[Commit]:
    """Read the commits of (after, up_to].

    Raises:
        ChangesUnavailable: a commit file is gone or cannot be read.
    """
    return [_read_commit(store, version) for version in range(after + 1, up_to + 1)]


def read_metrics(store: TableStore, version: int) -> dict[str, int]:
    """Return the whole-number metrics of one commit; empty when the commit or its metrics are gone."""
    try:
        for kind, action in _actions(store.read(commit_path(version)), (b'{"commitInfo"',)):
            if kind == "commitInfo":
                return _whole_numbers(action)
    except (OSError, ValueError):
        return {}
    return {}


def _read_commit(store: TableStore, version: int) -> Commit:
    try:
        return _parse(version, store.read(commit_path(version)))
    except FileNotFoundError as error:
        raise ChangesUnavailable(RecaptureReason.HISTORY_GONE, f"Commit {version} is no longer in the log of {store.folder}.") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, f"Commit {version} of {store.folder} cannot be read.") from error


def _parse(version: int, content: bytes) -> Commit:
    information: dict[str, Any] = {}
    metadata = None
    files: dict[str, list[DataFile]] = {"add": [], "remove": [], "cdc": []}
    for kind, action in _actions(content, ()):
        if kind in files:
            files[kind].append(_data_file(action))
        elif kind == "commitInfo":
            information = action
        elif kind == "metaData":
            metadata = _metadata(action)
    return Commit(
        version,
        str(information.get("operation", "")),
        information.get("operationParameters") or {},
        _whole_numbers(information),
        metadata,
        tuple(files["add"]),
        tuple(files["remove"]),
        tuple(files["cdc"]),
    )


def read_time(store: TableStore, version: int) -> float | None:
    """Return when a commit was made, in seconds since 1970 by its writer's clock; None when it is gone or does not say."""
    try:
        actions = _actions(store.read(commit_path(version)), (b'{"commitInfo"',))
        information = next((action for kind, action in actions if kind == "commitInfo"), {})
        found = information.get("inCommitTimestamp", information.get("timestamp"))
        return None if found is None else float(found) / 1000
    except (OSError, ValueError, TypeError):
        return None


def _actions(content: bytes, wanted: tuple[bytes, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (kind, action) of each line; ``wanted`` are the starts of the lines worth parsing, all when empty."""
    for line in content.split(b"\n"):
        if line.strip() and (not wanted or line.startswith(wanted)):
            yield from json.loads(line).items()


def _metadata(action: dict[str, Any]) -> TableMetadata:
    return read_metadata(action["id"], action["schemaString"], action.get("partitionColumns") or (), action.get("configuration") or {})


def _data_file(action: dict[str, Any]) -> DataFile:
    vector = action.get("deletionVector")
    statistics = action.get("stats")
    rows = json.loads(statistics).get("numRecords") if statistics else None
    return DataFile(
        path=action["path"],
        partition=tuple(sorted((action.get("partitionValues") or {}).items())),
        rows=rows,
        size=int(action.get("size") or 0),
        vector=VectorReference(vector["storageType"], vector["pathOrInlineDv"], vector.get("offset"), vector["cardinality"])
        if vector
        else None,
        data_change=bool(action.get("dataChange", False)),
    )


def _whole_numbers(information: dict[str, Any]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for name, value in (information.get("operationMetrics") or {}).items():
        if isinstance(value, bool):
            continue
        try:
            numbers[name] = int(value)
        except (TypeError, ValueError):
            continue
    return numbers
