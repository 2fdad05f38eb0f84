"""Locations of tables, as Spark spells them, on this system."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote


def plain_path(location: str) -> str:
    """Return a local ``file:`` location as a path, any other as it is."""
    if location.startswith("file:"):
        path = location.removeprefix("file:")
        return str(Path("/" + unquote(path).lstrip("/")))
    return location


def process_umask() -> int:
    """Return the umask of this process."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(int(line.split()[1], 8) for line in lines if line.startswith("Umask:"))
    except (OSError, StopIteration):
        # Elsewhere it can only be read by setting it; for that moment the strictest one holds.
        umask = os.umask(0o077)
        os.umask(umask)
        return umask


def is_open_folder(location: str | None) -> bool:
    """Say whether the system lets this process read a plain path with its log; True for other stores and where there is no location."""
    if location is None or not location.startswith("/"):
        return True
    folders = (Path(location), Path(location, "_delta_log"))
    return all(os.access(folder, os.R_OK | os.X_OK) for folder in folders if folder == folders[0] or folder.exists())
