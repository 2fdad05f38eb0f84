"""Lines of a script -> its statements: a semicolon ends one, unless it stands in quotes or a comment."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*(?:\n|$)|/\*.*?\*/|;|[^'"`;/-]+|/(?!\*)|-(?!-)""", re.DOTALL)


def split(text: str) -> tuple[list[str], str]:
    """Return the statements that end in a text, without their semicolons, and what comes after them."""
    found: list[str] = []
    begin = place = 0
    while (part := _WHOLE.match(text, place)) is not None:
        place = part.end()
        if part[0] == ";":
            found.append(text[begin : part.start()].strip())
            begin = place
    # What no pattern covers are quotes or a comment that go on in the next line.
    rest = text[begin:]
    return [each for each in found if each], rest if rest.strip() else ""
