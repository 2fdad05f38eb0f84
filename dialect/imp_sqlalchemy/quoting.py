"""Text as a literal of SQL."""

from __future__ import annotations


def quoted(text: str) -> str:
    """Return text as a string literal that Spark reads as it is."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
