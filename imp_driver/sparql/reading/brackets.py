"""Names of graphs and files that text has as SQL and shells have them, where SPARQL takes IRIs in angle brackets."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from imp_driver.sparql.reading.tokens import tokens

_BEFORE_GRAPHS: Final = frozenset(["GRAPH", "FROM", "NAMED", "WITH", "USING", "COPY", "MOVE", "ADD", "TO"])
_NO_NAMES: Final = _BEFORE_GRAPHS | frozenset(["WHERE", "DEFAULT", "ALL", "SILENT", "INTO", "DELETE", "INSERT"])
_NAME: Final = re.compile(r"""(['"`]?)(\w+(?:\.\w+)*)\1(?=[\s{;]|$)""")
_FILE: Final = re.compile(r"""(['"])(.+?)\1(?=[\s;]|$)|([^\s;<>"']+)""")


def without_brackets(text: str, offset: int) -> tuple[int, str] | None:
    """Return where a name of a graph or a file begins that has no brackets, and what to write; None where none stands there.

    Args:
        offset: where the parser stopped: at the name, or behind what it took for a prefix or a prefixed name.
    """
    before = text[:offset].rstrip()
    last = before.split()[-1:]
    for begin in (offset, *(len(before) - len(run) for run in last)):
        found = _meant(text, begin, _introduction(text[:begin]))
        if found is not None:
            return begin, found
    return None


def _introduction(before: str) -> str:
    """Return the word that says what follows, in upper case; empty where there is none."""
    words = [token.text.upper() if token.kind == "word" else "" for token in tokens(before) if token.kind not in ("space", "comment")]
    if words and words[-1] == "SILENT":
        words.pop()
    return words[-1] if words else ""


def _meant(text: str, begin: int, introduction: str) -> str | None:
    if introduction in _BEFORE_GRAPHS:
        name = _NAME.match(text, begin)
        if name is None or name[2].upper() in _NO_NAMES:
            return None
        return f"the name of a graph stands in angle brackets: write <{name[2]}>"
    file = _FILE.match(text, begin) if introduction == "LOAD" else None
    if file is None:
        return None
    path = file[2] or file[3]
    scheme = "file://" if path.startswith("/") else ""
    return f"the place of a file stands in angle brackets: write LOAD <{scheme}{quote(path, safe='/:%~')}>"
