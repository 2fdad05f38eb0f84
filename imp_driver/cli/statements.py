"""Text of a script -> its statements: a semicolon ends one, unless it stands in quotes, in a comment, within braces of SPARQL
or between the changes of a WHAT IF."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imp_driver.parse.sparql import end_of_sparql

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*+(?:\n|$))"""
    r"""|(?P<space>\s++)"""
    r"""|(?P<end>;)"""
    # No character of these is escaped by a backslash.
    r"""|\b[rR](?:'[^']*+'|"[^"]*+")"""
    r"""|'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|`[^`]*+`"""
    # The query of a view: a column may be called sparql, but then no query follows.
    r"""|\bAS\s+(?P<sparql>SPARQL\s+(?:SELECT|ASK|CONSTRUCT|DESCRIBE|PREFIX|BASE)\b)"""
    # Its changes are statements with semicolons between them.
    r"""|(?P<supposed>\bWHAT\s+IF\s*\()|(?P<bracket>[()])"""
    r"""|\w++|[^'"`;/()\s\w-]++|/(?!\*)|-(?!-)""",
    re.DOTALL | re.IGNORECASE,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement without its semicolon and the comments around it; ``begin`` is the place of its first character in the text."""

    text: str
    begin: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """What stands before a semicolon.

    Attributes:
        first: where its statement begins; None where there are only comments and blanks.
        last: where its statement ends.
        end: the place of the semicolon; None where there is none.
        is_open: a quote or comment begins that does not end.
    """

    first: int | None
    last: int
    end: int | None
    is_open: bool = False


def split(text: str) -> tuple[list[Statement], int]:
    """Return the statements that end in a text, and where what comes after them begins: at the text's end, where that is comments alone."""
    found: list[Statement] = []
    begin = 0
    while (piece := _piece(text, begin)).end is not None:
        if piece.first is not None:
            found.append(Statement(text[piece.first : piece.last], piece.first))
        begin = piece.end + 1
    return found, len(text) if piece.first is None else begin


def last_statement(text: str) -> Statement | None:
    """Return what a text holds, although no semicolon follows it; None for comments alone."""
    piece = _piece(text, 0)
    if piece.first is None:
        return None
    return Statement(text[piece.first : None if piece.is_open else piece.last].strip(), piece.first)


def is_within_quotes(text: str) -> bool:
    """Say whether a text ends within a comment or quotes."""
    if re.search(r"--[^\n]*\Z", text) is not None:
        return True
    return _piece(text, split(text)[1]).is_open


def _piece(text: str, begin: int) -> _Piece:
    end = end_of_sparql(text, begin)
    if end != -1:
        return _of_sparql(text, begin + len(text[begin:]) - len(text[begin:].lstrip()), end)
    first: int | None = None
    depth, place, last = 0, begin, begin
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            after = _end_of_comment(text, place)
            if after is None:
                return _Piece(begin if first is None else first, place, None, is_open=True)
            place = after
            continue
        if match["end"] and depth == 0:
            return _Piece(first, last, place)
        if match["sparql"]:
            return _of_sparql(text, place if first is None else first, end_of_sparql(text, match.start("sparql")))
        depth = _depth(depth, match)
        place = match.end()
        if match.lastgroup not in ("comment", "space"):
            first, last = match.start() if first is None else first, place
    return _Piece(first, last, None)


def _of_sparql(text: str, first: int, end: int | None) -> _Piece:
    return _Piece(first, first + len(text[first:end].rstrip()), end)


def _depth(depth: int, token: re.Match[str]) -> int:
    """Return how many brackets of a WHAT IF are open after a token."""
    if token["supposed"] or (depth and token[0] == "("):
        return depth + 1
    return depth - 1 if depth and token[0] == ")" else depth


def _end_of_comment(text: str, begin: int) -> int | None:
    """Return where a comment ends that may hold others, as in Spark; None where it does not, or what begins are quotes."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, begin) if text.startswith("/*", begin) else ():
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return None
