"""Patterns of ``date_format`` whose parts mean the same to Spark, under every parser policy, and to Arrow."""

from __future__ import annotations

import re

_LETTERS = {
    "yyyy": ("%Y", "year"),
    "MMMM": ("%B", "month"),
    "MMM": ("%b", "month"),
    "MM": ("%m", "month"),
    "dd": ("%d", "day"),
    "EEEE": ("%A", "day"),
    "EEE": ("%a", "day"),
    "E": ("%a", "day"),
    "HH": ("%H", "hour"),
    "mm": ("%M", "minute"),
    "ss": ("%S", "second"),
}
"""As Arrow writes it, and the unit whose beginning tells it."""
_UNITS = ("year", "month", "day", "hour", "minute", "second")
_PART = re.compile(r"([A-Za-z])\1*|[-/:., _]")


def _parts(pattern: str) -> list[str]:
    return [found[0] for found in _PART.finditer(pattern)]


def is_known(pattern: str) -> bool:
    """Say whether a pattern is one of these: letters as often as here, with marks between them."""
    parts = _parts(pattern)
    has_letters = any(part in _LETTERS for part in parts)
    return has_letters and "".join(parts) == pattern and all(part in _LETTERS or not part.isalpha() for part in parts)


def as_arrow_writes(pattern: str) -> str:
    return "".join(_LETTERS[part][0] if part in _LETTERS else part for part in _parts(pattern))


def finest_unit(pattern: str) -> str:
    """Return the unit of a time that tells all parts of its text, for a known pattern."""
    return max((_LETTERS[part][1] for part in _parts(pattern) if part in _LETTERS), key=_UNITS.index)
