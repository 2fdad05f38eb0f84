"""The line of a text that an error is about, with a mark below the place."""

from __future__ import annotations

from typing import Final

_AROUND: Final = 60
"""Characters of a long line that are shown on each side of the place."""


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return where an offset is, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def excerpt(text: str, offset: int) -> str:
    """Return the line of an offset, shortened where it is long, and below it a caret under the offset."""
    begin, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    line, column = text[begin : len(text) if end < 0 else end].rstrip(), offset - begin
    cut = max(0, column - _AROUND)
    before, after = ".." if cut else "", ".." if len(line) > column + _AROUND else ""
    shown = "".join(each if each.isprintable() else " " for each in line[cut : column + _AROUND])
    return f"  {before}{shown}{after}\n  {' ' * (len(before) + column - cut)}^"
