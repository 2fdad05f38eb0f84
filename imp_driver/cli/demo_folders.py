"""The folders of ``imp demo``: only such are written to or removed that hold nothing but what the demo has made.

A marker file in a folder says so. It also remembers the table that was made there, so that the next run need not make it again.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imp_driver.cli.network import LINKS, NODES
from imp_driver.errors import OperationalError

MARKER = ".imp-demo.json"
TABLE, PICTURE = "demo_table", "demo.png"
"""Names of the dashboard's table, and of its picture."""
IN_WAREHOUSE = frozenset({MARKER, "_imp", TABLE, NODES, LINKS})
IN_RESULT = frozenset({MARKER, PICTURE})


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """A folder with the names that the demo makes in it; ``option`` is the one that names another folder."""

    path: Path
    known: frozenset[str]
    option: str


def claim(folder: DemoFolder) -> None:
    """Make the folder and mark it, or find it marked.

    Raises:
        OperationalError: it holds other things, or cannot be made.
    """
    try:
        entries = sorted(entry.name for entry in folder.path.iterdir()) if folder.path.exists() else None
        if MARKER in (entries or ()):
            _read(folder.path)
            return
        if entries:
            raise OperationalError(
                f"The folder {folder.path} holds other things ({_some(entries)}), and imp demo writes only into a folder of its own. "
                f"Name a new or an empty one by {folder.option}."
            )
        folder.path.mkdir(parents=True, exist_ok=True)
        _write(folder.path, {"made_by": "imp demo", "made_folder": entries is None})
    except OSError as error:
        raise OperationalError(f"Cannot write to {folder.path} ({error.strerror}). Name another folder by {folder.option}.") from error


def made_rows(warehouse: Path) -> int | None:
    """Return how many rows the dashboard's table was made with; None where it was not made to the end."""
    rows = _read(warehouse).get("rows")
    return rows if isinstance(rows, int) else None


def remember_rows(warehouse: Path, rows: int | None) -> None:
    """Note with how many rows the table has been made; None while it is being made."""
    _write(warehouse, {**_read(warehouse), "rows": rows})


def size_of(path: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(file.lstat().st_size for file in path.rglob("*") if file.is_symlink() or file.is_file())


def clean(folders: Sequence[DemoFolder]) -> list[tuple[Path, int]]:
    """Remove what the demo has made in the folders that exist, and the folders that it has made; return them with their bytes.

    Raises:
        OperationalError: one of them is not the demo's own, holds other things, or is in use; then nothing was removed. Or a file
            cannot be removed.
    """
    found = [folder for folder in folders if folder.path.exists() or folder.path.is_symlink()]
    for folder in found:
        _check_own(folder)
    try:
        return [(folder.path, _remove(folder)) for folder in found]
    except OSError as error:
        raise OperationalError(f"{error.filename} cannot be removed ({error.strerror}).") from error


def _check_own(folder: DemoFolder) -> None:
    path = folder.path
    if path.is_symlink() or not (path / MARKER).is_file():
        what = "is a link" if path.is_symlink() else f"has no {MARKER}"
        raise OperationalError(f"{path} {what}: imp demo did not make it. Nothing was removed.")
    _read(path)
    others = sorted(entry.name for entry in path.iterdir() if entry.name not in folder.known)
    if others:
        raise OperationalError(f"{path} holds what imp demo did not make ({_some(others)}). Move it elsewhere; nothing was removed.")
    lock = path / "_imp" / "lock"
    if lock.is_file():
        with lock.open("a", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise OperationalError(f"Another process uses the warehouse {path}. End it first; nothing was removed.") from error


def _remove(folder: DemoFolder) -> int:
    size, made_folder = size_of(folder.path), _read(folder.path).get("made_folder") is True
    # The marker goes last, so that a removal that was interrupted can be repeated.
    for name in sorted(folder.known - {MARKER}):
        entry = folder.path / name
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)
    (folder.path / MARKER).unlink()
    if made_folder:
        folder.path.rmdir()
    return size


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _read(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or found.get("made_by") != "imp demo":
        raise OperationalError(f"{folder / MARKER} is not a file that imp demo has written; the folder is left alone.")
    return found


def _write(folder: Path, content: dict[str, Any]) -> None:
    (folder / MARKER).write_text(json.dumps(content) + "\n", encoding="utf-8")
