"""``WHAT IF (change; ..) query`` -> the texts of the changes and of the query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType

from imp_driver.errors import ProgrammingError
from imp_driver.parse.tokens import closing, tokens_of

_BEGINNING = re.compile(r"\s*WHAT\s+IF\b", re.IGNORECASE)
_SIMPLE = re.compile(r"'[^'\\]*'|`[^`]*`")
_MARKS = re.compile(r"[();]")
_IS_PLAIN = re.compile(r"(?:[\w\s,.=<>+*%|!();]|-(?!-))*")
_FORM = "WHAT IF (INSERT .. | UPDATE .. | DELETE .. | MERGE ..; ..) SELECT .."


@dataclass(frozen=True, slots=True)
class WhatIf:
    """``changes`` are in the order in which they are made; ``beginning`` is the text up to the query."""

    changes: tuple[str, ...]
    query: str
    beginning: str


def read_what_if(text: str, last: WhatIf | None = None) -> WhatIf:
    """Read a statement that begins with WHAT IF. Raises ProgrammingError where it is of another form.

    Args:
        last: what was read before. A text that begins like that one, up to the bracket's end, has the same changes.
    """
    if last is not None and text.startswith(last.beginning):
        return WhatIf(last.changes, _query(text[len(last.beginning) :]), last.beginning)
    found = _BEGINNING.match(text)
    assert found is not None
    rest = text[found.end() :]
    spans = _plain_spans(rest)
    if spans:
        end = spans[-1][1] + 1
        changes = tuple(change for each in spans if (change := rest[slice(*each)].strip()))
        return WhatIf(changes, _query(rest[end:]), text[: found.end() + end])
    tokens = tokens_of(rest, _FORM)
    if not tokens or tokens[0].token_type is not TokenType.L_PAREN:
        raise ProgrammingError(f"The changes are to be in brackets: {_FORM}.")
    last_token = closing(tokens, 0)
    if last_token is None:
        raise ProgrammingError(f"The bracket of the changes does not end: {_FORM}.")
    own = tokens[1:last_token]
    if any(token.token_type in (TokenType.PLACEHOLDER, TokenType.PARAMETER) for token in own):
        raise ProgrammingError("The changes of a WHAT IF have no markers for values; write the values into them.")
    changes, end = _changes(rest, own), tokens[last_token].end + 1
    if not changes:
        raise ProgrammingError(f"There is no change. The form is {_FORM}.")
    return WhatIf(changes, _query(rest[end:]), text[: found.end() + end])


def _plain_spans(text: str) -> list[tuple[int, int]]:
    """Return where the changes stand in a text of words, numbers, names, simple texts and brackets; empty for any other text.

    To read ten thousand tokens one by one takes longer than to answer the query.
    """
    own = _SIMPLE.sub(lambda found: "x" * len(found[0]), text)
    spans: list[tuple[int, int]] = []
    depth = start = 0
    for each in _MARKS.finditer(own):
        mark, place = each[0], each.start()
        depth += (mark == "(") - (mark == ")")
        if start == 0:
            if mark != "(" or own[:place].strip():
                return []
            start = place + 1
        elif (mark == ")" and depth == 0) or (mark == ";" and depth == 1):
            spans.append((start, place))
            start = place + 1
            if depth == 0:
                return spans if _IS_PLAIN.fullmatch(own, 0, place + 1) and any(text[slice(*span)].strip() for span in spans) else []
    return []


def _query(text: str) -> str:
    query = text.strip().rstrip(";").rstrip()
    if not query:
        raise ProgrammingError(f"There is no query. The form is {_FORM}.")
    return query


def _changes(text: str, tokens: Sequence[Token]) -> tuple[str, ...]:
    found: list[str] = []
    own: list[Token] = []
    for token in [*tokens, None]:
        if token is not None and token.token_type is not TokenType.SEMICOLON:
            own.append(token)
        elif own:
            found.append(text[own[0].start : own[-1].end + 1])
            own = []
    return tuple(found)
