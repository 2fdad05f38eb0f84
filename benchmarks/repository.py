"""What git knows of this checkout, where there is git: a release archive or a copy has none."""

from __future__ import annotations

import subprocess
from pathlib import Path


def ask(root: Path, *arguments: str) -> str | None:
    """Return what a git command prints; None where git, or a repository with its top at ``root``, is missing, or the command fails."""
    top = _run(root, ("rev-parse", "--show-toplevel"))
    # A copy that lies inside another repository is not described by that one's history.
    if top is None or Path(top.strip()).resolve() != root.resolve():
        return None
    return _run(root, arguments)


def _run(root: Path, arguments: tuple[str, ...]) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
