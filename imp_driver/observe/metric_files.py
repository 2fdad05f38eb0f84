"""The counters of an embedded warehouse on disk, so that another process can print them: one small file per process that had it open.

One process at a time has a warehouse open, so the files that one finds when it opens the warehouse are complete. It adds them to
``total.json``, which names the files it has in it until they are removed: whoever reads in between counts nothing twice.
Nothing is raised for a file that cannot be read or written: it is a count that is lost, no answer.
"""

from __future__ import annotations

import atexit
import json
import logging
import math
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imp_driver.observe.metrics import BUCKETS, BY_NAME, Distribution, Family, FamilyKind, Key, Metrics, Snapshot

SECONDS_BETWEEN_WRITES = 5.0
_FORMAT = 1
_TOTAL = "total.json"
_MOST_TRIES = 10
_LOG = logging.getLogger("imp_driver.observe")


def folder_in(warehouse: Path) -> Path:
    """Return where the counters of a warehouse are."""
    return warehouse / "_imp" / "metrics"


@dataclass(frozen=True, slots=True)
class _File:
    """What one file says; ``process`` is None once it closed the warehouse, ``folded`` are names of files that are part of it."""

    counted: Snapshot
    process: tuple[str, int] | None = None
    folded: frozenset[str] = frozenset()


_NOTHING, _UNREADABLE = _File(Snapshot()), _File(Snapshot())


class MetricFile:
    """The file of this process for one warehouse. All methods are safe to call from several threads."""

    def __init__(self, folder: Path, metrics: Metrics) -> None:
        self._folder = folder
        self._metrics = metrics
        self._lock = threading.Lock()
        self._path: Path | None = None
        self._before = Snapshot()
        self._written: Snapshot | None = None
        self._next_write = 0.0
        self._has_failed = False

    def open(self) -> None:
        """Begin a file, which is written from now on; the process has just taken the warehouse. Harmless when it has one already."""
        with self._lock:
            if self._path is not None:
                return
            self._path = self._new_path()
            try:
                self._folder.mkdir(exist_ok=True)
                _fold(self._folder)
            except OSError as error:
                self._warn(error)
        atexit.register(self.write)

    def write_now_and_then(self) -> None:
        """Write when the last time is some seconds ago."""
        if time.monotonic() >= self._next_write:
            self.write()

    def write(self) -> None:
        """Write what this process has counted."""
        with self._lock:
            if self._path is not None:
                self._write(self._path, self._metrics.snapshot(), is_open=True)

    def close(self) -> None:
        """Write the last time before another process may take the warehouse; what is counted later begins another file."""
        atexit.unregister(self.write)
        with self._lock:
            if self._path is not None:
                self._write(self._path, self._metrics.snapshot().without_gauges(), is_open=False)
                # Where this could not be written, the file has what was before.
                self._before, self._path, self._written = self._written or self._before, None, None

    def _write(self, path: Path, now: Snapshot, *, is_open: bool) -> None:
        self._next_write = time.monotonic() + SECONDS_BETWEEN_WRITES
        if self._written is not None and not path.exists():
            # Someone has added it to the total, or has deleted it so that it be forgotten.
            self._before, self._path = self._written, (path := self._new_path())
        process = (socket.gethostname(), os.getpid()) if is_open else None
        try:
            _replace(path, _File(now.since(self._before), process))
        except OSError as error:
            self._warn(error)
        else:
            self._written = now

    def _new_path(self) -> Path:
        return self._folder / f"{time.time_ns()}-{uuid.uuid4().hex[:8]}.json"

    def _warn(self, error: OSError) -> None:
        if not self._has_failed:
            _LOG.warning("The counters cannot be written to %s: %s", self._folder, error.strerror)
        self._has_failed = True


def read_counters(folder: Path) -> Snapshot:
    """Return the sum of every process, with the gauges of those that have the warehouse open. Raises FileNotFoundError without a file."""
    if not folder.is_dir():
        raise FileNotFoundError(folder)
    for _ in range(_MOST_TRIES):
        total = _read(folder / _TOTAL)
        files = [_read(path) for path in _paths(folder) if path.name not in total.folded]
        # A fold in between has moved files to the total, so that they are in both or in neither of what was read.
        if _read(folder / _TOTAL) == total:
            break
    return _sum([total, *files])


def _fold(folder: Path) -> None:
    """Add every file to the total and remove it; what cannot be read stays where it is."""
    for leftover in folder.glob("*.new"):
        leftover.unlink(missing_ok=True)
    total, files = _read(folder / _TOTAL, _UNREADABLE), {}
    if total is _UNREADABLE and (folder / _TOTAL).exists():
        return
    for path in _paths(folder):
        found = _read(path, _UNREADABLE)
        if found is not _UNREADABLE and path.name not in total.folded:
            files[path.name] = found
    present = total.folded & {path.name for path in _paths(folder)}
    if files:
        counted = _sum([total, *files.values()]).without_gauges()
        _replace(folder / _TOTAL, _File(counted, folded=present | frozenset(files)))
    for name in [*present, *files]:
        (folder / name).unlink(missing_ok=True)


def _paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.json") if path.name != _TOTAL)


def _sum(files: Iterable[_File]) -> Snapshot:
    total = Snapshot()
    for file in files:
        total = total.plus(file.counted if _is_running(file.process) else file.counted.without_gauges())
    return total


def _is_running(process: tuple[str, int] | None) -> bool:
    """Say whether a process has its warehouse open still; one of another machine is believed to."""
    if process is None:
        return False
    if process[0] != socket.gethostname():
        return True
    try:
        os.kill(process[1], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _replace(path: Path, file: _File) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(_as_object(file), separators=(",", ":")), encoding="utf-8")
    os.replace(temporary, path)


def _as_object(file: _File) -> dict[str, object]:
    counted = file.counted
    return {
        "format": _FORMAT,
        "process": file.process,
        "folded": sorted(file.folded),
        "counters": [[name, labels, value] for (name, labels), value in counted.counters.items()],
        "histograms": [[name, labels, each.counts, each.total] for (name, labels), each in counted.distributions.items()],
        "gauges": [[name, labels, value] for (name, labels), value in counted.gauges.items()],
    }


def _read(path: Path, otherwise: _File = _NOTHING) -> _File:
    """Read a file; ``otherwise`` where there is none, or none of ours."""
    try:
        return _file(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return otherwise
    except OSError as error:
        _LOG.warning("The counters in %s cannot be read: %s", path, error.strerror)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        _LOG.warning("The counters in %s are malformed, or of another version of imp_driver, and left out.", path)
    return otherwise


def _file(values: Mapping[str, Any]) -> _File:
    if values["format"] != _FORMAT:
        raise ValueError("another format")
    counters = {_key(each, FamilyKind.COUNTER): _value(each[2]) for each in values["counters"]}
    gauges = {_key(each, FamilyKind.GAUGE): _value(each[2]) for each in values["gauges"]}
    distributions = {_key(each, FamilyKind.HISTOGRAM): _distribution(each) for each in values["histograms"]}
    process = values["process"]
    known = None if process is None else (str(process[0]), int(process[1]))
    return _File(Snapshot(counters, distributions, gauges), known, frozenset(str(name) for name in values["folded"]))


def _key(sample: list[Any], kind: FamilyKind) -> Key:
    family: Family = BY_NAME[sample[0]]
    labels = tuple(str(label) for label in sample[1])
    if family.kind is not kind or len(labels) != len(family.labels):
        raise ValueError(family.name)
    return family.name, labels


def _value(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError("no count")
    return value


def _distribution(sample: list[Any]) -> Distribution:
    counts = tuple(int(_value(count)) for count in sample[2])
    if len(counts) != len(BUCKETS) + 1:
        raise ValueError("other buckets")
    return Distribution(counts, _value(sample[3]))
