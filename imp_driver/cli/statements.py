"""Lines of a script -> its statements: a semicolon ends one, unless it stands in quotes or a comment."""

from __future__ import annotations

import re

from imp_driver.parse.sparql import end_of_sparql

_WHOLE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*(?:\n|$)|/\*.*?\*/|;|[^'"`;/-]+|/(?!\*)|-(?!-)""", re.DOTALL)


def split(text: str) -> tuple[list[str], str]:
    """Return the statements that end in a text, without their semicolons, and what comes after them."""
    found: list[str] = []
    begin = 0
    while (end := _end(text, begin)) is not None:
        found.append(text[begin:end].strip())
        begin = end + 1
    # What no pattern covers are quotes or a comment that go on in the next line.
    rest = text[begin:]
    return [each for each in found if each], rest if rest.strip() else ""


def _end(text: str, begin: int) -> int | None:
    """Return the place of the semicolon that ends a statement; None where it does not end."""
    place = end_of_sparql(text, begin)
    if place != -1:
        return place
    place = begin
    while (part := _WHOLE.match(text, place)) is not None:
        if part[0] == ";":
            return part.start()
        place = part.end()
    return None
