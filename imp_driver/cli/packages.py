"""Packages that a command needs beside the driver's own, and what to type where one is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable


def what_to_install(user: str, packages: Iterable[str], extra: str) -> str | None:
    """Return what ``user`` lacks of these packages and how to install it; None where all are there."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return f"{user} needs {' and '.join(missing)}: pip install 'imp_driver[{extra}]'" if missing else None
