"""Folders of states in buckets: Delta tables that the engine writes, and that are removed or trimmed from this process."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from imp_driver.values.redaction import redacted

ORPHANED_SECONDS = 24 * 3600.0
"""Age of a folder that no record names after which it is taken for one of a process that was killed."""
TRIM_EVERY = 16
"""Versions of a table between two removals of former files."""
_OWN_ENTRIES = 2
"""Of a removal, in a table's log: its beginning and its end."""
_LOG = logging.getLogger("imp_driver.persist")


class Folders:
    """The tables of one process's states; all methods are safe to call from several threads. ``location`` is None where there are none."""

    def __init__(self, location: str | None) -> None:
        self.location = location
        # The version of each table that was made here at which former files were removed last, 0 before.
        self._trimmed: dict[str, int] = {}
        self._lock = threading.Lock()

    def noted(self, target: str, version: int, used: Callable[[], set[str]]) -> int:
        """Take note of a state's table and version, and return the version after what there was to tidy up.

        ``used`` are the tables that states or records have. The first time, tables go that nobody has.
        """
        with self._lock:
            is_first, is_new = not self._trimmed, target not in self._trimmed
            is_due = version - self._trimmed.setdefault(target, 0) >= TRIM_EVERY
            if is_due:
                self._trimmed[target] = version
        if is_first and self.location is not None:
            for each in orphans(self.location, used()):
                remove(each)
        if is_new:
            self.tidy(used())
        return trim(target, version) if is_due else version

    def tidy(self, used: set[str]) -> None:
        """Remove the tables that were made here and that nothing uses any more."""
        with self._lock:
            left = self._trimmed.keys() - used
            for target in left:
                del self._trimmed[target]
        for target in left:
            remove(target)


def remove(target: str) -> None:
    """Remove a table with all its files; under a URL what remains is a log without rows. A failure is logged."""
    try:
        if "://" not in target:
            shutil.rmtree(target, ignore_errors=True)
            return
        table = DeltaTable(target)
        table.delete()
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    except (DeltaError, OSError) as error:
        _LOG.warning("A state in buckets at %s could not be removed: %s", redacted(target), type(error).__name__)


def trim(target: str, version: int) -> int:
    """Remove the files of former versions, which nobody reads any more; return the version then. A failure is logged.

    The removal leaves two entries in the table's log. Where there are others beside them the version is returned as it was.
    """
    try:
        table = DeltaTable(target)
        is_newest = table.version() == version
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
        if is_newest and table.version() - version == _OWN_ENTRIES:
            return int(table.version())
    except (DeltaError, OSError) as error:
        _LOG.warning("Former versions of a state in buckets at %s could not be removed: %s", redacted(target), type(error).__name__)
    return version


def orphans(folder: str, named: set[str]) -> list[str]:
    """Return the tables in a local folder that no record names and nobody has written to for a day."""
    path = Path(folder)
    if "://" in folder or not path.is_dir():
        return []
    found = [each for each in path.iterdir() if f"{folder}/{each.name}" not in named]
    return [f"{folder}/{each.name}" for each in found if time.time() - _written(each) > ORPHANED_SECONDS]


def _written(table: Path) -> float:
    log = table / "_delta_log"
    return (log if log.is_dir() else table).stat().st_mtime
