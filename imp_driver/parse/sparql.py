"""``SPARQL ..`` as a statement: its text, and where it ends.

The text is none of SQL: ``?x`` is a variable, ``#`` begins a comment, and a semicolon within braces stands between triples.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SparqlText:
    """``text`` follows the word; ``is_explained`` where EXPLAIN stands before it."""

    text: str
    is_explained: bool


_BEFORE = r"(?>\s+|--[^\n]*(?:\n|$)|\#[^\n]*(?:\n|$)|/\*.*?\*/)*+"
_BEGINNING = re.compile(rf"{_BEFORE}(?:(EXPLAIN)\b{_BEFORE})?SPARQL(?![\w.`])", re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(
    r'''"""(?>[^"\\]|\\.|"{1,2}(?!"))*"""'''
    r"""|'''(?>[^'\\]|\\.|'{1,2}(?!'))*'''"""
    r"""|(?!\"\"\")"(?>[^"\\\n]|\\.)*"|(?!''')'(?>[^'\\\n]|\\.)*'"""
    r"""|<[^<>"{}|^`\\\x00-\x20]*>"""
    r"""|[\w.%-]*+:(?>[\w.:%-]|\\.)*+"""
    r"""|\#[^\n]*+(?:\n|$)"""
    r"""|(?P<mark>[;{}])"""
    r"""|[^"'\#;{}]""",
    re.DOTALL,
)
_DEPTH = {"{": 1, "}": -1}
_CLAUSES = r"(?:FROM\s+(?:NAMED\s+)?\S+\s+)*(?:WHERE\s*)?\{"
_BARE = re.compile(
    rf"""{_BEFORE}(?:
    PREFIX\s+[\w.-]*:\s*< | BASE\s*<
    | SELECT\s+(?:(?:DISTINCT|REDUCED)\s+)?(?:[?$]\w | \*\s*{_CLAUSES} | \(.{{1,300}}?\bAS\s+[?$]\w+\s*\))
    | ASK\s*{_CLAUSES} | CONSTRUCT\s*(?:\{{|FROM|WHERE) | DESCRIBE\s+(?:[?$]\w|<)
    | (?:INSERT|DELETE)\s*(?:DATA\s*|WHERE\s*)?\{{
    )""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""Text of SPARQL as its own tools have it; none of it is SQL."""
_INSIDE = re.compile(r"\bSPARQL\s+(?:SELECT|ASK|CONSTRUCT|DESCRIBE|PREFIX\s+[\w.-]*:|BASE\s*<)", re.IGNORECASE)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL)


def read_sparql(text: str) -> SparqlText | None:
    """Return the text of a statement that begins with SPARQL, comments before it left out; None for any other statement."""
    match = _BEGINNING.match(text)
    return None if match is None else SparqlText(text[match.end() :].strip().removesuffix(";").rstrip(), match[1] is not None)


def end_of_sparql(text: str, begin: int) -> int | None:
    """Return the place of the first semicolon outside braces of a statement that begins at ``begin``.

    None where it does not end, and -1 where it is no statement of SPARQL.
    """
    match = _BEGINNING.match(text, begin)
    if match is None:
        return -1
    place, depth = match.end(), 0
    while (token := _TOKEN.match(text, place)) is not None:
        if token["mark"] == ";" and depth <= 0:
            return token.start()
        depth += _DEPTH.get(token[0], 0)
        place = token.end()
    return None


def is_bare_sparql(text: str) -> bool:
    """Say whether text is SPARQL without the word before it by which it is told from SQL."""
    return _BARE.match(text) is not None


def has_sparql_inside(text: str) -> bool:
    """Say whether SPARQL seems to stand within a statement of SQL."""
    return read_sparql(text) is None and _INSIDE.search(_QUOTED.sub(" ", text)) is not None
