"""A table's folder as a place to read from: plain local folders through the operating system, other stores through delta-rs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as arrow_fs
from deltalake.fs import DeltaStorageHandler

from imp_driver.delta.local_disk import is_local_disk
from imp_driver.errors import OperationalError

_OTHER_MACHINE = re.compile(r"file://(?!localhost/)([^/]+)/")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

FileIdentity = tuple[int, int, int]
"""Inode, modification time in nanoseconds, size in bytes."""
LogIdentity = tuple[int, int, int]
"""Device, inode and modification time in nanoseconds of a log's folder, which changes with every name in it."""


def local_folder(location: str) -> str | None:
    """Return the folder of a plain path or ``file:`` URI; None when the location is on another kind of store."""
    if location.startswith("file:"):
        return os.path.abspath("/" + unquote(location.removeprefix("file:").removeprefix("//localhost").lstrip("/")))
    return None if _SCHEME.match(location) else os.path.abspath(location)


def commit_path(version: int) -> str:
    """Return where the commit of a version lies, relative to the table's folder."""
    return f"_delta_log/{version:020d}.json"


def data_path(action_path: str) -> str | None:
    """Return the path of a data file from the URI in its action: relative to the table's folder, or absolute; None on another store."""
    if _SCHEME.match(action_path):
        return local_folder(action_path)
    return unquote(action_path)


@dataclass(frozen=True, slots=True)
class TableStore:
    """Opens files of one table. ``folder`` is the local folder, None on other stores."""

    folder: str | None
    filesystem: arrow_fs.FileSystem

    def open(self, path: str) -> pa.NativeFile:
        """Open a path relative to the table's folder, or an absolute local one. Raises OSError."""
        if path.startswith("/"):
            return arrow_fs.LocalFileSystem().open_input_file(path)
        if self.folder is not None:
            return self.filesystem.open_input_file(f"{self.folder}/{path}")
        return self.filesystem.open_input_file(path)

    def read(self, path: str) -> bytes:
        """Return all bytes of a file. Raises OSError."""
        if self.folder is not None and not path.startswith("/"):
            with open(f"{self.folder}/{path}", "rb") as file:
                return file.read()
        with self.open(path) as stream:
            return bytes(stream.read())

    def commit_identity(self, version: int) -> FileIdentity | None:
        """Return what tells a commit file from one written anew in its place; None when it is gone or the store is not local."""
        if self.folder is None:
            return None
        try:
            found = os.stat(f"{self.folder}/{commit_path(version)}")
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def log_identity(self) -> LogIdentity | None:
        """Return what changes when a file of the log comes or goes; None where the log must be listed to know: not on a local disk."""
        if self.folder is None:
            return None
        try:
            found = os.stat(f"{self.folder}/_delta_log")
        except OSError:
            return None
        return (found.st_dev, found.st_ino, found.st_mtime_ns) if is_local_disk(self.folder, found.st_dev) else None

    def is_newest(self, version: int, identity: FileIdentity, log: LogIdentity) -> bool:
        """Say whether a commit is the last of the log still; False also where the log must be listed to know.

        Args:
            log: of the log before it was listed. Within one tick of the clock it may stay the same, but then the next commit is found.
        """
        try:
            os.stat(f"{self.folder}/{commit_path(version + 1)}")
        except FileNotFoundError:
            # In this order: what was there before and is there still was the last one when there was no next one.
            return self.commit_identity(version) == identity and self.log_identity() == log
        except OSError:
            return False
        return False


def open_store(location: str) -> TableStore:
    """Make the store of a table; nothing is read from a local folder yet. Raises OperationalError for a folder of another machine."""
    elsewhere = _OTHER_MACHINE.match(location)
    if elsewhere is not None:
        raise OperationalError(
            f"{location} is a folder of the machine {elsewhere[1]}. Where that folder is mounted here under the same path, "
            "connect with shared_files=true."
        )
    folder = local_folder(location)
    if folder is not None:
        return TableStore(folder, arrow_fs.LocalFileSystem())
    return TableStore(None, arrow_fs.PyFileSystem(DeltaStorageHandler(location)))
