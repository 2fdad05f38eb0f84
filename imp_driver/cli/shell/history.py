"""Where the statements that somebody has typed are kept: a file that only its user can read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import FileHistory


class PrivateHistory(FileHistory):
    """A file that cannot be read or written is no reason to stop: the statements are remembered until the shell is left."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_APPEND, 0o600))
            path.chmod(0o600)

    def load_history_strings(self) -> Iterable[str]:
        """Return what was kept, newest first."""
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        """Keep a text, unless it begins with a blank, as in other shells: it may hold a secret."""
        if not string.startswith(" "):
            with contextlib.suppress(OSError):
                super().store_string(string)


def history_path() -> Path:
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return state / "imp_driver" / "sql_history"
